import Bytes
import Platform
import RecordFormat
import Storage

/// Creates a store that starts from the contents of another one, without copying them.
///
/// The bytes of a log before the end of an acknowledged commit never change, except for the two slots. So the new store
/// gives that file a second name (a hard link) and writes a small file of its own with a header, slots and its own
/// commits. From then on the two stores are independent: each continues from the common commit, and the shared bytes
/// are freed when the last name is removed.
public enum BaseAdoption {
  /// Makes the store at `target`, which has no commit yet, start from the last acknowledged commit of the store at
  /// `source`.
  ///
  /// If the source has adopted a base itself, that base is shared, without the commits that the source added to it. If
  /// the file system cannot create a hard link, the bytes are copied, or shared as a reflink if it supports that. The
  /// source may be in use; it needs no lock, and nothing is written to it. Its bytes are not read completely: damage in
  /// them is found by a later lookup or by a verification.
  ///
  /// - Parameters:
  ///   - source: The location of the store to start from.
  ///   - target: The location of the new store.
  ///   - lockTimeout: The time to wait for another writer of `target` to finish.
  /// - Returns: The commit, durable in the new store; `nil` if `target` already has a log or `source` has no commit.
  /// - Throws: `StoreError.locked`; `.damaged`, `.unusable` of the source; `.io`. The target then has no log, except
  ///   after a failed sync of its directory, when it may or may not have one.
  /// - Complexity: About twenty system calls, or a copy.
  public static func adopt(
    from source: StoreLocation, into target: StoreLocation, lockTimeout: Duration = .zero
  ) throws(StoreError) -> Snapshot? {
    let lock = try StoreWriter.lock(target, lockTimeout)
    defer { lock.release() }
    let named = try storage { () throws(StorageError) in
      try target.directory.remove(target.new)
      return try target.directory.identity(of: target.log)
    }
    if named != nil || target.sealsNewNow { return nil }
    // A new generation may replace the source between opening and linking it. That happens rarely, so a few attempts
    // are enough.
    for _ in 0..<8 {
      guard let offer = try Offer(source) else { return nil }
      do {
        guard let isShared = try target.share(offer, of: source) else { continue }
        try target.begin(offer, isShared: isShared)
      } catch {
        _ = try? target.directory.remove(target.new)
        target.releaseBase()
        throw .io(error)
      }
      guard let log = try LogFile.open(target, .read), let footer = try log.recover().footer else { return nil }
      return try Snapshot(log, log.mapping(reaching: Int(footer.end), reusing: nil), footer)
    }
    throw .replaced(path: source.directory.path + "/" + source.log)
  }

  /// Returns the commit that ``adopt(from:into:lockTimeout:)`` would share now; `nil` if there is no such commit.
  package static func offer(of source: StoreLocation) throws(StoreError) -> Snapshot? { try Offer(source)?.snapshot }
}

/// The part of a store that can be shared.
private struct Offer {
  let snapshot: Snapshot
  let footer: SegmentFooter
  /// The file that contains the commit, and its name at the source.
  let file: any StorageFile
  let name: String

  /// Opens the last acknowledged commit of `source`; fails if it has none.
  init?(_ source: StoreLocation) throws(StoreError) {
    guard let log = try LogFile.open(source, .read), log.header.sealing == nil else { return nil }
    if let base = log.header.base, let shared = log.file.shared {
      file = shared
      name = source.base
      footer = try log.footer(of: base)
    } else {
      guard let acknowledged = try log.acknowledgedFooter() else { return nil }
      file = log.file
      name = source.log
      footer = acknowledged
    }
    // Validates what the footer describes before it is used.
    snapshot = try Snapshot(log, log.mapping(reaching: Int(footer.end), reusing: nil), footer)
  }

  /// Returns the header of a store that starts from this commit.
  func header(created: Int64, isShared: Bool) -> FileHeader {
    var header = snapshot.log.header
    header.created = created
    header.base = isShared ? BaseReference(footer) : nil
    return header
  }
}

extension LogFile {
  /// Returns the footer that the newest slot names. Later bytes may not be durable.
  func acknowledgedFooter() throws(StoreError) -> SegmentFooter? {
    let recovery = try recover()
    if recovery.isAcknowledged { return recovery.footer }
    guard let slot = recovery.slot else { return nil }
    return try footer(of: slot, size: size())
  }
}

extension StoreLocation {
  /// Gives the offered file the name of this store's base, durably.
  ///
  /// - Returns: Whether the file was linked; `false` if it has to be copied, `nil` if it has lost its name.
  fileprivate func share(_ offer: Offer, of source: StoreLocation) throws(StorageError) -> Bool? {
    guard JoinedFile.isSupported else { return false }
    if let old = try directory.identity(of: base), old != offer.file.identity {
      // A kept log from an earlier life of this store may need the present base.
      if try isBaseNeeded() { return false }
      try directory.remove(base)
    }
    if try directory.identity(of: base) == nil {
      do throws(StorageError) { try directory.link(offer.name, of: source.directory, to: base) } catch {
        if error.cannotLink { return false }
        if error.kind == .missing { return nil }
        throw error
      }
      if try directory.identity(of: base) != offer.file.identity {
        try directory.remove(base)
        return nil
      }
    }
    // The base must be durable before the log that needs it has a name.
    try directory.sync()
    return true
  }

  /// Writes the log of a store that starts from the offered commit and gives it its name.
  fileprivate func begin(_ offer: Offer, isShared: Bool) throws(StorageError) {
    let header = offer.header(created: environment.now(), isShared: isShared)
    try writeLog(header, endingWith: offer.footer, copying: isShared ? nil : offer.file)
  }

  /// Writes a log that ends with a commit of another log, and gives it its name. Its slots name that commit.
  ///
  /// - Parameter source: The file with the bytes of the commits; `nil` if they are in the shared base.
  func writeLog(
    _ header: FileHeader, endingWith footer: SegmentFooter, copying source: (any StorageFile)?
  ) throws(StorageError) {
    guard let file = try directory.open(new, .create) else {
      throw StorageError(operation: "create", path: directory.path + "/" + new, code: ENOENT)
    }
    let slot = AcknowledgementSlot(
      storeID: footer.storeID, sequence: footer.sequence, generation: footer.generation, footerOffset: footer.offset,
      end: footer.end, chain: footer.chain)
    let head =
      header.encoded() + slot.encoded() + [UInt8](repeating: 0, count: AcknowledgementSlot.byteCount)
    try file.write(head.rawSpan, at: 0)
    if let source { try file.copy(SegmentHeader.firstOffset..<Int(footer.end), from: source) }
    try file.sync()
    try directory.rename(new, to: log)
    try directory.sync()
  }
}
