import RowFiles
package import RowSources
package import ServerAnswers

/// A reader of the text of a file, which may be packed with gzip; that of a person's own file may also be packed with
/// zstd, and be in any encoding. The first bytes show how a file is packed.
///
/// Every file of rows or of an answer is read with it.
/// Only the caller knows where the bytes come from.
package struct SourceReader: ~Copyable {
  private let read: () throws -> [UInt8]?
  private var unpacker: OptionalGzip
  /// The converter of a person's own file; `nil` for text in the form of the protocol.
  private var source: SourceText?
  /// Bytes that were read but not decompressed yet.
  private var packed: ArraySlice<UInt8> = []
  private var isOver = false
  /// The number of bytes read from the file.
  package private(set) var byteCount = 0

  /// The encoding of a person's own file, if it was guessed.
  package private(set) var guess: EncodingGuess?

  /// Creates a reader of text in the form of the protocol.
  ///
  /// - Parameters:
  ///   - limits: The limits of decompression.
  ///   - read: Returns the next bytes of the file; `nil` at the end.
  package init(limits: WireLimits = WireLimits(), _ read: @escaping () throws -> [UInt8]?) {
    self.read = read
    unpacker = OptionalGzip(limits: limits)
    source = nil
  }

  /// Creates a reader of a person's own file.
  ///
  /// - Parameters:
  ///   - encoding: The name of its encoding; `nil` to guess it.
  ///   - limits: The limits of decompression.
  ///   - read: Returns the next bytes of the file; `nil` at the end.
  /// - Throws: `SourceError.unknownEncoding`.
  package init(
    encoding: String?, limits: WireLimits, _ read: @escaping () throws -> [UInt8]?
  ) throws(SourceError) {
    self.init(limits: limits, read)
    source = try SourceText(
      encoding: encoding,
      limits: SourceLimits(
        unpackedByteCount: limits.unpackedByteCount, unpackedRatio: limits.unpackedRatio,
        absoluteByteCount: limits.absoluteByteCount))
  }

  /// Returns the next bytes of text, at least one; `nil` at the end.
  ///
  /// - Throws: `RowFileError` for damaged gzip, and for text above the limits; `SourceError`; the errors of reading.
  package mutating func next() throws -> [UInt8]? {
    defer { guess = source?.guess }
    while !isOver {
      let text = try step()
      if !text.isEmpty { return text }
    }
    return nil
  }

  /// Returns the text of the next few bytes, which may be none.
  private mutating func step() throws -> [UInt8] {
    if source?.hasMore == true { return try source?.decode([]) ?? [] }
    if packed.isEmpty {
      guard let piece = try read() else {
        isOver = true
        return try converted(unpacker.finish()) + (source?.finish() ?? [])
      }
      packed = piece[...]
      byteCount += piece.count
    }
    let bytes = Array(packed.prefix(OptionalGzip.stepByteCount))
    packed = packed.dropFirst(OptionalGzip.stepByteCount)
    return try converted(unpacker.unpack(bytes))
  }

  private mutating func converted(_ text: [UInt8]) throws(SourceError) -> [UInt8] {
    try source?.decode(text) ?? text
  }
}
