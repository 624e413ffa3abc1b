import Bytes
import LogStore
import Platform
import Storage
import TextFormat

// A backup is a directory like a root, with a copy of each store, and with a list of them that is written last. So one
// without the list was interrupted, and a backup can be read like any other root.

extension WorkspaceDirectory {
  /// Copies the stores of a user, or of everybody, into a new or empty directory. Other processes may write meanwhile.
  ///
  /// Each store is copied up to its last commit at that moment, so each is consistent in itself. Every copy is verified.
  /// If the backup fails, what it has written is removed, and the directory too if it did not exist before.
  ///
  /// - Parameters:
  ///   - path: The path of the directory.
  ///   - scope: Whose stores to copy.
  ///   - program: The name and the version of the program, for the list.
  ///   - announce: A closure that is called with the path of each store, relative to the root, before it is copied.
  /// - Throws: ``BackupError``; `WorkspaceError`.
  package func backUp(
    to path: String, _ scope: BackupScope, program: String, announcing announce: (String) -> Void = { _ in }
  ) throws -> Backup {
    let existing = try PosixDirectory.open(path)
    guard let nearest = existing ?? PosixDirectory.nearest(to: path) else {
      throw StorageError(operation: "create directory", path: path, code: ENOENT)
    }
    let missing = path.hasPrefix(nearest.path) ? path.dropFirst(nearest.path.count) : path[...]
    // Where a way back follows a directory that does not exist, it would not be known what the backup has created.
    if existing == nil, missing.split(separator: "/").contains("..") {
      throw StorageError(operation: "create directory", path: path, code: ENOENT)
    }
    // A copy in the root would be taken for stores of the root, and be lost with it. A root that cannot be opened is
    // reported by the copying.
    if let top = (try? PosixDirectory.open(root)) ?? nil, try nearest.isWithin(top) {
      throw BackupError.insideRoot(path: path, root: root)
    }
    do { return try backUp(creating: path, scope, program: program, announcing: announce) } catch {
      PosixDirectory.removeEmpty(from: path, upTo: nearest)
      throw error
    }
  }

  private func backUp(
    creating path: String, _ scope: BackupScope, program: String, announcing announce: (String) -> Void
  ) throws -> Backup {
    let target = try PosixDirectory.create(path)
    let found = try target.names()
    if !found.isEmpty {
      throw BackupError.notEmpty(path: path, isInterrupted: found.contains(Backup.unfinishedName))
    }
    let copy = elsewhere(path)
    do {
      try Backup.begin(in: target)
      var files: [Backup.File] = []
      for owner in try owners(in: scope) {
        let names = try storeNames(of: owner)
        // Without the keys nobody could read the copies.
        if !names.isEmpty, let keys = try keys(for: owner) { try copy.add(keys, of: owner) }
        for name in names {
          guard let source = try store(name, of: owner) else { continue }
          announce(Backup.path(name, of: owner))
          if let file = try copy.add(name, of: owner, from: source) { files.append(file) }
        }
      }
      if files.isEmpty {
        let others = try users().filter { try !storeNames(of: $0).isEmpty && $0 != scope.user }
        throw BackupError.noStores(root: root, user: scope.user, others: others)
      }
      let backup = Backup(
        program: program, created: CivilTime(milliseconds: StoreEnvironment.system.now() / 1000).secondsText,
        user: scope.user, files: files)
      try backup.write(to: target)
      return backup
    } catch {
      try? copy.clear(target)
      throw error
    }
  }

  /// Copies a store into this directory, and verifies the copy.
  private func add(_ name: String, of owner: String?, from source: StoreLocation) throws -> Backup.File? {
    let target = try makeStore(name, of: owner)
    guard let snapshot = try StoreCopy.make(of: source, at: target) else { return nil }
    if let finding = try Verification.run(target)?.findings.first {
      throw BackupError.damagedStore(path: source.path, what: "offset \(finding.offset): \(finding.what)")
    }
    let (byteCount, checksum) = try Self.checksum(of: target)
    return Backup.File(
      user: owner, store: name, bytes: byteCount, crc32c: checksum, sequence: Int(clamping: snapshot.sequence))
  }

  /// The keys of a user, or with `nil` of the default stores; `nil` if those are in clear.
  private func keys(for owner: String?) throws -> KeyFile? {
    guard let directory = try directory(of: owner) else { return nil }
    do throws(KeyError) { return try KeyFile.read(in: directory) } catch { throw WorkspaceError.keys(error) }
  }

  /// Writes keys into this directory.
  private func add(_ keys: KeyFile, of owner: String?) throws {
    let directory = try makeDirectory(of: owner)
    do throws(KeyError) { try keys.write(in: directory) } catch { throw WorkspaceError.keys(error) }
  }

  /// Removes what a failed backup has written into this directory, and nothing else.
  private func clear(_ root: PosixDirectory) throws {
    for owner in try owners(in: .all) {
      guard let directory = try directory(of: owner) else { continue }
      for name in try directory.names() where name.hasSuffix(".log") || name.hasSuffix(".new") {
        _ = try directory.remove(name)
      }
      do throws(KeyError) { try KeyFile.destroy(in: directory) } catch { throw WorkspaceError.keys(error) }
    }
    for part in ["users", "default"] {
      guard let directory = try open([part]) else { continue }
      try Self.removeEmpty(directory)
      _ = try? root.removeDirectory(part)
    }
    _ = try root.remove(Backup.unfinishedName)
  }

  private static func removeEmpty(_ directory: PosixDirectory) throws {
    for name in try directory.names() {
      guard try directory.isDirectory(name), let below = try directory.subdirectory(name) else { continue }
      try removeEmpty(below)
      _ = try? directory.removeDirectory(name)
    }
  }

  // MARK: Restoring

  /// Replaces stores by those of a backup. Other processes may read and write meanwhile.
  ///
  /// All of these stores of the backup are verified before anything is changed. Then each store is replaced atomically,
  /// one after the other. A store of which the backup has no copy stays as it is.
  ///
  /// - Parameters:
  ///   - path: The path of the backup.
  ///   - scope: Whose stores to restore.
  ///   - replaces: Whether stores that exist may be replaced.
  ///   - announce: A closure that is called with the path of each store, relative to the root, before it is written.
  /// - Returns: The restored files.
  /// - Throws: ``BackupError``, with nothing changed, except by `.noRoom`; that, `WorkspaceError` and `StoreError`: the
  ///   stores that were announced before the last one have been replaced.
  package func restore(
    from path: String, _ scope: BackupScope, replaces: Bool, announcing announce: (String) -> Void = { _ in }
  ) throws -> [Backup.File] {
    // Users come back as they are in the backup, sealed or in clear.
    if sealsNewUsers != false {
      var plain = self
      plain.sealsNewUsers = false
      return try plain.restore(from: path, scope, replaces: replaces, announcing: announce)
    }
    let backup = try Backup.read(at: path)
    let copy = elsewhere(path)
    let files = backup.files.filter { file in
      guard let user = scope.user else { return true }
      return file.user?.hasSameBytes(as: user) == true
    }
    if files.isEmpty {
      throw BackupError.noSuchUser(path: path, user: scope.user, others: Array(Set(backup.files.compactMap(\.user))))
    }
    for file in files { try copy.check(file) }
    var existing: [String] = []
    for file in files {
      if let location = try store(file.store, of: file.user), try StoreCopy.hasStore(location) {
        existing.append(location.path)
      }
    }
    if let first = existing.first, !replaces { throw BackupError.exists(path: first, count: existing.count) }
    for owner in try copy.owners(in: scope) where files.contains(where: { $0.user == owner }) {
      guard let keys = try copy.keys(for: owner), try self.keys(for: owner)?.keyID != keys.keyID else { continue }
      // A store that is only in the backup is copied as it is, so its key must be the one of its neighbours.
      if try !storeNames(of: owner).isEmpty { throw BackupError.otherKeys(path: path, user: owner) }
      try add(keys, of: owner)
    }
    for (index, file) in files.enumerated() {
      guard let source = try copy.store(file.store, of: file.user) else { continue }
      announce(file.path)
      let lifetime = file.store == "catalogue" ? try previousLifetime(of: file.user) : .zero
      do {
        _ = try StoreCopy.restore(
          source, to: makeStore(file.store, of: file.user), lockTimeout: lockTimeout, previousLifetime: lifetime)
        // That it may be older than what was here is meant.
        try acceptStore(file.store, of: file.user)
      } catch StoreError.noRoom(let path, let needed, let available) {
        throw BackupError.noRoom(
          path: path, needed: needed, available: available, restored: files[..<index].map(\.path))
      }
    }
    return files
  }

  /// The stores of this scope that a backup does not have, as paths relative to the root. A restoration leaves them.
  package func storesMissing(in files: [Backup.File], _ scope: BackupScope) throws -> [String] {
    let saved = Set(files.map(\.path))
    var missing: [String] = []
    for owner in try owners(in: scope) {
      for name in try storeNames(of: owner) where !saved.contains(Backup.path(name, of: owner)) {
        missing.append(Backup.path(name, of: owner))
      }
    }
    return missing
  }

  /// Checks that a file of this backup is there, and is the one that was written.
  private func check(_ file: Backup.File) throws {
    let path = root + "/" + file.path
    func damaged(_ what: String) -> BackupError { .damaged(path: path, what: what) }
    do {
      guard file.store.utf8.count <= StoreLocation.maximumNameByteCount, PosixDirectory.isName(file.store),
        let location = try store(file.store, of: file.user),
        try location.directory.identity(of: file.store + ".log") != nil
      else { throw damaged("there is no such file") }
      if try location.directory.byteCount(of: file.store + ".log") == nil { throw damaged("it is no regular file") }
      let (byteCount, checksum) = try Self.checksum(of: location)
      if byteCount != file.bytes { throw damaged("it has \(byteCount) bytes, and \(file.bytes) were written") }
      if checksum != file.crc32c { throw damaged("its checksum is another one") }
      if let finding = try Verification.run(location)?.findings.first {
        throw damaged("offset \(finding.offset): \(finding.what)")
      }
      let sequence = try StoreReader.open(location)?.snapshot.sequence ?? 0
      if sequence != UInt64(clamping: file.sequence) {
        throw damaged("its last commit is \(sequence), and \(Backup.listName) lists \(file.sequence)")
      }
    } catch WorkspaceError.userID {
      let list = root + "/" + Backup.listName
      throw BackupError.damaged(path: list, what: "it lists a store of a user with an invalid ID")
    } catch WorkspaceError.store(.io(let error)) where [ELOOP, ENOTDIR].contains(error.code) {
      throw damaged("\(error.path) is no directory")
    } catch StoreError.newer {
      throw BackupError.newer(path: path)
    } catch StoreError.unusable(_, let reason) {
      throw damaged(reason)
    } catch StoreError.damaged(_, let offset, let what) {
      throw damaged("offset \(offset): \(what)")
    }
  }

  // MARK: Files

  private func owners(in scope: BackupScope) throws -> [String?] {
    switch scope {
    case .user(let id): [id]
    case .all: [nil] + (try users()).map(Optional.some)
    }
  }

  /// The names of the stores in a user's directory, or with `nil` in the default one.
  private func storeNames(of owner: String?) throws -> [String] {
    guard let directory = try directory(of: owner) else { return [] }
    let names = try directory.names().filter { $0.hasSuffix(".log") }.map { String($0.dropLast(4)) }
    return names.filter { 1...StoreLocation.maximumNameByteCount ~= $0.utf8.count && PosixDirectory.isName($0) }
  }

  /// The size of a store's log, and the checksum over all of its bytes.
  private static func checksum(of location: StoreLocation) throws -> (byteCount: Int, checksum: Int) {
    guard let file = try location.directory.open(location.name + ".log", .read) else { return (0, 0) }
    var checksum: UInt32 = 0
    var offset = 0
    while true {
      let bytes = try file.read(1 << 20, at: offset)
      if bytes.isEmpty { return (offset, Int(checksum)) }
      checksum = Checksum.of(bytes, from: checksum)
      offset += bytes.count
    }
  }
}
