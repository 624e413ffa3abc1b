import Cryptography
import Platform
import TextFormat

/// A directory whose files are objects: a web server may serve it as it is.
///
/// A version is the SHA-256 of the contents. Conditions hold among all processes that write through this type, on one
/// machine: a lock (`flock`) of the file `.publish.lock` orders their writes. Readers need no lock.
///
/// A write goes to a file `.tmp-…` of the same directory, which is synced and then gets the object's name. So a killed
/// process leaves at most such a file, which the next write removes.
package struct DirectoryStore: ObjectStore {
  /// The steps of a write after which a process may be killed.
  enum Step: CaseIterable {
    case locked, written, synced, linked, named
  }

  static let lockName = ".publish.lock"
  static let temporaryPrefix = ".tmp-"

  /// The path as it was given, without slashes at its end.
  package let path: String
  /// The longest time to wait for the lock.
  private let lockTimeout: Duration
  /// For tests: whether the process dies after a step.
  private let dies: @Sendable (Step) -> Bool

  /// Creates a store. The directory is created by the first write.
  ///
  /// - Parameter path: The directory; its parents are created too.
  package init(_ path: String, lockTimeout: Duration = .seconds(30)) {
    self.init(path, lockTimeout: lockTimeout) { _ in false }
  }

  init(_ path: String, lockTimeout: Duration = .seconds(30), dies: @escaping @Sendable (Step) -> Bool) {
    let end = path.lastIndex { $0 != "/" }
    self.path = end.map { String(path[...$0]) } ?? (path.isEmpty ? "." : "/")
    self.lockTimeout = lockTimeout
    self.dies = dies
  }

  package var description: String { path }

  package func get(_ name: String, limit: Int) async throws(ObjectStoreError) -> StoredObject? {
    try ObjectName.check(name)
    return try await blocking { () throws(ObjectStoreError) in
      guard let bytes = try contents(of: name, limit: limit) else { return nil }
      return StoredObject(bytes: bytes, version: try Self.version(of: bytes))
    }
  }

  package func put(
    _ name: String, _ bytes: [UInt8], _ condition: PutCondition, _ type: ObjectType
  ) async throws(ObjectStoreError) -> PutResult {
    try ObjectName.check(name)
    return try await blocking { () throws(ObjectStoreError) in
      try DirectoryFiles.create(path)
      return try locked { () throws(ObjectStoreError) in try write(bytes, to: name, condition) }
    }
  }

  package func delete(_ name: String) async throws(ObjectStoreError) {
    try ObjectName.check(name)
    try await blocking { () throws(ObjectStoreError) in
      guard try DirectoryFiles.exists(file(name)) else { return }
      try locked { () throws(ObjectStoreError) in
        try DirectoryFiles.remove(file(name))
        try DirectoryFiles.sync(directory: DirectoryFiles.parent(of: file(name)))
      }
    }
  }

  package func exists(_ name: String) async throws(ObjectStoreError) -> Bool {
    try ObjectName.check(name)
    return try await blocking { () throws(ObjectStoreError) in try DirectoryFiles.exists(file(name)) }
  }

  // MARK: Under the lock

  private func write(
    _ bytes: [UInt8], to name: String, _ condition: PutCondition
  ) throws(ObjectStoreError) -> PutResult {
    try step(.locked)
    // All of these were left by processes that were killed: others remove their own before they give up the lock.
    for left in try DirectoryFiles.names(in: path) where left.hasPrefix(Self.temporaryPrefix) {
      try DirectoryFiles.remove(file(left))
    }
    if try !holds(condition, for: name) { return .preconditionFailed }
    let version = try Self.version(of: bytes)
    let target = file(name)
    try DirectoryFiles.create(DirectoryFiles.parent(of: target))
    let temporary = file("\(Self.temporaryPrefix)\(getpid())-\(UInt64.random(in: 0 ... .max))")
    do {
      try DirectoryFiles.write(bytes, to: temporary, beforeSync: { () throws(ObjectStoreError) in try step(.written) })
      try step(.synced)
      if condition == .ifAbsent, try DirectoryFiles.link(temporary, to: target) {
        try step(.linked)
        try DirectoryFiles.remove(temporary)
      } else if condition == .ifAbsent, try DirectoryFiles.exists(target) {
        // A process that does not use the lock was faster.
        try DirectoryFiles.remove(temporary)
        return .preconditionFailed
      } else {
        DirectoryFiles.makeLater(temporary, than: target)
        try DirectoryFiles.rename(temporary, to: target)
      }
      try step(.named)
      try DirectoryFiles.sync(directory: DirectoryFiles.parent(of: target))
    } catch {
      if error != Self.death { try? DirectoryFiles.remove(temporary) }
      throw error
    }
    return .written(version: version)
  }

  private func holds(_ condition: PutCondition, for name: String) throws(ObjectStoreError) -> Bool {
    switch condition {
    case .none: return true
    case .ifAbsent: return try !DirectoryFiles.exists(file(name))
    case .ifVersion(let version):
      guard let bytes = try contents(of: name, limit: .max - 1) else { return false }
      return try Self.version(of: bytes) == version
    }
  }

  /// What a step throws in a test in which the process dies.
  static let death = ObjectStoreError.cancelled

  private func step(_ step: Step) throws(ObjectStoreError) {
    if dies(step) { throw Self.death }
  }

  private func locked<Value>(
    _ body: () throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    let lock = try DirectoryFiles.openLock(file(Self.lockName))
    // The lock ends with its descriptor.
    defer { close(lock) }
    let end = ContinuousClock.now + lockTimeout
    while try !DirectoryFiles.tryLock(lock, path: file(Self.lockName)) {
      if ContinuousClock.now >= end { throw .locked(path: path) }
      usleep(10_000)
    }
    return try body()
  }

  // MARK: Files

  private func file(_ name: String) -> String { path == "/" ? "/" + name : path + "/" + name }

  private func contents(of name: String, limit: Int) throws(ObjectStoreError) -> [UInt8]? {
    let bytes: [UInt8]
    do { bytes = try SequentialFile(file(name)).readAll(limit: limit + 1) } catch {
      if error.kind == .missing { return nil }
      throw .storage(error)
    }
    if bytes.count > limit { throw .tooLarge(store: path, name: name, limit: limit) }
    return bytes
  }

  private static func version(of bytes: [UInt8]) throws(ObjectStoreError) -> String {
    try SHA256Text.text(of: bytes)
  }

  private func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws(ObjectStoreError) -> Value
  ) async throws(ObjectStoreError) -> Value {
    do { return try await BlockingThread.run(body) } catch {
      // Nothing else is thrown than what `body` throws.
      throw error as? ObjectStoreError ?? .cancelled
    }
  }
}

/// SHA-256 as text.
enum SHA256Text {
  /// The 64 lower-case digits of the SHA-256 of `bytes`.
  static func text(of bytes: [UInt8]) throws(ObjectStoreError) -> String {
    do {
      let hash = try Hash.sha256()
      try hash.update(bytes)
      return Hexadecimal.text(try hash.digest(), .lowercase)
    } catch { throw .cryptography(error) }
  }
}
