import Foundation
import Platform
import Storage
import StoreTestSupport
import Synchronization
import Testing
@testable import LogStore

/// The two locks of a writer, and what is told of who holds them.
@Suite struct WriterLockTests {
  private let temporary: TemporaryDirectory
  private let location: StoreLocation

  init() throws {
    temporary = try TemporaryDirectory()
    location = StoreLocation.test(temporary.directory, name: "s")
  }

  private func writer(_ location: StoreLocation, _ timeout: Duration = .zero) throws -> StoreWriter {
    try StoreWriter(location, schema: TestSchema.schema, lockTimeout: timeout)
  }

  /// The holder that a refused writer is told; fails if it is not refused.
  private func refusal(_ location: StoreLocation) throws -> String? {
    do {
      try writer(location).close()
      Issue.record("the writer was not refused")
    } catch StoreError.locked(let path, let holder) {
      #expect(path == location.path)
      return holder
    }
    return nil
  }

  /// Another directory in which the log has a second name, and so another lock file: as where the log alone is mounted
  /// into a second container.
  private func secondName() throws -> StoreLocation {
    let other = try PosixDirectory.create(temporary.path + "/other")
    try other.link("s.log", of: temporary.directory, to: "s.log")
    return StoreLocation.test(other, name: "s")
  }

  @Test func `one log under two lock files has one writer`() throws {
    let first = try writer(location)
    _ = try NumberedStore.commit(first)
    let other = try secondName()
    let holder = try #require(try refusal(other))
    #expect(holder.contains("s.lock") && holder.contains("mount its directory"), "\(holder)")
    // What rests holds nothing.
    first.rest()
    let second = try writer(other)
    try NumberedStore.check(try NumberedStore.commit(second))
    #expect(throws: StoreError.self) { try first.resume(lockTimeout: .zero) }
    second.close()
    #expect(try !first.resume(lockTimeout: .zero), "the store has another commit")
    let third = try writer(location)
    #expect(third.nextSequence == 3)
    try NumberedStore.check(try NumberedStore.commit(third))
    third.close()
    try NumberedStore.check(try NumberedStore.commit(writer(other)))
  }

  @Test func `repair and setting aside respect the lock of the log`() throws {
    let first = try writer(location)
    _ = try NumberedStore.commit(first)
    let other = try secondName()
    let attempts: [() throws -> Void] = [
      { _ = try Repair.run(other, schema: TestSchema.schema) }, { _ = try other.setAside { true } },
    ]
    for attempt in attempts {
      #expect { try attempt() } throws: { if case StoreError.locked = $0 { true } else { false } }
    }
    first.close()
    #expect(try Repair.run(other, schema: TestSchema.schema)?.findings.isEmpty == true)
    #expect(try other.setAside { true } != nil)
  }

  @Test func `a new generation is locked before anybody can open it by its name`() throws {
    let looks = Mutex<[Bool]>([])
    let directory = WatchedDirectory(base: temporary.directory) {
      let other = try? PosixDirectory.open(temporary.path)?.lockFile("s.log")
      let isHeld = if case .held? = other { true } else { false }
      looks.withLock { $0.append(isHeld) }
    }
    let writer = try writer(StoreLocation.test(directory, name: "s"))
    for _ in 0..<2 { _ = try NumberedStore.commit(writer, isGeneration: true) }
    _ = try writer.compact()
    #expect(looks.withLock { $0 } == [true, true, true])
    writer.close()
    guard case .taken(let lock) = try temporary.directory.lockFile("s.log") else {
      Issue.record("the lock of the log was not released")
      return
    }
    lock.release()
  }

  private final class Failures: Sendable {
    let list = Mutex<[String]>([])
  }

  @Test func `writers with lock files of their own lose no commit, across generations too`() async throws {
    let (count, writers) = (30, 3)
    // A log that is mounted is there before.
    let first = try writer(location)
    _ = try NumberedStore.commit(first)
    first.close()
    let failures = Failures()
    let directory = temporary.directory
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<writers {
        group.addTask {
          let location = StoreLocation.test(AliasDirectory(base: directory, suffix: "\(number)"), name: "s")
          for round in 0..<count {
            do {
              let writer = try StoreWriter(location, schema: TestSchema.schema, lockTimeout: .seconds(600))
              try NumberedStore.check(try NumberedStore.commit(writer, isGeneration: (round + number) % 5 == 0))
              if round % 7 == 0 { _ = try writer.compact() }
              writer.close()
            } catch { failures.list.withLock { $0.append("\(error)") } }
            await Task.yield()
          }
        }
      }
    }
    #expect(failures.list.withLock { $0 } == [])
    let snapshot = try #require(try StoreReader.open(location)).snapshot
    #expect(snapshot.sequence == UInt64(count * writers + 1))
    try NumberedStore.check(snapshot)
    #expect(try Verification.run(location)?.findings.isEmpty == true)
  }

  @Test func `who is refused is told who writes, and the file of the lock is empty again`() throws {
    let first = try writer(location)
    let holder = try #require(try refusal(location))
    #expect(holder == "\(LockHolder.current)")
    #expect(holder.hasPrefix("process \(getpid()) (") && holder.contains(") on "))
    #expect("\(StoreError.locked(path: "/s.log", holder: holder))".contains(holder))
    #expect(LockHolder(try temporary.contents("s.lock")) == LockHolder.current)
    first.close()
    #expect(try temporary.contents("s.lock") == [])
    // A writer that rests leaves its line, which nobody believes as long as the lock is free.
    let second = try writer(location)
    _ = try NumberedStore.commit(second)
    second.rest()
    #expect(try temporary.contents("s.lock") != [])
    try writer(location).close()
  }

  @Test func `what a process that has ended has left is not believed`() throws {
    // A process of an earlier version locks the file and writes no line.
    var ended = LockHolder.current
    ended.process = .max
    var elsewhere = ended
    elsewhere.host += "-other"
    var container = ended
    container.namespace += 1
    for (line, isBelieved) in [
      (ended.line, false), (elsewhere.line, true), (container.line, true), (LockHolder.current.line, true),
      ("process 1 (a) on", false), ("", false),
    ] {
      try temporary.write(Array((line + "\n").utf8), to: "s.lock")
      let lock = try #require(try temporary.directory.lock("s.lock"))
      let holder = try refusal(location)
      #expect((holder != nil) == isBelieved, "\(line)")
      lock.release()
    }
    #expect("\(StoreError.locked(path: "/s.log"))".contains("another process"))
  }

  @Test(arguments: [true, false], ["", "rest: of a file\n", "process 1 (a) on b, PID namespace 1\n", "a\nb\n"])
  func `a file that is not, or not only, a lock file keeps its bytes`(isLinked: Bool, text: String) throws {
    try temporary.write(Array(text.utf8), to: isLinked ? "target" : "s.lock")
    if isLinked { try temporary.directory.link("target", to: "s.lock") }
    // A C string for the call.
    #expect(unsafe chmod(temporary.path + "/s.lock", 0o640) == 0)
    let isLine = !isLinked && (text.isEmpty || text.hasPrefix("process"))
    let first = try writer(location)
    _ = try NumberedStore.commit(first)
    _ = try refusal(location)
    #expect(try temporary.contents("s.lock") == Array((isLine ? "\(LockHolder.current.line)\n" : text).utf8))
    first.close()
    #expect(try temporary.contents("s.lock") == Array((isLine ? "" : text).utf8))
    if isLinked {
      let mode = try FileManager.default.attributesOfItem(atPath: temporary.path + "/target")[.posixPermissions] as? Int
      #expect(mode == 0o640)
    }
  }

  @Test func `a lock file that gets a second name is not written any more`() throws {
    let first = try writer(location)
    try temporary.directory.link("s.lock", to: "copy")
    let text = try temporary.contents("s.lock")
    first.close()
    #expect(try temporary.contents("copy") == text && text != [])
  }

  @Test func `lines of lock files`() throws {
    let holder = LockHolder(process: 7, program: "catalogd", host: "till-7", namespace: 42)
    #expect(holder.line == "process 7 (catalogd) on till-7, PID namespace 42")
    #expect(LockHolder(Array("\(holder.line)\nrest".utf8)) == holder)
    for bad in [
      "", "\n", holder.line, "process x (a) on b, PID namespace 1\n", "process 0 (a) on b, PID namespace 1\n",
      "process 1 (a) on b, PID namespace x\n", "process 1 (a\u{1}) on b, PID namespace 1\n", "process 1 (a) on b\n",
      String(repeating: " ", count: 300) + "\n",
    ] { #expect(LockHolder(Array(bad.utf8)) == nil, "\(bad)") }
    #expect(LockHolder.current.line.utf8.count < LockHolder.lineLimit)
    #expect(LockHolder(Array("\(LockHolder.current.line)\n".utf8)) == .current)
  }

  @Test(arguments: [EINVAL, ENOSYS, ENOLCK, ENOTSUP])
  func `a system without locks of open files is told`(code: Int32) throws {
    let words = "\(StoreError.io(StorageError(operation: "lock", path: "/s.lock", code: code)))"
    #expect(words.contains("/s.lock") && words.contains("two programs could write at once"), "\(words)")
    #expect(words.contains(code == EINVAL || code == ENOSYS ? "F_OFD_SETLK" : "file system"), "\(words)")
  }
}

/// A directory that gives files other lock files than those that everybody else uses.
private struct AliasDirectory: StorageDirectory {
  let base: PosixDirectory
  let suffix: String

  var path: String { base.path }
  func lock(_ name: String) throws(StorageError) -> (any StorageLock)? { try base.lock(name + suffix) }
  /// Each has its own file for what is not finished, as each would have in its own directory.
  private func own(_ name: String) -> String { name.hasSuffix(".new") ? name + suffix : name }
  func lockFile(_ name: String) throws(StorageError) -> FileLock { try base.lockFile(own(name)) }
  func identity(of name: String) throws(StorageError) -> FileIdentity? { try base.identity(of: name) }
  func open(_ name: String, _ mode: OpenMode) throws(StorageError) -> (any StorageFile)? {
    try base.open(own(name), mode)
  }
  func rename(_ old: String, to new: String) throws(StorageError) { try base.rename(own(old), to: new) }
  func link(_ old: String, to new: String) throws(StorageError) { try base.link(old, to: new) }
  func link(_ old: String, of other: any StorageDirectory, to new: String) throws(StorageError) {
    try base.link(old, of: other, to: new)
  }
  func remove(_ name: String) throws(StorageError) -> Bool { try base.remove(own(name)) }
  func names() throws(StorageError) -> [String] { try base.names() }
  func sync() throws(StorageError) { try base.sync() }
}

/// A directory that tells when a file has got the name of the log.
private struct WatchedDirectory: StorageDirectory {
  let base: PosixDirectory
  let renamed: @Sendable () -> Void

  var path: String { base.path }
  func lock(_ name: String) throws(StorageError) -> (any StorageLock)? { try base.lock(name) }
  func lockFile(_ name: String) throws(StorageError) -> FileLock { try base.lockFile(name) }
  func identity(of name: String) throws(StorageError) -> FileIdentity? { try base.identity(of: name) }
  func open(_ name: String, _ mode: OpenMode) throws(StorageError) -> (any StorageFile)? { try base.open(name, mode) }
  func rename(_ old: String, to new: String) throws(StorageError) {
    try base.rename(old, to: new)
    renamed()
  }
  func link(_ old: String, to new: String) throws(StorageError) { try base.link(old, to: new) }
  func link(_ old: String, of other: any StorageDirectory, to new: String) throws(StorageError) {
    try base.link(old, of: other, to: new)
  }
  func remove(_ name: String) throws(StorageError) -> Bool { try base.remove(name) }
  func names() throws(StorageError) -> [String] { try base.names() }
  func sync() throws(StorageError) { try base.sync() }
}
