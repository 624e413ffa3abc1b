import Foundation
import Platform
import StoreTestSupport
import Testing

@testable import ObjectStores

@Suite struct DirectoryStoreTests {
  private static let type = ObjectType(mediaType: "application/json", cacheControl: "no-cache")

  private func names(_ path: String) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: path))
  }

  @Test func `versions of one second have different times for a web server`() async throws {
    let folder = try TemporaryDirectory()
    let store = DirectoryStore(folder.path)
    var seconds: Set<Int> = []
    for number in 0..<5 {
      _ = try await store.put("catalogue.json", [UInt8(number)], .none, Self.type)
      let date = try FileManager.default.attributesOfItem(atPath: folder.path + "/catalogue.json")[.modificationDate]
      seconds.insert(Int(try #require(date as? Date).timeIntervalSince1970))
    }
    #expect(seconds.count == 5)
  }

  @Test func `an object is a file, and its version is the hash of its contents`() async throws {
    let folder = try TemporaryDirectory()
    let store = DirectoryStore(folder.path + "/a/b/")
    #expect(store.description == folder.path + "/a/b")
    #expect(try await store.get("objects/x.base", limit: 10) == nil)
    #expect(try await !store.exists("objects/x.base"))
    let result = try await store.put("objects/x.base", Array("hello".utf8), .none, Self.type)
    let version = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    #expect(result == .written(version: version))
    #expect(try folder.contents("a/b/objects/x.base") == Array("hello".utf8))
    #expect(
      try await store.get("objects/x.base", limit: 5) == StoredObject(bytes: Array("hello".utf8), version: version))
    #expect(try await store.exists("objects/x.base"))
    await #expect(throws: ObjectStoreError.tooLarge(store: store.path, name: "objects/x.base", limit: 4)) {
      try await store.get("objects/x.base", limit: 4)
    }
    try await store.delete("objects/x.base")
    try await store.delete("objects/x.base")
    #expect(try await !store.exists("objects/x.base"))
    #expect(try names(store.path) == ["objects", ".publish.lock"])
  }

  @Test func `everybody may read what a web server serves`() async throws {
    let folder = try TemporaryDirectory()
    let store = DirectoryStore(folder.path + "/public")
    _ = try await store.put("objects/x", [1], .ifAbsent, Self.type)
    _ = try await store.put("head", [1], .none, Self.type)
    let mask = umask(0)
    umask(mask)
    for (path, mode) in [("", 0o755), ("/objects", 0o755), ("/objects/x", 0o644), ("/head", 0o644)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: store.path + path)
      #expect(attributes[.posixPermissions] as? Int == mode & ~Int(mask), "\(path)")
    }
  }

  @Test func `a condition decides whether something is written`() async throws {
    let folder = try TemporaryDirectory()
    let store = DirectoryStore(folder.path)
    func put(_ byte: UInt8, _ condition: PutCondition) async throws -> PutResult {
      try await store.put("head", [byte], condition, Self.type)
    }
    #expect(try await put(0, .ifVersion("none")) == .preconditionFailed)
    #expect(try await !store.exists("head"))
    guard case .written(let first) = try await put(1, .ifAbsent) else {
      Issue.record("not written")
      return
    }
    #expect(try await put(2, .ifAbsent) == .preconditionFailed)
    #expect(try await store.get("head", limit: 1)?.bytes == [1])
    guard case .written(let second) = try await put(3, .ifVersion(first)) else {
      Issue.record("not written")
      return
    }
    #expect(try await put(4, .ifVersion(first)) == .preconditionFailed)
    #expect(try await store.get("head", limit: 1) == StoredObject(bytes: [3], version: second))
  }

  @Test(arguments: DirectoryStore.Step.allCases, [PutCondition.none, .ifAbsent])
  func `a process that is killed leaves the old object or the new one, and the next write cleans up`(
    step: DirectoryStore.Step, condition: PutCondition
  ) async throws {
    let folder = try TemporaryDirectory()
    let old: [UInt8]? = condition == .none ? [1] : nil
    if let old { _ = try await DirectoryStore(folder.path).put("a/head", old, .none, Self.type) }
    let killed = DirectoryStore(folder.path) { $0 == step }
    // Only a write that must not replace anything makes a link.
    if step == .linked, condition == .none {
      #expect(try await killed.put("a/head", [2, 2], condition, Self.type) != .preconditionFailed)
      return
    }
    await #expect(throws: DirectoryStore.death) { try await killed.put("a/head", [2, 2], condition, Self.type) }
    let after = try await DirectoryStore(folder.path).get("a/head", limit: 10)?.bytes
    #expect(after == ([.linked, .named].contains(step) ? [2, 2] : old))
    let left = try names(folder.path).filter { $0.hasPrefix(".tmp-") }
    #expect(left.count == ([.written, .synced, .linked].contains(step) ? 1 : 0))
    _ = try await DirectoryStore(folder.path).put("a/other", [3], .none, Self.type)
    #expect(try names(folder.path) == ["a", ".publish.lock"])
    #expect(try await DirectoryStore(folder.path).get("a/head", limit: 10)?.bytes == after)
  }

  @Test func `of several writers that race for a name, or from one version, exactly one wins`() async throws {
    let folder = try TemporaryDirectory()
    for round in 0..<20 {
      let name = "head-\(round)"
      var condition = PutCondition.ifAbsent
      for turn in 0..<2 {
        let given = condition
        let results = try await withThrowingTaskGroup(of: PutResult.self) { group in
          for writer in 0..<4 {
            group.addTask {
              // A store for each: locks of one process exclude each other as those of several do.
              try await DirectoryStore(folder.path)
                .put(name, [UInt8(turn), UInt8(writer)], given, DirectoryStoreTests.type)
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        let winners = results.filter { $0 != .preconditionFailed }
        #expect(winners.count == 1)
        let stored = try await DirectoryStore(folder.path).get(name, limit: 2)
        guard let stored else {
          Issue.record("nothing was written")
          return
        }
        #expect(winners == [.written(version: stored.version)])
        condition = .ifVersion(stored.version)
      }
    }
  }

  @Test func `a lock that another process holds is waited for, and named if that takes too long`() async throws {
    let folder = try TemporaryDirectory()
    let store = DirectoryStore(folder.path, lockTimeout: .milliseconds(50))
    _ = try await store.put("head", [1], .none, Self.type)
    let lock = try DirectoryFiles.openLock(folder.path + "/.publish.lock")
    let isTaken = try DirectoryFiles.tryLock(lock, path: folder.path)
    #expect(isTaken)
    await #expect(throws: ObjectStoreError.locked(path: folder.path)) {
      try await store.put("head", [2], .none, Self.type)
    }
    await #expect(throws: ObjectStoreError.locked(path: folder.path)) { try await store.delete("head") }
    #expect(try await store.get("head", limit: 1)?.bytes == [1])
    close(lock)
    #expect(try await store.put("head", [2], .none, Self.type) != .preconditionFailed)
  }

  @Test func `a file in the way is named`() async throws {
    let folder = try TemporaryDirectory()
    try folder.write([1], to: "file")
    let store = DirectoryStore(folder.path + "/file")
    let error = await #expect(throws: ObjectStoreError.self) { try await store.put("head", [1], .none, Self.type) }
    #expect(error?.description.contains("\(folder.path)/file") == true)
    #expect(error?.exitStatus == .cannotCreate)
    // A directory where an object should be.
    let other = DirectoryStore(folder.path)
    _ = try await other.put("a/b", [1], .none, Self.type)
    await #expect(throws: ObjectStoreError.self) { try await other.put("a", [1], .none, Self.type) }
    #expect(try names(folder.path).filter { $0.hasPrefix(".tmp-") }.isEmpty)
  }

  @Test(.enabled(if: OverlayMount.isPossible, "only root can mount a file system"))
  func `a full disk, or one that is read-only, leaves the old object and says what to do`() async throws {
    let folder = try TemporaryDirectory()
    func run(_ command: String...) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = command
      try process.run()
      process.waitUntilExit()
      try #require(process.terminationStatus == 0)
    }
    try run("mount", "-t", "tmpfs", "-o", "size=64k", "shelfmark", folder.path)
    defer { try? run("umount", "-l", folder.path) }
    let store = DirectoryStore(folder.path)
    let written = try await store.put("head", [1], .none, Self.type)
    let large = [UInt8](repeating: 2, count: 1 << 20)
    let full = await #expect(throws: ObjectStoreError.self) { try await store.put("head", large, .none, Self.type) }
    #expect(full?.description.contains("free some space and try again") == true, "\(String(describing: full))")
    #expect(full?.exitStatus == .io)
    #expect(try names(folder.path) == ["head", ".publish.lock"])
    try run("mount", "-o", "remount,ro", folder.path)
    let readOnly = await #expect(throws: ObjectStoreError.self) { try await store.put("head", [3], .none, Self.type) }
    #expect(readOnly?.description.contains("mount it writable") == true, "\(String(describing: readOnly))")
    #expect(readOnly?.exitStatus == .permission)
    let stored = try #require(await store.get("head", limit: 1))
    #expect(written == .written(version: stored.version))
  }
}
