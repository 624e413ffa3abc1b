import CatalogWire

/// A reader of a file's text, which decompresses gzip; gzip is detected by the first bytes.
struct InputText: ~Copyable {
  private let file: InputFile
  private var unpacker: OptionalGzip
  /// Bytes that were read but not decompressed yet.
  private var packed: ArraySlice<UInt8> = []
  private var isOver = false
  /// The number of bytes read from the file.
  private(set) var byteCount = 0

  /// - Parameters:
  ///   - file: The file.
  ///   - limits: The limits of decompression.
  init(_ file: InputFile, limits: WireLimits) {
    self.file = file
    unpacker = OptionalGzip(limits: limits)
  }

  /// The next bytes of text; `nil` at the end.
  ///
  /// - Throws: `Failure` with exit code 66; `WireError` for invalid gzip.
  mutating func next() throws -> [UInt8]? {
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
