/// The texts of one row, in one buffer that is reused from row to row.
///
/// A decoder appends the bytes of each text once and records their range; an encoder reads them as spans. A row needs
/// no allocation once the buffer has grown to the size of the longest row.
public struct TextRow: Sendable {
  /// The bytes of all texts, in the order in which they were set.
  @usableFromInline
  package internal(set) var bytes: [UInt8] = []
  /// The start of each text in ``bytes``.
  @usableFromInline
  var starts: [Int]
  /// The end of each text in ``bytes``; equal to its start for an empty text.
  @usableFromInline
  var ends: [Int]

  /// Creates a row of `count` empty texts.
  public init(count: Int) {
    starts = Array(repeating: 0, count: count)
    ends = starts
  }

  /// Empties every text and keeps the capacity of the buffers.
  @inlinable
  public mutating func reset() {
    bytes.removeAll(keepingCapacity: true)
    for index in starts.indices {
      starts[index] = 0
      ends[index] = 0
    }
  }

  /// Sets the text at `index` to the bytes of `utf8`, which must be valid UTF-8.
  @inlinable
  public mutating func set(_ index: Int, _ utf8: Span<UInt8>) {
    starts[index] = bytes.count
    // The pointer is used only inside the call, while the span keeps its bytes alive.
    unsafe utf8.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    ends[index] = bytes.count
  }

  /// Sets the text at `index` to the bytes of a span, which must be valid UTF-8.
  @inlinable
  package mutating func set(_ index: Int, _ utf8: RawSpan) {
    starts[index] = bytes.count
    // As above.
    unsafe utf8.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    ends[index] = bytes.count
  }

  /// Takes over all texts of another row with as many of them, and keeps the capacity of the buffers.
  @inlinable
  public mutating func copy(_ other: borrowing TextRow) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: other.bytes)
    for index in starts.indices {
      starts[index] = other.starts[index]
      ends[index] = other.ends[index]
    }
  }

  /// Returns the bytes of the text at `index`.
  @inlinable
  public func withText<Result, Failure: Error>(
    _ index: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(bytes.span.extracting(starts[index]..<ends[index]))
  }

  /// Sets the text at `index`.
  public mutating func set(_ index: Int, _ text: String) {
    starts[index] = bytes.count
    bytes.append(contentsOf: text.utf8)
    ends[index] = bytes.count
  }

  /// Sets the text at `index` to the bytes that `append` appends, which must be valid UTF-8.
  package mutating func set(_ index: Int, _ append: (inout [UInt8]) -> Void) {
    starts[index] = bytes.count
    append(&bytes)
    ends[index] = bytes.count
  }

  /// Returns the range of the text at `index` in ``bytes``.
  @inlinable
  package func range(_ index: Int) -> Range<Int> { starts[index]..<ends[index] }

  /// Returns the text at `index` as a string.
  public func string(_ index: Int) -> String {
    String(decoding: bytes[starts[index]..<ends[index]], as: UTF8.self)
  }

  /// Returns the length of the text at `index` in bytes.
  @inlinable
  public func byteCount(_ index: Int) -> Int { ends[index] - starts[index] }
}
