import Gzip
package import ServerAnswers

/// A decompressor for bytes that may be gzip, which their first two bytes show. Other bytes are passed on unchanged.
///
///     var text = OptionalGzip()
///     while let piece = try file.next() { use(try text.unpack(piece)) }
///     use(try text.finish())
package struct OptionalGzip: ~Copyable {
  /// The recommended maximum number of bytes per call: they decompress to at most 16 MiB.
  package static let stepByteCount = 16 << 10

  private let limits: WireLimits
  /// The first byte, until the second one is known.
  private var head: [UInt8] = []
  private var isDecided = false
  private var inflater: GzipInflater?

  /// - Parameter limits: The limits of decompression.
  package init(limits: WireLimits = WireLimits()) {
    self.limits = limits
    inflater = nil
  }

  /// Returns the text of the next bytes.
  ///
  /// - Throws: `RowFileError.notUnpacked` for damaged gzip, and for text above the limits.
  package mutating func unpack(_ bytes: [UInt8]) throws(RowFileError) -> [UInt8] {
    if isDecided { return try text(of: bytes) }
    head += bytes
    if head.count < 2 { return [] }
    isDecided = true
    if head[0] == 0x1F, head[1] == 0x8B { inflater = try Self.makeInflater() }
    let first = head
    head = []
    return try text(of: first)
  }

  /// Ends the bytes, and returns the rest of their text.
  ///
  /// - Throws: `RowFileError.notUnpacked` for truncated gzip.
  package mutating func finish() throws(RowFileError) -> [UInt8] {
    if let unpacker = inflater.take() {
      do { try unpacker.finish() } catch { throw .notUnpacked(error) }
    }
    defer { head = [] }
    return head
  }

  private mutating func text(of bytes: [UInt8]) throws(RowFileError) -> [UInt8] {
    guard var unpacker = inflater.take() else { return bytes }
    var text: [UInt8] = []
    try unpacker.consume(
      bytes, count: bytes.count, limits: limits.gzip, failure: RowFileError.notUnpacked
    ) { (piece, _) throws(RowFileError) in
      for index in piece.indices { text.append(piece[index]) }
    }
    inflater = consume unpacker
    return text
  }

  private static func makeInflater() throws(RowFileError) -> GzipInflater {
    do { return try GzipInflater() } catch { throw .notUnpacked(error) }
  }
}
