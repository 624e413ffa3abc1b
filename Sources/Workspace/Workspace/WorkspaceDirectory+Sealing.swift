package import LogStore
import Platform
import Sealing
import Storage

// Documentation/Format/Keys.md says which steps a change has, and what a power cut leaves. All of them hold the lock of
// the keys. Each store is written anew by its writer, so another process that writes to it makes them wait, and fail.

/// What a command about the keys of a user has done.
package struct SealingReport: Sendable, Equatable {
  /// Whether the keys were changed.
  package var changedKeys = false
  /// The names of the stores that were written anew.
  package var stores: [String] = []
  /// The names of files among the stores that are no stores, and stay in clear.
  package var clearFiles: [String] = []
}

extension WorkspaceDirectory {
  /// The keys of a user; `nil` if the user's stores are in clear. Needs no key.
  ///
  /// - Throws: `WorkspaceError.noSuchUser`, `.keys`, `.userID`, `.store`.
  package func keys(of id: String) throws -> KeyFile? {
    let directory = try home(of: id)
    return try keyed { () throws(KeyError) in try KeyFile.read(in: directory) }
  }

  /// Whether all stores of a user are sealed. Needs no key.
  ///
  /// - Throws: As ``keys(of:)``; `StoreError`.
  package func isSealed(_ id: String) throws -> Bool {
    let directory = try home(of: id)
    guard try keyed({ () throws(KeyError) in try KeyFile.exists(in: directory) }) else { return false }
    return try stores(in: directory).allSatisfy { try $0.isSealed() != false }
  }

  // MARK: Sealing

  /// Seals all stores of a user. Goes on where a call before was interrupted.
  ///
  /// The key of the workspace opens them from then on. What was there in clear is removed: the former files, the
  /// generation before, what repairs set aside, and the link to a shared base.
  ///
  /// - Parameter announce: Called with the name of each store before it is written anew. If it throws, that is the end.
  /// - Throws: `WorkspaceError.keys`, `.noSuchUser`; `StoreError.locked`, `.noRoom` and others, with some stores sealed:
  ///   all of them are readable with the key.
  package func seal(
    _ id: String, cost: PassphraseCost = .standard, announcing announce: (String) throws -> Void = { _ in }
  ) throws -> SealingReport {
    try changingKeys(of: id) { directory in
      var report = SealingReport()
      let path = directory.path + "/" + KeyFile.name
      let material = try keyed { () throws(KeyError) in try keyRing.material(for: path) }
      var file: KeyFile
      let keys: KeyFile.Keys
      if let found = try keyed({ () throws(KeyError) in try KeyFile.read(in: directory) }) {
        file = found
        keys = try keyed { () throws(KeyError) in try found.unlock(with: material) }
        if file.state == .unsealing {
          file = try keyed { () throws(KeyError) in try found.setting(.sealing, keys.current) }
          try write(file, directory, &report)
        }
      } else {
        // Stores that are sealed without keys have lost them: other keys would not open them.
        for store in try stores(in: directory) where try store.isSealed() == true {
          throw StoreError.sealed(path: store.path, isOtherKey: true)
        }
        let now = StoreEnvironment.system.now()
        file = try keyed { () throws(KeyError) in
          try KeyFile.new(path: path, with: material, cost: cost, now: now).file
        }
        try write(file, directory, &report)
        let made = file
        keys = try keyed { () throws(KeyError) in try made.unlock(with: material) }
      }
      try rewrite(directory, keys, sealed: true, &report, announce)
      if file.state != .sealed || file.former != nil {
        let last = file
        let done = try keyed { () throws(KeyError) in
          try last.setting(.sealed, keys.current).withoutFormer(keys.current)
        }
        try write(done, directory, &report)
      }
      report.clearFiles = try directory.names().filter { !Self.isOwn($0) }.sorted()
      return report
    }
  }

  /// Whether a file in a user's directory is one that this project writes: a store, the keys, a lock, or what is kept of
  /// a publication, which everybody can read.
  private static func isOwn(_ name: String) -> Bool {
    name == KeyFile.name || name.hasSuffix(".log") || name.hasSuffix(".lock") || name.hasPrefix("publication-")
  }

  /// Writes all stores of a user in clear, and destroys the keys. Goes on where a call before was interrupted.
  ///
  /// - Parameter announce: Called with the name of each store before it is written anew. If it throws, that is the end.
  /// - Throws: As ``seal(_:cost:announcing:)``; `KeyError.notSealed`.
  package func unseal(_ id: String, announcing announce: (String) throws -> Void = { _ in }) throws -> SealingReport {
    try changingKeys(of: id) { directory in
      var report = SealingReport()
      let file = try existingKeys(directory)
      let keys = try keyed { () throws(KeyError) in try keyRing.keys(of: file) }
      if file.state != .unsealing {
        try write(keyed { () throws(KeyError) in try file.setting(.unsealing, keys.current) }, directory, &report)
      }
      try rewrite(directory, keys, sealed: false, &report, announce)
      try keyed { () throws(KeyError) in try KeyFile.destroy(in: directory) }
      report.changedKeys = true
      return report
    }
  }

  // MARK: Keys

  /// Lets another key or passphrase open the stores instead of the one of the workspace.
  ///
  /// If a call before was interrupted, or is repeated, the new key opens the stores already: then nothing is left to do but
  /// what was not finished.
  ///
  /// - Parameters:
  ///   - new: The new key or passphrase.
  ///   - replacesDataKey: Whether the data key is replaced too, and all stores written anew. Then all other keys and
  ///     passphrases end.
  ///   - announce: Called with the name of each store before it is written anew.
  /// - Throws: As ``seal(_:cost:announcing:)``; `KeyError.notSealed`.
  package func rekey(
    _ id: String, to new: KeySource, replacesDataKey: Bool = false, cost: PassphraseCost = .standard,
    announcing announce: (String) throws -> Void = { _ in }
  ) throws -> SealingReport {
    try changingKeys(of: id) { directory in
      var report = SealingReport()
      var file = try existingKeys(directory)
      let material = try keyed { () throws(KeyError) in try new.read() }
      let now = StoreEnvironment.system.now()
      if file.former != nil {
        // A change of the data key was interrupted. Either key may be the one that opens it.
        try finish(&file, keys: opened(file, material), directory, &report, announce)
        let finished = file
        if (try? finished.unlock(with: material)) != nil { return report }
      }
      let last = file
      let old: KeyFile.Keys
      do { old = try keyed { () throws(KeyError) in try keyRing.keys(of: last) } } catch WorkspaceError.keys(.otherKey)
      {
        // The new key has replaced the old one already.
        _ = try keyed { () throws(KeyError) in try last.unlock(with: material) }
        return report
      }
      if replacesDataKey {
        var (next, keys) = try keyed { () throws(KeyError) in
          try last.replacingDataKey(old, with: material, cost: cost, now: now)
        }
        try write(next, directory, &report)
        try finish(&next, keys: keys, directory, &report, announce)
      } else {
        let next = try keyed { () throws(KeyError) in try last.replacing(old, with: material, cost: cost, now: now) }
        try write(next, directory, &report)
      }
      return report
    }
  }

  /// The keys that the new key opens, or the one of the workspace.
  private func opened(_ file: KeyFile, _ material: KeyMaterial) throws -> KeyFile.Keys {
    do { return try keyed { () throws(KeyError) in try file.unlock(with: material) } } catch WorkspaceError.keys(
      .otherKey)
    { return try keyed { () throws(KeyError) in try keyRing.keys(of: file) } }
  }

  /// Writes all stores anew with the current data key, and takes the former one out of the file.
  private func finish(
    _ file: inout KeyFile, keys: KeyFile.Keys, _ directory: PosixDirectory, _ report: inout SealingReport,
    _ announce: (String) throws -> Void
  ) throws {
    try rewrite(directory, keys, sealed: true, &report, announce)
    let last = file
    file = try keyed { () throws(KeyError) in try last.withoutFormer(keys.current) }
    try write(file, directory, &report)
  }

  /// Lets one more key or passphrase open the stores.
  ///
  /// - Returns: The new wrapping.
  /// - Throws: `WorkspaceError.keys`, `.noSuchUser`.
  package func addKey(
    _ new: KeySource, of id: String, cost: PassphraseCost = .standard
  ) throws -> KeyWrapping {
    try changingKeys(of: id) { directory in
      let file = try existingKeys(directory)
      let next = try keyed { () throws(KeyError) in
        let keys = try keyRing.keys(of: file)
        let now = StoreEnvironment.system.now()
        return try file.adding(new.read(), of: keys.current, cost: cost, now: now)
      }
      var report = SealingReport()
      try write(next, directory, &report)
      return next.wrappings[next.wrappings.count - 1]
    }
  }

  /// Takes a key or passphrase from the stores. Needs no key.
  ///
  /// - Throws: `WorkspaceError.keys`, `.noSuchUser`.
  package func removeKey(_ wrapping: String, of id: String) throws {
    try changingKeys(of: id) { directory in
      let file = try existingKeys(directory)
      var report = SealingReport()
      try write(keyed { () throws(KeyError) in try file.removing(wrapping) }, directory, &report)
    }
  }

  // MARK: Steps

  private func changingKeys<Result>(of id: String, _ body: (PosixDirectory) throws -> Result) throws -> Result {
    let directory = try home(of: id)
    let lock = try keyed { () throws(KeyError) in try KeyFile.lock(in: directory) }
    defer { lock.release() }
    return try body(directory)
  }

  /// Verifies what can be verified of a user's stores without a key: frames, checksums and counters.
  ///
  /// - Throws: `WorkspaceError.noSuchUser`; `StoreError.io`.
  package func structureFindings(of id: String) throws -> [Finding] {
    var findings: [Finding] = []
    for store in try stores(in: home(of: id)) {
      findings += try Verification.runStructure(store)?.findings ?? []
    }
    return findings
  }

  private func home(of id: String) throws -> PosixDirectory {
    guard let directory = try directory(of: id) else { throw WorkspaceError.noSuchUser(id) }
    return directory
  }

  private func existingKeys(_ directory: PosixDirectory) throws -> KeyFile {
    try keyed { () throws(KeyError) in
      guard let file = try KeyFile.read(in: directory) else {
        throw .notSealed(path: directory.path + "/" + KeyFile.name)
      }
      return file
    }
  }

  private func write(_ file: KeyFile, _ directory: PosixDirectory, _ report: inout SealingReport) throws {
    try keyed { () throws(KeyError) in try file.write(in: directory) }
    report.changedKeys = true
  }

  /// The stores in a directory, with no key.
  ///
  /// - Parameter beginning: Whether to include stores whose first commit another process may be writing: they have a lock
  ///   and no log.
  private func stores(in directory: PosixDirectory, beginning: Bool = false) throws -> [StoreLocation] {
    let files = try directory.names().filter { $0 != KeyFile.lockName }
    let names = Set(
      files.filter { $0.hasSuffix(".log") }.map { String($0.dropLast(4)) }
        + files.filter { beginning && $0.hasSuffix(".lock") }.map { String($0.dropLast(5)) })
    let valid = names.filter { 1...StoreLocation.maximumNameByteCount ~= $0.utf8.count && PosixDirectory.isName($0) }
    return valid.sorted().map { StoreLocation(directory, name: $0, environment: .system(notify: notify)) }
  }

  /// Writes all stores of a directory in one form.
  private func rewrite(
    _ directory: PosixDirectory, _ keys: KeyFile.Keys, sealed: Bool, _ report: inout SealingReport,
    _ announce: (String) throws -> Void
  ) throws {
    var done: Set<String> = []
    // Another process may make a store meanwhile, which has not yet seen the change of the keys.
    while true {
      let next = try stores(in: directory, beginning: true).filter { !done.contains($0.name) }
      if next.isEmpty { return }
      for store in next {
        if try directory.identity(of: store.name + ".log") != nil { try announce(store.name) }
        let identity = try directory.identity(of: store.name + ".log")
        let writer = try StoreWriter(
          store.opening(with: keys, sealsNew: sealed), schema: Schema([]), lockTimeout: lockTimeout)
        do {
          defer { writer.close() }
          if let snapshot = try writer.rewrite(sealed: sealed), sealed {
            KeyFile.mark(store.name, DurableCommit(.copy, snapshot), in: directory, keyRing)
          }
          // What an interrupted compaction left may have the other form. Its writer has the lock.
          _ = try directory.remove(store.name + ".new")
        }
        if try directory.identity(of: store.name + ".log") != identity { report.stores.append(store.name) }
        done.insert(store.name)
      }
    }
  }

  @discardableResult
  private func keyed<Result>(_ body: () throws(KeyError) -> Result) throws -> Result {
    do { return try body() } catch { throw WorkspaceError.keys(error) }
  }
}
