import Barcodes
import Bytes
package import LogStore

/// The products whose barcodes have the same thing the matter with them.
package struct BarcodeStateCount: Sendable, Equatable {
  /// The name of the state, as an import reports it.
  package var state: String
  /// The number of products.
  package var count: Int
  /// The id and the barcode of the first product in the order of the file.
  package var first: (id: String, barcode: String)?

  package static func == (left: BarcodeStateCount, right: BarcodeStateCount) -> Bool {
    left.state == right.state && left.count == right.count && left.first?.id == right.first?.id
  }
}

extension CatalogSnapshot {
  /// Counts the products by what is the matter with their barcodes, those that were sent as deleted left out.
  ///
  /// - Returns: A count for each state.
  /// - Complexity: Reads the complete file once.
  package func barcodeStates() throws(StoreError) -> [BarcodeStateCount] {
    var counts: [WrittenCode.State: (count: Int, first: (id: String, barcode: String))] = [:]
    try forEachProduct { (view) throws(StoreError) in
      if view.delFlag != 0 { return }
      let barcode = view.barcode
      let state = WrittenCode.state(of: barcode.utf8.span)
      if counts[state] != nil { counts[state]?.count += 1 } else { counts[state] = (1, (view.id, barcode)) }
    }
    return WrittenCode.State.allCases.map { state in
      BarcodeStateCount(state: state.rawValue, count: counts[state]?.count ?? 0, first: counts[state]?.first)
    }
  }
}
