/// Unpacks bytes that are gzip, which their first two tell, and passes on all others as they are.
///
///     var text = OptionalGzip()
///     while let piece = try file.next() { use(try text.unpack(piece)) }
///     use(try text.finish())
package struct OptionalGzip: ~Copyable {
  /// Bytes that one call should take: they unpack to 16 MiB at most.
  package static let stepByteCount = 16 << 10

  private let limits: WireLimits
  /// The first byte, before it is known what follows it.
  private var head: [UInt8] = []
  private var isDecided = false
  private var inflater: GzipInflater?

  /// - Parameter limits: What packed bytes may unpack to.
  package init(limits: WireLimits = WireLimits()) {
    self.limits = limits
    inflater = nil
  }

  /// The text of the next bytes.
  ///
  /// - Throws: `WireError.fileNotUnpacked` for damaged gzip, and for text beyond the limits.
  package mutating func unpack(_ bytes: [UInt8]) throws(WireError) -> [UInt8] {
    if isDecided { return try text(of: bytes) }
    head += bytes
    if head.count < 2 { return [] }
    isDecided = true
    if head[0] == 0x1F, head[1] == 0x8B { inflater = try Self.makeInflater() }
    let first = head
    head = []
    return try text(of: first)
  }

  /// Ends the bytes; what is left of their text.
  ///
  /// - Throws: `WireError.fileNotUnpacked` for gzip that is cut.
  package mutating func finish() throws(WireError) -> [UInt8] {
    if let unpacker = inflater.take() {
      do { try unpacker.finish() } catch { throw .fileNotUnpacked(error) }
    }
    defer { head = [] }
    return head
  }

  private mutating func text(of bytes: [UInt8]) throws(WireError) -> [UInt8] {
    guard var unpacker = inflater.take() else { return bytes }
    var text: [UInt8] = []
    do {
      try unpacker.consume(bytes, count: bytes.count, limits: limits) { piece in
        for index in piece.indices { text.append(piece[index]) }
      }
    } catch {
      throw .fileNotUnpacked(error)
    }
    inflater = consume unpacker
    return text
  }

  private static func makeInflater() throws(WireError) -> GzipInflater {
    do { return try GzipInflater() } catch { throw .fileNotUnpacked(error) }
  }
}
