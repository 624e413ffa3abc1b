import Bytes

/// The type of a value.
public enum DocumentKind: Sendable, Equatable {
  case null, bool, number, date, text, bytes, array, object
}

/// A borrowed view of a document, or of a value inside one. It decodes lazily, directly from the bytes.
///
/// A view checks the bytes that it reads, so bytes from any source are safe to walk; ``validate()`` checks all of them.
public struct DocumentView: ~Escapable {
  let bytes: RawSpan
  let offset: Int

  /// Creates a view of the document at the beginning of `bytes`, which the view borrows.
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) {
    self.bytes = bytes
    offset = 0
  }

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, at offset: Int) {
    self.bytes = bytes
    self.offset = offset
  }

  /// The type of the value. Complexity: O(1).
  public func kind() throws(DocumentError) -> DocumentKind {
    switch try bytes.item(at: offset) {
    case .null: .null
    case .bool: .bool
    case .integer, .unsigned, .double: .number
    case .date: .date
    case .text: .text
    case .bytes: .bytes
    case .array: .array
    case .object: .object
    }
  }

  /// Decodes the value as a tree. Complexity: O(bytes), with an allocation for each text and list.
  public func value() throws(DocumentError) -> DocumentValue {
    var offset = offset
    return try DocumentValue(bytes, &offset, depth: 0)
  }

  /// The encoded size of the value in bytes. Complexity: O(heads inside).
  public func byteCount() throws(DocumentError) -> Int { try bytes.skip(offset) - offset }

  /// Calls `body` with the bytes of a text or byte string; returns `nil` for any other value. Complexity: O(1).
  package func withBytes<Result>(_ body: (RawSpan) -> Result) throws(DocumentError) -> Result? {
    switch try bytes.item(at: offset) {
    case .text(let range), .bytes(let range): body(bytes.extracting(range))
    default: nil
    }
  }

  /// Calls `body` with each value of `path` until it returns `false`. It is called with `nil` for a missing field; see
  /// ``FieldPath``.
  ///
  /// - Parameters:
  ///   - path: The path, relative to this value.
  ///   - flattensLast: Whether an array at the end of the path is visited element by element, as conditions and indexes
  ///     do, instead of as one value.
  ///   - body: A closure that borrows the value and returns whether to continue.
  /// - Complexity: O(heads before the value on each level), without an allocation.
  public func forEachValue(
    at path: FieldPath, flattensLast: Bool = true, _ body: (borrowing DocumentView?) throws(DocumentError) -> Bool
  ) throws(DocumentError) {
    try withoutActuallyEscaping(body) { body throws(DocumentError) in
      var visitor = ClosureVisitor(body: body)
      _ = try bytes.walk(offset, path, flattensLast: flattensLast, &visitor)
    }
  }

  /// Validates everything: structure, tags, UTF-8, nesting, and that no bytes follow.
  ///
  /// - Complexity: O(bytes), without an allocation unless a text is not ASCII.
  public func validate() throws(DocumentError) {
    let end = try bytes.validate(offset, depth: 0)
    guard end == bytes.byteCount else { throw .trailingBytes(offset: end) }
  }
}

private struct ClosureVisitor: PathVisitor {
  let body: (borrowing DocumentView?) throws(DocumentError) -> Bool

  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    if let offset { return try !body(DocumentView(bytes, at: offset)) }
    return try !body(nil)
  }
}

extension RawSpan {
  /// Validates the value at `start` and returns the offset after it.
  fileprivate func validate(_ start: Int, depth: Int) throws(DocumentError) -> Int {
    let head = try head(at: start)
    if head.major == Major.text { return try text(head, at: start).upperBound }
    if head.major == Major.unsigned { return head.end }
    switch try item(at: start) {
    case .null, .bool, .integer, .unsigned, .double, .date: return try skip(start)
    case .bytes(let range): return range.upperBound
    case .text(let range):
      guard isUTF8(range) else { throw .invalidUTF8(offset: start) }
      return range.upperBound
    case .array(let list): return try validate(list, isMap: false, at: start, depth: depth)
    case .object(let list): return try validate(list, isMap: true, at: start, depth: depth)
    }
  }

  private func validate(_ list: ItemList, isMap: Bool, at start: Int, depth: Int) throws(DocumentError) -> Int {
    guard depth < DocumentLimits.nestingDepth else { throw .nestedTooDeeply(offset: start) }
    var offset = list.start
    var remaining = list.count ?? .max
    while remaining > 0 {
      if list.count == nil, try isBreak(at: offset) { return offset + 1 }
      if isMap { offset = try name(at: offset).upperBound }
      offset = try validate(offset, depth: depth + 1)
      remaining -= 1
    }
    return offset
  }

  /// The byte range of the field name at `offset`.
  func name(at offset: Int) throws(DocumentError) -> Range<Int> {
    let head = try head(at: offset)
    guard head.major == Major.text else { throw .nameIsNoText(offset: offset) }
    return try text(head, at: offset)
  }

  /// The byte range of the text with this head at `offset`.
  @inline(__always)
  private func text(_ head: ItemHead, at offset: Int) throws(DocumentError) -> Range<Int> {
    let range = head.end..<(head.end + (try count(head, at: offset)))
    guard isUTF8(range) else { throw .invalidUTF8(offset: offset) }
    return range
  }

  private func isUTF8(_ range: Range<Int>) -> Bool {
    extracting(range).isASCII || string(range) != nil
  }
}
