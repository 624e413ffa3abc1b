import RowFiles
import RowSources
import ServerAnswers

/// A reader of a file's text, which decompresses gzip, and converts rows in zstd and other encodings. Both ways of
/// packing are detected by the first bytes.
struct InputText: ~Copyable {
  private let file: InputFile
  private var unpacker: OptionalGzip
  /// The converter of a person's own file; `nil` for a server's answer.
  private var source: SourceText?
  /// Bytes that were read but not decompressed yet.
  private var packed: ArraySlice<UInt8> = []
  private var isOver = false
  private var isSourceOver = false
  private var isConverted = false
  /// The number of bytes read from the file.
  private(set) var byteCount = 0

  /// - Parameters:
  ///   - file: The file.
  ///   - limits: The limits of decompression.
  init(_ file: InputFile, limits: WireLimits) {
    self.file = file
    unpacker = OptionalGzip(limits: limits)
    source = nil
  }

  /// - Parameters:
  ///   - file: A person's own file.
  ///   - encoding: The name of its encoding; `nil` to guess it.
  ///   - limits: The limits of decompression.
  /// - Throws: `Failure` with exit code 64 for an unknown encoding.
  init(rows file: InputFile, encoding: String?, limits: WireLimits) throws {
    self.init(file, limits: limits)
    isConverted = true
    do {
      source = try SourceText(
        encoding: encoding,
        limits: SourceLimits(
          unpackedByteCount: limits.unpackedByteCount, unpackedRatio: limits.unpackedRatio,
          absoluteByteCount: limits.absoluteByteCount))
    } catch { throw Failure(.usage, "\(error)") }
  }

  /// The encoding of a person's own file, if it was guessed.
  private(set) var guess: EncodingGuess?

  /// The next bytes of text; `nil` at the end.
  ///
  /// - Throws: `Failure` with exit code 66, or 65 for damaged zstd and bytes that are not text in the encoding;
  ///   `RowFileError` for invalid gzip.
  mutating func next() throws -> [UInt8]? {
    guard isConverted else { return try unpacked() }
    do {
      defer { guess = source?.guess }
      while let piece = try source?.hasMore == true ? [] : unpacked() {
        if let text = try source?.decode(piece), !text.isEmpty { return text }
      }
      if !isSourceOver {
        isSourceOver = true
        if let text = try source?.finish(), !text.isEmpty { return text }
      }
      return nil
    } catch let error as SourceError { throw Failure(.data, "\(error); nothing was changed") }
  }

  private mutating func unpacked() throws -> [UInt8]? {
    while !isOver {
      if packed.isEmpty {
        guard let piece = try file.next() else {
          isOver = true
          let rest = try unpacker.finish()
          return rest.isEmpty ? nil : rest
        }
        packed = piece[...]
        byteCount += piece.count
      }
      let text = try unpacker.unpack(Array(packed.prefix(OptionalGzip.stepByteCount)))
      packed = packed.dropFirst(OptionalGzip.stepByteCount)
      if !text.isEmpty { return text }
    }
    return nil
  }
}
