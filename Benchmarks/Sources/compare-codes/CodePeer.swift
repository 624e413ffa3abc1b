import BenchmarkSupport
import CCodePeers
import CatalogRows

/// A store that is measured next to ours, as C programs use it.
@safe
final class CodePeer {
  let directory: String
  /// A constant of the C target.
  private let api: UnsafePointer<code_peer>
  private var store: UnsafeMutableRawPointer?

  private init(_ api: UnsafePointer<code_peer>, _ directory: String) {
    unsafe self.api = api
    self.directory = directory
  }

  deinit { close() }

  private func close() {
    if let store = unsafe store { unsafe api.pointee.close(store) }
    unsafe store = nil
  }

  /// The stores that this build has.
  static func all(in folder: WorkFolder) throws -> [CodePeer] {
    var peers: [CodePeer] = []
    // The list is a constant that ends with null.
    guard var next = unsafe code_peer_list() else { return [] }
    while let api = unsafe next.pointee {
      let name = unsafe String(cString: api.pointee.name)
      peers.append(unsafe CodePeer(api, try folder.scratch(name)))
      unsafe next += 1
    }
    return peers
  }

  // The texts are constants.
  var name: String { unsafe String(cString: api.pointee.name) }
  var configuration: String { unsafe String(cString: api.pointee.configuration) }

  private func check(_ code: Int32) throws {
    // The text stays until the next failure on this thread.
    if code < 0 { throw unsafe WrongAnswer("\(name): \(String(cString: code_message()))") }
  }

  private func open(isFilling: Bool) throws {
    unsafe store = unsafe api.pointee.open(directory, isFilling ? 1 : 0)
    if unsafe store == nil { try check(-1) }
  }

  /// Fills the store.
  func fill(_ rows: CodeRows) throws {
    try open(isFilling: true)
    try put(0..<rows.productCount, revision: 0, rows, hasCodes: true)
    try check(unsafe api.pointee.finish(store))
    close()
    try open(isFilling: false)
  }

  /// Puts products and their codes in one commit.
  func put(_ indexes: some Sequence<Int>, revision: Int, _ rows: CodeRows, hasCodes: Bool) throws {
    try check(unsafe api.pointee.begin(store))
    var row = ProductRow()
    var body: [UInt8] = []
    for index in indexes {
      rows.product(index, revision: revision, into: &row)
      body.removeAll(keepingCapacity: true)
      PeerRecord.append(row, to: &body)
      let id = row[.id]
      try put(id, row[.barcode], body)
      if !hasCodes { continue }
      for number in 0..<CodeRows.codesPerProduct {
        let (code, unit) = (CodeRows.code(number, of: index), CodeRows.unit(number))
        try put(code, of: id, CodeRows.quantity(number), unit)
      }
    }
    try check(unsafe api.pointee.commit(store))
  }

  private func put(_ code: String, of id: String, _ quantity: Int, _ unit: String) throws {
    let (codeBytes, idBytes, unitBytes) = (Array(code.utf8), Array(id.utf8), Array(unit.utf8))
    // The arrays are alive during the calls, as below.
    let result = unsafe codeBytes.withUnsafeBytes { code in
      unsafe idBytes.withUnsafeBytes { id in
        unsafe unitBytes.withUnsafeBytes { unit in
          unsafe api.pointee.put_code(
            store, code_text(bytes: code.baseAddress, count: code.count),
            code_text(bytes: id.baseAddress, count: id.count), UInt32(quantity),
            code_text(bytes: unit.baseAddress, count: unit.count))
        }
      }
    }
    try check(result)
  }

  private func put(_ id: String, _ barcode: String, _ body: [UInt8]) throws {
    let (idBytes, barcodeBytes) = (Array(id.utf8), Array(barcode.utf8))
    let result = unsafe idBytes.withUnsafeBytes { id in
      unsafe barcodeBytes.withUnsafeBytes { barcode in
        unsafe body.withUnsafeBytes { body in
          unsafe api.pointee.put_product(
            store, code_text(bytes: id.baseAddress, count: id.count),
            code_text(bytes: barcode.baseAddress, count: barcode.count),
            code_text(bytes: body.baseAddress, count: body.count))
        }
      }
    }
    try check(result)
  }

  /// Finds each text; returns the number of products that are there.
  func find(_ texts: [[UInt8]], areBarcodes: Bool) throws -> Int {
    var sum: UInt64 = 0
    var count = 0
    for text in texts {
      // The array is alive during the call.
      let found = unsafe text.withUnsafeBytes { bytes in
        let text = unsafe code_text(bytes: bytes.baseAddress, count: bytes.count)
        return areBarcodes
          ? unsafe api.pointee.find_barcode(store, text, &sum) : unsafe api.pointee.find_code(store, text, &sum)
      }
      try check(found)
      count += Int(found)
    }
    return count
  }
}
