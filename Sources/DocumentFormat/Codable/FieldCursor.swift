import Bytes

/// Finds the fields of one map, beginning at the one that was found last.
final class FieldCursor {
  private let source: DecodingSource
  private let start: Int
  private let count: Int
  /// The field that was found last.
  private var index = 0
  private var offset: Int
  /// How many names were asked for in vain. A big map that is asked for many gets a dictionary.
  private var misses = 0
  private var places: [[UInt8]: Int]?

  private static let missLimit = 4
  private static let smallCount = 16

  init(_ source: DecodingSource, _ list: ItemList) throws(DocumentError) {
    self.source = source
    start = list.start
    offset = list.start
    count = try source.count(list, isMap: true)
  }

  /// The offset of the value of `name`, or nil.
  ///
  /// - Complexity: O(heads between the last field and this one); O(all) for a name that is missing.
  func find(_ name: String) throws(DocumentError) -> Int? {
    if let places { return places[Array(name.utf8)] }
    let storage = source.bytes
    let bytes = storage.rawSpan
    for _ in 0..<count {
      let head = try bytes.head(at: offset)
      guard head.major == Major.text else { throw .nameIsNoText(offset: offset) }
      let value = try head.end &+ bytes.count(head, at: offset)
      if bytes.slice(head.end, value &- head.end).isText(name) { return value }
      index += 1
      offset = index == count ? start : try bytes.skip(value)
      if index == count { index = 0 }
    }
    misses += 1
    if misses >= Self.missLimit, count > Self.smallCount { try collectPlaces() }
    return nil
  }

  /// The names in order.
  func names() throws(DocumentError) -> [String] {
    var names: [String] = []
    try forEachField { name, _ in names.append(String(decoding: source.bytes[name], as: UTF8.self)) }
    return names
  }

  private func collectPlaces() throws(DocumentError) {
    var places: [[UInt8]: Int] = [:]
    try forEachField { name, value in
      let name = Array(source.bytes[name])
      if places[name] == nil { places[name] = value }
    }
    self.places = places
  }

  private func forEachField(_ body: (Range<Int>, Int) -> Void) throws(DocumentError) {
    let storage = source.bytes
    let bytes = storage.rawSpan
    var offset = start
    for _ in 0..<count {
      let name = try bytes.name(at: offset)
      body(name, name.upperBound)
      offset = try bytes.skip(name.upperBound)
    }
  }
}
