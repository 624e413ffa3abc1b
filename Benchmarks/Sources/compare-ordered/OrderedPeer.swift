import BenchmarkSupport
import COrderedPeers

/// A store that is measured next to ours, as C programs use it.
@safe
final class OrderedPeer: OrderedStore {
  let directory: String
  /// A constant of the C target.
  private let api: UnsafePointer<ordered_peer>
  private var store: UnsafeMutableRawPointer?

  private init(_ api: UnsafePointer<ordered_peer>, _ directory: String) {
    unsafe self.api = api
    self.directory = directory
  }

  deinit { close() }

  private func close() {
    if let store = unsafe store { unsafe api.pointee.close(store) }
    unsafe store = nil
  }

  /// The stores that this build has.
  static func all(in folder: WorkFolder) throws -> [OrderedPeer] {
    var peers: [OrderedPeer] = []
    // The list is a constant that ends with null.
    guard var next = unsafe ordered_peer_list() else { return [] }
    while let api = unsafe next.pointee {
      let name = unsafe String(cString: api.pointee.name)
      peers.append(unsafe OrderedPeer(api, try folder.scratch(name)))
      unsafe next += 1
    }
    return peers
  }

  // The texts are constants.
  var name: String { unsafe String(cString: api.pointee.name) }
  var configuration: String { unsafe String(cString: api.pointee.configuration) }
  var isOrdered: Bool { true }

  private func failure() -> WrongAnswer {
    // The text stays until the next failure on this thread.
    let message = unsafe String(cString: ordered_message())
    return WrongAnswer("\(name): \(message)")
  }

  private func check(_ code: Int32) throws {
    if code < 0 { throw failure() }
  }

  private func open(isFilling: Bool) throws -> UnsafeMutableRawPointer {
    guard let opened = unsafe api.pointee.open(directory, isFilling ? 1 : 0) else {
      throw failure()
    }
    unsafe store = opened
    return unsafe opened
  }

  func fill(_ count: Int, _ rows: OrderedRows) throws {
    let filling = unsafe try open(isFilling: true)
    try check(unsafe api.pointee.begin(filling))
    var body: [UInt8] = []
    for number in 0..<count {
      rows.put(number, revision: 0, into: &body)
      // The arrays are alive during each call, as below.
      try check(unsafe api.pointee.put(filling, UInt64(number), body, body.count, nil))
    }
    try check(unsafe api.pointee.commit(filling))
    try check(unsafe api.pointee.finish(filling))
    close()
    _ = unsafe try open(isFilling: false)
  }

  func walk(from key: [UInt8], limit: Int, _ sum: inout RowSum) throws {
    var bytes: UInt64 = 0
    var count: UInt64 = 0
    try check(unsafe api.pointee.walk(store, key, limit, &bytes, &count))
    sum.bytes &+= bytes
    sum.count += Int(count)
  }

  func change(_ numbers: [Int], _ rows: OrderedRows) throws {
    try check(unsafe api.pointee.begin(store))
    var body: [UInt8] = []
    var old: [UInt8] = []
    for number in numbers {
      rows.put(number, revision: 1, into: &body)
      rows.put(number, revision: 0, into: &old)
      try check(unsafe api.pointee.put(store, UInt64(number), body, body.count, old))
    }
    try check(unsafe api.pointee.commit(store))
  }
}
