public import LogStore
import ServerAnswers

/// A buffered server response, kept until the catalogue is locked, so that a slow server does not block other writers.
///
/// It is stored in a file next to the catalogue, which is deleted with this value or with the process. Its first
/// megabyte is decoded as it arrives, so that anything other than a catalogue response is refused before it fills the
/// disk.
///
/// That megabyte is decoded again by the import. Its rows cannot be written before the catalogue is locked, and they
/// are too many to keep: a megabyte may contain 256 MiB of rows. Decoding it takes 25 ms.
public struct ReceivedAnswer: ~Copyable {
  /// The number of bytes that are decoded as they arrive.
  static let headByteCount = 1 << 20

  private let file: SpillFile
  private var head: ResponseDecoder
  private var sink = DiscardedRows()

  /// Begins a response.
  ///
  /// - Parameters:
  ///   - location: The catalogue, in whose directory the response is stored.
  ///   - options: The options, with the limits of what is accepted.
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

  /// The number of bytes received so far.
  public var byteCount: Int { file.byteCount }

  /// Appends the next bytes of the response.
  ///
  /// - Throws: `StoreError.io`, also if the device is full; `WireError` if the first megabyte is invalid.
  public mutating func consume(_ bytes: Span<UInt8>) throws {
    let rest = Self.headByteCount - file.byteCount
    try file.append(bytes)
    if rest > 0 { try head.consume(bytes.extracting(first: min(rest, bytes.count)), into: &sink) }
  }

  /// Calls `body` with the complete response, piece by piece, and frees the disk space of each piece after the call.
  /// May be called only once.
  ///
  /// - Throws: `StoreError.io`; the errors of `body`.
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
