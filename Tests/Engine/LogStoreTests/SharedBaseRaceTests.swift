import Foundation
import RandomTestSupport
import Storage
import StoreTestSupport
import Synchronization
import Testing

@testable import LogStore
import Platform

/// A source that gets other files while its log is adopted.
@Suite(.disabled(if: testsAreSealed, "sealed stores share nothing")) struct SharedBaseRaceTests {
  private let stores: SharedStores

  init() throws { stores = try SharedStores() }

  /// Adopts into b what a has, and lets `happen` come just before the first link.
  private func adopt(_ source: String, _ happen: @escaping @Sendable () throws -> Void) throws -> Snapshot? {
    let target = LateDirectory(base: try stores.directory("b"), happen: happen)
    return try BaseAdoption.adopt(
      from: stores.location(source), into: StoreLocation.test(target, name: "s"), lockTimeout: .seconds(5))
  }

  @Test func `a source that is compacted between its opening and the link is opened again`() throws {
    _ = try stores.fill("a", commits: 3)
    let stores = stores
    let found = try adopt("a") { _ = try stores.writer("a").compact() }
    try NumberedStore.check(#require(found))
    #expect(found?.generation == 2)
    #expect(try stores.status("b", "s.base").inode == stores.status("a", "s.log").inode)
    #expect(try stores.names("b") == ["s.base", "s.lock", "s.log"])
  }

  @Test func `a source whose log is removed between its opening and the link leaves no store`() throws {
    _ = try stores.fill("a", commits: 3)
    let stores = stores
    #expect(try adopt("a") { _ = try stores.directory("a").remove("s.log") } == nil)
    #expect(try stores.names("b") == ["s.lock"])
  }

  @Test func `a tail log that gives up its base between its opening and the link is opened again`() throws {
    _ = try stores.fill("a", commits: 3)
    #expect(try stores.adopt("a", "c") == 3)
    let stores = stores
    let found = try adopt("c") {
      let writer = try stores.writer("c")
      _ = try NumberedStore.commit(writer)
      _ = try writer.compact()
    }
    try NumberedStore.check(#require(found))
    #expect(found?.sequence == 4)
    #expect(try stores.status("b", "s.base").inode == stores.status("c", "s.log").inode)
  }

  @Test func `a source that goes on between its opening and the link is shared as it was`() throws {
    _ = try stores.fill("a", commits: 3)
    let stores = stores
    let found = try adopt("a") { _ = try stores.fill("a", commits: 2) }
    #expect(found?.sequence == 3)
    try NumberedStore.check(#require(found))
    #expect(try stores.reader("a").snapshot.sequence == 5)
    #expect(try stores.fill("b", commits: 1).sequence == 4)
    try NumberedStore.check(stores.reader("b").snapshot)
    try NumberedStore.check(stores.reader("a").snapshot)
  }

  @Test func `who opens a store while it is adopted and written anew finds none, or a whole one`() throws {
    _ = try stores.fill("a", commits: 3)
    let location = try stores.location("b")
    let seen = Atomic(0)
    let isDone = Atomic(false)
    let failure = Mutex<String?>(nil)
    // A thread of its own: the task pool may be busy with other tests.
    Thread.detachNewThread {
      do {
        while !isDone.load(ordering: .relaxed) {
          guard let reader = try StoreReader.open(location) else { continue }
          try NumberedStore.check(reader.snapshot)
          seen.add(1, ordering: .relaxed)
        }
      } catch { failure.withLock { $0 = "\(error)" } }
      isDone.store(false, ordering: .relaxed)
    }
    for _ in 0..<12 * depth {
      #expect(try stores.adopt("a", "b") == 3)
      let writer = try stores.writer("b")
      _ = try NumberedStore.commit(writer)
      _ = try writer.compact()
      writer.close()
      #expect(try location.directory.identity(of: "s.base") == nil)
      try location.directory.remove("s.log")
    }
    #expect(try stores.adopt("a", "b") == 3)
    while seen.load(ordering: .relaxed) < 10, failure.withLock({ $0 }) == nil { sched_yield() }
    isDone.store(true, ordering: .relaxed)
    while isDone.load(ordering: .relaxed) { sched_yield() }
    #expect(failure.withLock { $0 } == nil)
  }
}

/// A directory in which something happens before the first link from another one.
private final class LateDirectory: StorageDirectory {
  private let base: PosixDirectory
  private let happen: @Sendable () throws -> Void
  private let isLate = Atomic(false)

  init(base: PosixDirectory, happen: @escaping @Sendable () throws -> Void) {
    self.base = base
    self.happen = happen
  }

  var path: String { base.path }

  func link(_ old: String, of other: any StorageDirectory, to new: String) throws(StorageError) {
    if !isLate.exchange(true, ordering: .relaxed) {
      do { try happen() } catch { Issue.record(error) }
    }
    try base.link(old, of: other, to: new)
  }

  func open(_ name: String, _ mode: OpenMode) throws(StorageError) -> (any StorageFile)? { try base.open(name, mode) }
  func rename(_ old: String, to new: String) throws(StorageError) { try base.rename(old, to: new) }
  func link(_ old: String, to new: String) throws(StorageError) { try base.link(old, to: new) }
  func remove(_ name: String) throws(StorageError) -> Bool { try base.remove(name) }
  func names() throws(StorageError) -> [String] { try base.names() }
  func sync() throws(StorageError) { try base.sync() }
  func identity(of name: String) throws(StorageError) -> FileIdentity? { try base.identity(of: name) }
  func lock(_ name: String) throws(StorageError) -> (any StorageLock)? { try base.lock(name) }
}
