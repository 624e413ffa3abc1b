import Bytes
import Platform
import RecordFormat
import Storage
import Synchronization

/// An open log whose header was validated.
package final class LogFile: Sendable {
  /// The log's file. For a tail log, the file joined with its shared base.
  let file: any StorageFile
  let header: FileHeader

  /// The path of the file, or the path that it will have once it is published.
  let path: String

  /// Whether a mapping of the file may show less than the file has; see `StorageFile.isCopiedOnWrite`.
  let isCopiedOnWrite: Bool

  /// The end of the last commit for which this file has a snapshot. A file shorter than this was truncated.
  private let committedEnd = Atomic(0)
  /// What is kept in memory of the trees in which much is looked for.
  let directories = OrderedDirectories()
  /// The keys of a sealed log; `nil` in a clear one, and if it was opened without a key.
  let sealing: LogSealing?
  /// The seed of the hashes in the log's blocks. That of a sealed log is known only with its key.
  let seed: HashSeed

  /// Reads and validates the header.
  ///
  /// - Parameter keys: The keys with which a sealed log may be opened.
  /// - Throws: `StoreError.sealed` if the log is sealed with another key.
  init(_ file: any StorageFile, keys: LogKeys) throws(StoreError) {
    self.file = file
    path = file.path
    isCopiedOnWrite = file.isCopiedOnWrite
    let bytes = try Self.read(FileHeader.byteCount, at: 0, of: file)
    do {
      header = try FileHeader(bytes.rawSpan)
    } catch {
      switch error {
      case .checksum: throw .damaged(path: file.path, offset: 0, what: "file header: \(error)")
      case let fault where fault.isNewer: throw .newer(path: file.path, reason: "\(fault)")
      default: throw .unusable(path: file.path, reason: "\(error)")
      }
    }
    sealing = try keys.sealing(of: header, path: file.path)
    seed = Self.seed(header, sealing)
  }

  private static func seed(_ header: FileHeader, _ sealing: LogSealing?) -> HashSeed {
    guard let sealing else { return header.seed }
    return HashSeed(header.seed.words.0, header.seed.words.1, secret: sealing.hashKey)
  }

  /// The error for a sealed log that was opened without a key.
  var needsKey: StoreError { .sealed(path: path, isOtherKey: false) }

  /// Creates a log that this program is writing and that will be published at `path`.
  init(_ file: any StorageFile, header: FileHeader, path: String, sealing: LogSealing? = nil) {
    self.sealing = sealing
    seed = Self.seed(header, sealing)
    self.file = file
    self.path = path
    self.header = header
    isCopiedOnWrite = file.isCopiedOnWrite
  }

  func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    try Self.read(count, at: offset, of: file)
  }

  /// Reads bytes. If the device cannot read them, the error contains their offset.
  private static func read(_ count: Int, at offset: Int, of file: any StorageFile) throws(StoreError) -> [UInt8] {
    do { return try file.read(count, at: offset) } catch {
      guard error.isUnreadable else { throw .io(error) }
      let location = file.location(of: offset)
      throw .unreadable(path: location.path, offset: location.offset)
    }
  }

  func size() throws(StoreError) -> Int {
    try storage { () throws(StorageError) in try file.size() }
  }

  /// Returns whether the file still begins with the header that was read when it was opened. If not, another file was
  /// written over it.
  func hasSameHeader() throws(StoreError) -> Bool {
    let bytes = try read(FileHeader.byteCount, at: 0)
    return (try? FileHeader(bytes.rawSpan)) == header
  }

  /// Returns whether `mapping` shows the slots that the file has now. If the file was copied when it was first written,
  /// a mapping of the original never shows a later commit; see `StorageFile.isCopiedOnWrite`.
  ///
  /// - Complexity: None if the file is never copied; otherwise one system call.
  func isShown(by mapping: Mapping) throws(StoreError) -> Bool {
    if !isCopiedOnWrite { return true }
    let slots = try readSlotHeads()
    // Within the file, as the slots are; the mapping outlives the comparison.
    return zip(AcknowledgementSlot.offsets, slots).allSatisfy { offset, slot in
      unsafe mapping.bytes(offset, slot.count).hasSameBytes(as: slot.rawSpan)
    }
  }

  /// Reads the fields of both slots, without a check; fewer bytes if the file ends there.
  func readSlotHeads() throws(StoreError) -> [[UInt8]] {
    let bytes = try read(
      AcknowledgementSlot.byteCount + AcknowledgementSlot.headByteCount, at: AcknowledgementSlot.offsets[0])
    return AcknowledgementSlot.offsets.map { offset in
      Array(bytes.dropFirst(offset - AcknowledgementSlot.offsets[0]).prefix(AcknowledgementSlot.headByteCount))
    }
  }

  /// Returns whether the commit that `footer` ends is still in the file. It is not if somebody truncated the file or
  /// wrote another one over it.
  ///
  /// - Complexity: One system call.
  func hasCommit(_ footer: SegmentFooter) throws(StoreError) -> Bool {
    let bytes = try read(SegmentFooter.byteCount, at: Int(footer.offset))
    return (try? SegmentFooter(bytes.rawSpan)) == footer
  }

  /// Records that a valid commit ends at `end`.
  func recordCommit(endingAt end: Int) {
    // Relaxed order is enough: the number only grows and is used only in a message.
    committedEnd.max(end, ordering: .relaxed)
  }

  /// Returns the path of the file that contains the byte at `offset`, and the offset in that file. For bytes that a
  /// tail log shares, that is not the log itself.
  func location(of offset: Int) -> (path: String, offset: Int) {
    let location = file.location(of: offset)
    return location.path == file.path ? (path, location.offset) : location
  }

  /// Returns the error for damage at `offset`. It includes the cause if the system reports one: a truncated file or a
  /// failing disk.
  func damage(_ offset: Int, _ what: String) -> StoreError {
    let committed = committedEnd.load(ordering: .relaxed)
    var cause = ""
    do throws(StorageError) {
      let size = try file.size()
      if size < committed {
        cause = " (the file was truncated to \(size) bytes, \(committed) were committed)"
      } else {
        _ = try file.read(1, at: offset)
      }
    } catch {
      cause = " (\(error))"
    }
    let location = location(of: offset)
    return .damaged(path: location.path, offset: location.offset, what: what + cause)
  }
}
