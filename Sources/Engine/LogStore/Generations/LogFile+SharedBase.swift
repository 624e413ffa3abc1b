import Bytes
import Platform
import RecordFormat
import Storage

// A tail log starts at the end of a commit of another store's log. The bytes before that commit's end are in that log,
// to which this store has its own hard link. The layers above see one file with one address space; see FORMAT.md,
// *Shared base*.

extension LogFile {
  /// Opens the log of a store, with its shared base if it has one; returns `nil` if there is no log.
  static func open(_ location: StoreLocation, _ mode: OpenMode) throws(StoreError) -> LogFile? {
    let file = try storage { () throws(StorageError) in try location.directory.open(location.log, mode) }
    guard let file else { return nil }
    return try open(file, at: location, mode)
  }

  /// Opens the log in `file`, which had the log's name a moment ago. If a newer generation has replaced it and removed
  /// the shared base, that generation is opened instead. Returns `nil` if there is no log.
  static func open(
    _ first: any StorageFile, at location: StoreLocation, _ mode: OpenMode
  ) throws(StoreError) -> LogFile? {
    var file = first
    // Each further attempt requires that another generation was written in the meantime.
    for _ in 0..<8 {
      let log = try LogFile(file, keys: location.keys)
      guard let base = log.header.base else { return log }
      do { return try log.joined(with: base, at: location) } catch {
        let named = try storage { () throws(StorageError) in try location.directory.identity(of: location.log) }
        if named == file.identity { throw error }
      }
      let next = try storage { () throws(StorageError) in try location.directory.open(location.log, mode) }
      guard let next else { return nil }
      file = next
    }
    throw .replaced(path: file.path)
  }

  /// Returns the same log joined with the bytes that it shares.
  func joined(with base: BaseReference, at location: StoreLocation) throws(StoreError) -> LogFile {
    let path = location.directory.path + "/" + location.base
    let shared = try storage { () throws(StorageError) in try location.directory.open(location.base, .read) }
    guard let shared else {
      throw .damaged(path: path, offset: 0, what: "there is no such file, and \(self.path) needs it")
    }
    guard JoinedFile.isSupported else {
      throw .unusable(
        path: self.path, reason: "the pages of this system are larger than those at which it is joined to its base")
    }
    // Errors in the base's own header are reported with the path of the base.
    let header = try LogFile(shared, keys: .structureOnly).header
    guard header.base == nil, header.sealing == nil, header.storeID == self.header.storeID,
      header.seed == self.header.seed, header.generation == self.header.generation
    else { throw .damaged(path: path, offset: 0, what: "it is another file than the one that \(self.path) needs") }
    let joined = LogFile(base.join(file, shared, path), header: self.header, path: self.path)
    _ = try joined.footer(of: base)
    return joined
  }
}

extension BaseReference {
  /// Joins `log` with the bytes before ``end``, which are read from `shared`.
  fileprivate func join(
    _ log: any StorageFile, _ shared: (any StorageFile)?, _ path: String, hidesTruncation: Bool = false
  ) -> JoinedFile {
    JoinedFile(
      log, sharing: shared, at: path, in: SegmentHeader.firstOffset..<Int(end), hidesTruncation: hidesTruncation)
  }
}

extension StoreLocation {
  /// Removes the shared base if no file of the store needs it any more. The caller must hold the lock. If the base
  /// cannot be removed now, the next writer removes it.
  ///
  /// - Complexity: One system call in a store without a shared base.
  func releaseBase() {
    _ = try? storage { () throws(StorageError) in
      guard try directory.identity(of: base) != nil, try !isBaseNeeded() else { return }
      try directory.remove(base)
    }
  }

  /// Returns whether the current log, the previous generation or a kept damaged log is, or may be, a tail log.
  func isBaseNeeded() throws(StorageError) -> Bool {
    for name in try directory.names() where name == log || name == previous || name.hasPrefix(damagedPrefix) {
      guard let file = try directory.open(name, .read) else { continue }
      let bytes = (try? file.read(FileHeader.byteCount, at: 0)) ?? []
      // A header that cannot be read may be the header of a tail log.
      guard let header = try? FileHeader(bytes.rawSpan), header.base == nil else { return true }
    }
    return false
  }

  /// Opens a log that may be damaged anywhere, to search it for data that can be saved; returns `nil` if there is no
  /// log.
  ///
  /// The shared bytes of a tail log are included unless the base provably belongs to another store.
  func openDamaged() throws(StorageError) -> (any StorageFile)? {
    guard let file = try directory.open(log, .read) else { return nil }
    let bytes = (try? file.read(FileHeader.byteCount, at: 0)) ?? []
    let header = try? FileHeader(bytes.rawSpan)
    let path = directory.path + "/" + base
    guard let shared = try directory.open(base, .read) else {
      return header?.base?.join(file, nil, path, hidesTruncation: true) ?? file
    }
    guard let (id, base) = header.map({ ($0.storeID, $0.base) }) ?? Self.guess(file) else { return file }
    guard let base else { return file }
    return base.join(file, Self.belongs(shared, to: id, base) ? shared : nil, path, hidesTruncation: true)
  }

  /// Returns whether `shared` may be the base of the store with this id: neither its header nor its footer contradicts
  /// that.
  private static func belongs(_ shared: any StorageFile, to id: StoreID, _ base: BaseReference) -> Bool {
    let bytes = (try? shared.read(FileHeader.byteCount, at: 0)) ?? []
    if let header = try? FileHeader(bytes.rawSpan), header.storeID != id || header.base != nil { return false }
    let last = (try? shared.read(SegmentFooter.byteCount, at: Int(base.end) - SegmentFooter.byteCount)) ?? []
    guard let footer = try? SegmentFooter(last.rawSpan) else { return true }
    return footer.storeID == id && (base.names(footer) || base.sequence == 0 && footer.end == base.end)
  }

  /// Infers, without the header, the base after which `file` continues: its first segment contains its own offset, and
  /// without that segment a slot contains the end of the last commit. The base is `nil` for a file that contains all of
  /// its history.
  private static func guess(_ file: any StorageFile) -> (StoreID, BaseReference?)? {
    let first = (try? file.read(SegmentHeader.byteCount, at: SegmentHeader.firstOffset)) ?? []
    if let segment = try? SegmentHeader(first.rawSpan) {
      return BaseReference(endingAt: segment.offset).map { (segment.storeID, $0) }
    }
    guard first.isEmpty else { return nil }
    for offset in AcknowledgementSlot.offsets {
      let page = (try? file.read(AcknowledgementSlot.byteCount, at: offset)) ?? []
      if let slot = try? AcknowledgementSlot(page.rawSpan) {
        return BaseReference(endingAt: slot.end).map { (slot.storeID, $0) }
      }
    }
    return nil
  }
}
