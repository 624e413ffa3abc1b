import Bytes

/// Finds the fields of one map by name. The search begins after the last field found.
final class FieldCursor {
  /// The decoder of the map.
  let scope: DecodingScope
  private let start: Int
  private let count: Int
  /// The index of the next field to examine.
  private var index = 0
  private var offset: Int
  /// The number of names that were not found. A large map with several misses gets a dictionary.
  private var misses = 0
  private var offsets: [[UInt8]: Int]?

  private static let missLimit = 4
  private static let smallCount = 16

  init(_ scope: DecodingScope, _ list: ItemList) throws(DocumentError) {
    self.scope = scope
    start = list.start
    offset = list.start
    count = try scope.source.count(list, isMap: true)
  }

  /// The offset of the value of `name`; `nil` if there is no such field.
  ///
  /// - Complexity: O(heads between the last field and this one); O(all heads) for a missing name.
  func find(_ name: String) throws(DocumentError) -> Int? {
    if let offsets { return offsets[Array(name.utf8)] }
    let source = scope.source
    let bytes = source.bytes
    for _ in 0..<count {
      let head = try bytes.head(at: offset)
      guard head.major == Major.text else { throw .nameIsNoText(offset: offset) }
      let value = try head.end &+ bytes.count(head, at: offset)
      if bytes.slice(head.end, value &- head.end).isText(name) { return value }
      index += 1
      offset = index == count ? start : try bytes.skipMostly(value)
      if index == count { index = 0 }
    }
    misses += 1
    if misses >= Self.missLimit, count > Self.smallCount { try collectOffsets() }
    return nil
  }

  /// The names of all fields, in order.
  func names() throws(DocumentError) -> [String] {
    var names: [String] = []
    try forEachField { bytes, name in names.append(bytes.repairedString(name)) }
    return names
  }

  private func collectOffsets() throws(DocumentError) {
    var offsets: [[UInt8]: Int] = [:]
    try forEachField { bytes, name in
      let key = bytes.extracting(name).copied()
      if offsets[key] == nil { offsets[key] = name.upperBound }
    }
    self.offsets = offsets
  }

  /// Calls `body` with the bytes of the document and the range of each name, after which the value begins.
  private func forEachField(_ body: (RawSpan, Range<Int>) -> Void) throws(DocumentError) {
    let source = scope.source
    let bytes = source.bytes
    var offset = start
    for _ in 0..<count {
      let name = try bytes.name(at: offset)
      body(bytes, name)
      offset = try bytes.skip(name.upperBound)
    }
  }
}
