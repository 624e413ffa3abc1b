import CatalogWire
public import LogStore

/// A server's answer as it came, kept until the catalogue is locked: a slow server keeps no writer waiting.
///
/// It lies in a file next to the catalogue, which goes with this value, or with the process. Its first megabyte is
/// decoded as it arrives: what is no answer of a catalogue's server is refused before it fills the disk.
public struct ReceivedAnswer: ~Copyable {
  /// Bytes that are decoded as they arrive.
  static let headByteCount = 1 << 20

  private let file: SpillFile
  private var head: ResponseDecoder
  private var sink = DiscardedRows()

  /// Begins an answer.
  ///
  /// - Parameters:
  ///   - location: The catalogue, in whose directory the answer is kept.
  ///   - options: What is refused.
  /// - Throws: `StoreError.io`, `WireError.outOfMemory`.
  public init(for location: StoreLocation, _ options: ImportOptions = ImportOptions()) throws {
    self.init(
      file: try SpillFile(nextTo: location),
      head: try ResponseDecoder(limits: options.limits, allowsBarePayload: options.allowsBarePayload))
  }

  private init(file: SpillFile, head: consuming ResponseDecoder) {
    self.file = file
    self.head = head
  }

  /// Bytes of the answer so far.
  public var byteCount: Int { file.byteCount }

  /// Takes the next bytes of the answer.
  ///
  /// - Throws: `StoreError.io`, also for a full device; `WireError` for what is wrong in the first megabyte.
  public mutating func consume(_ bytes: Span<UInt8>) throws {
    let rest = Self.headByteCount - file.byteCount
    try file.append(bytes)
    if rest > 0 { try head.consume(bytes.extracting(first: min(rest, bytes.count)), into: &sink) }
  }

  /// Calls `body` with the whole answer, piece by piece, and gives back the disk space of what `body` has taken: once.
  ///
  /// - Throws: `StoreError.io`; what `body` throws.
  public func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
    var offset = 0
    while offset < file.byteCount {
      let piece = try file.read(at: offset)
      offset += piece.count
      try body(piece)
      file.release(before: offset)
    }
  }
}
