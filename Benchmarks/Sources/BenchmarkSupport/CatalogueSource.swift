import CatalogRows
import CatalogueGenerator

/// Rows by number, as often and in whichever order they are wanted: whoever measures knows every right answer.
package protocol CatalogueSource: Sendable {
  var productCount: Int { get }
  var seed: UInt64 { get }
  /// Tells this catalogue from another one; a store keeps it.
  var cursor: String { get }
  var setCount: Int { get }

  /// The number of the product that is set `number`.
  func set(_ number: Int) -> Int
  /// How many components product `index` has; 0 if it is no set.
  func componentCount(ofSet index: Int) -> Int
  func relation(ofSet index: Int, _ place: Int, into row: inout RelationRow)

  /// Makes product `index` as it is after `revision` changes; beyond ``productCount`` one that is new.
  func product(_ index: Int, revision: Int, into row: inout ProductRow)
  func putId(_ index: Int, _ text: inout [UInt8])
  /// Whether product `index` has a barcode that no other one has, and that fits a key.
  func hasOwnBarcode(_ index: Int) -> Bool
  /// Whether another product has the same barcode.
  func sharesBarcode(_ index: Int) -> Bool
  func putBarcode(_ index: Int, _ text: inout [UInt8])
  /// Appends a barcode that no product has.
  func putUnknownBarcode(_ number: Int, _ text: inout [UInt8])
}

extension CatalogueSource {
  /// Hands every relation, then every product to `sink`, one row in memory at a time.
  package func writeRows<Sink: RowSink>(to sink: inout Sink) throws {
    var relation = RelationRow()
    for number in 0..<setCount {
      let index = set(number)
      for place in 0..<componentCount(ofSet: index) {
        self.relation(ofSet: index, place, into: &relation)
        try sink.relation(relation)
      }
    }
    var product = ProductRow()
    for index in 0..<productCount {
      self.product(index, revision: 0, into: &product)
      try sink.product(product)
    }
  }
}

extension CatalogueGenerator: CatalogueSource {
  package func hasOwnBarcode(_ index: Int) -> Bool { codeKind(index) != .none && !sharesBarcode(index) }
}
