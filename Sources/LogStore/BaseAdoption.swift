import Bytes
import RecordFormat
import Storage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How a store begins with what another one holds, without a copy of it.
///
/// What stands in a log before the end of an acknowledged commit never changes, except for the two slots. So the new store
/// gives that file a name of its own, and writes a small file in which header, slots and its own commits stand. From then on
/// the two stores know nothing of each other: each goes on from the common commit, and the bytes that they share are
/// freed with the last name.
public enum BaseAdoption {
  /// Lets the store at `target`, which has no commit yet, begin with the last acknowledged commit of the one at `source`.
  ///
  /// Of a source that has adopted its base itself, that base is shared, and not what the source put behind it. Where the file
  /// system cannot give the file another name, the bytes are copied; where it can share them otherwise, they are.
  /// The source may be in use; it needs no lock, and nothing is written to it. Its bytes are not read through: what
  /// is rotten in them is found where a lookup meets it, or by a verification.
  ///
  /// - Parameters:
  ///   - source: what to begin with.
  ///   - target: what begins with it.
  ///   - waiting: how long to wait for another writer of `target` to finish.
  /// - Returns: the commit, durable in the new store; `nil` if `target` has a log already, or `source` has no commit.
  /// - Throws: `StoreError.locked`; `.damaged`, `.unusable` of the source; `.io`. The target then has no log, except that a
  ///   failed sync of its directory leaves open whether it has.
  /// - Complexity: some twenty system calls, or a copy.
  public static func adopt(
    from source: StoreLocation, into target: StoreLocation, waiting: Duration = .zero
  ) throws(StoreError) -> Snapshot? {
    let lock = try StoreWriter.lock(target, waiting)
    defer { lock.release() }
    let named = try storage { () throws(StorageError) in
      try target.directory.remove(target.new)
      return try target.directory.identity(of: target.log)
    }
    if named != nil { return nil }
    // The source may get a newer generation between its opening and the link, at most now and then.
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

  /// The commit that ``adopt(from:into:waiting:)`` would take over now; `nil` if there is none.
  package static func offer(of source: StoreLocation) throws(StoreError) -> Snapshot? { try Offer(source)?.snapshot }
}

/// What a store can share.
private struct Offer {
  let snapshot: Snapshot
  let footer: SegmentFooter
  /// The file that holds it, and the name that it has at the source.
  let file: any StorageFile
  let name: String

  /// `nil` if nothing was acknowledged there.
  init?(_ source: StoreLocation) throws(StoreError) {
    guard let log = try LogFile.open(source, .read) else { return nil }
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
    // What it describes is checked before anybody relies on it.
    snapshot = try Snapshot(log, log.mapping(reaching: Int(footer.end), reusing: nil), footer)
  }

  /// The header of a store that begins with it.
  func header(created: Int64, isShared: Bool) -> FileHeader {
    var header = snapshot.log.header
    header.created = created
    header.base = isShared ? BaseReference(footer) : nil
    return header
  }
}

extension LogFile {
  /// The footer that the newest slot names. What follows may not be durable.
  fileprivate func acknowledgedFooter() throws(StoreError) -> SegmentFooter? {
    let recovery = try recover()
    if recovery.isAcknowledged { return recovery.footer }
    guard let slot = recovery.slot else { return nil }
    return try footer(of: slot, size: size())
  }
}

extension StoreLocation {
  /// Gives what is offered the name of this store's base, durably.
  ///
  /// - Returns: false where it has to be copied; `nil` if it has lost its name.
  fileprivate func share(_ offer: Offer, of source: StoreLocation) throws(StorageError) -> Bool? {
    guard JoinedFile.isSupported else { return false }
    if let old = try directory.identity(of: base), old != offer.file.identity {
      // A kept log of an earlier life of this store may need it.
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
    // Before the log that needs it has a name.
    try directory.sync()
    return true
  }

  /// Writes the log of a store that begins with what is offered, and gives it its name.
  fileprivate func begin(_ offer: Offer, isShared: Bool) throws(StorageError) {
    guard let file = try directory.open(new, .create) else {
      throw StorageError(operation: "create", path: directory.path + "/" + new, code: ENOENT)
    }
    let footer = offer.footer
    let slot = AcknowledgementSlot(
      storeID: footer.storeID, sequence: footer.sequence, generation: footer.generation, footerOffset: footer.offset,
      end: footer.end, chain: footer.chain)
    let head =
      offer.header(created: environment.now(), isShared: isShared).encoded() + slot.encoded()
      + [UInt8](repeating: 0, count: AcknowledgementSlot.byteCount)
    try file.write(head.rawSpan, at: 0)
    if !isShared { try file.copy(SegmentHeader.firstOffset..<Int(footer.end), from: offer.file) }
    try file.sync()
    try directory.rename(new, to: log)
    try directory.sync()
  }
}
