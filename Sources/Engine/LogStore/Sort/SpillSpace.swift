/// The temporary files of a transaction, for what it sorts and does not keep in memory.
final class SpillSpace {
  /// The location of the store, next to which the files are.
  private let location: StoreLocation
  /// The number of bytes that one index under construction keeps in memory.
  let byteLimit: Int

  init(nextTo location: StoreLocation) {
    self.location = location
    byteLimit = location.environment.sortMemory
  }

  /// Creates an empty file.
  ///
  /// - Throws: `StoreError.io`.
  func makeFile() throws(StoreError) -> SpillFile { try SpillFile(nextTo: location) }
}

/// Bytes that are appended, and then read once: in memory up to a limit, and beyond it in a temporary file.
struct SpilledBytes {
  private let space: SpillSpace
  private var file: SpillFile?
  /// The bytes that are not in the file. Append to them, then call ``spillIfLarge()``.
  var rest: [UInt8] = []

  init(_ space: SpillSpace) { self.space = space }

  /// The number of bytes that were appended.
  var byteCount: Int { (file?.byteCount ?? 0) + rest.count }

  /// Moves the bytes in memory into the file if there are too many of them.
  ///
  /// - Throws: `StoreError.io`, including for a full device.
  mutating func spillIfLarge() throws(StoreError) {
    if rest.count < space.byteLimit { return }
    if file == nil { file = try space.makeFile() }
    try file?.append(rest.span)
    rest.removeAll(keepingCapacity: true)
  }

  /// Calls `body` with all bytes, in parts. The space of those in the file is given back as they are read.
  ///
  /// - Throws: `StoreError.io`; any error of `body`.
  consuming func forEachPart(_ body: ([UInt8]) throws(StoreError) -> Void) throws(StoreError) {
    if let file {
      var offset = 0
      while offset < file.byteCount {
        let part = try file.read(at: offset)
        try body(part)
        offset += part.count
        file.release(before: offset)
      }
    }
    try body(rest)
  }
}
