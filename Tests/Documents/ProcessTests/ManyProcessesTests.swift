import Foundation
import LogStore
import ProcessTestSupport
import StoreTestSupport
import Synchronization
import Testing

/// One writer and many readers, each a process of its own.
@Suite(.serialized) struct ManyProcessesTests {
  private let temporary: TemporaryDirectory
  private let location: StoreLocation

  init() throws {
    temporary = try TemporaryDirectory()
    location = try StoreLocation.creating(temporary.path, name: "s")
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    _ = try NumberedStore.commit(writer)
    writer.close()
  }

  @Test func `readers in any process and thread see whole commits in order while generations change`() throws {
    let last = 250
    let readers = try (0..<4).map { _ in try ActorProcess("read", temporary.path, last) }
    for reader in readers { #expect(reader.line() == "open") }
    let failures = Mutex<[String]>([])
    let seen = Atomic(0)
    let done = DispatchGroup()
    for _ in 0..<2 {
      let reader = try #require(try StoreReader.open(location))
      DispatchQueue.global().async(group: done) {
        do { seen.add(try follow(reader, to: UInt64(last)), ordering: .relaxed) } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    let writer = try ActorProcess("write", temporary.path, last)
    let reported = writer.lines()
    #expect(writer.wait() == 0)
    #expect(reported == ["open"] + (2...last).map { "\($0)" })
    for reader in readers {
      let lines = reader.lines()
      #expect(reader.wait() == 0, "\(lines)")
      seen.add(lines.last.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0, ordering: .relaxed)
    }
    done.wait()
    #expect(failures.withLock { $0 } == [])
    print("ManyProcessesTests: six readers saw \(seen.load(ordering: .relaxed)) commits of \(last)")
    #expect(seen.load(ordering: .relaxed) > 6 * 10)
  }

  private func follow(_ reader: StoreReader, to last: UInt64) throws -> Int {
    var seen = 1
    var snapshot = reader.snapshot
    while snapshot.sequence < last {
      guard try reader.refresh() else { continue }
      seen += 1
      let next = reader.snapshot
      guard (next.generation, next.sequence) > (snapshot.generation, snapshot.sequence) else {
        throw StoreContents.Contradiction(what: "commit \(next.sequence) after \(snapshot.sequence)")
      }
      try NumberedStore.check(next)
      snapshot = next
    }
    return seen
  }

  @Test func `a second writer waits as long as it may, and gets the lock when the first ends or dies`() throws {
    let holder = try ActorProcess("hold", temporary.path)
    #expect(holder.line() == "open")
    let start = ContinuousClock.now
    for milliseconds in [0, 150] {
      #expect {
        _ = try StoreWriter(location, schema: TestSchema.schema, lockTimeout: .milliseconds(milliseconds))
      } throws: { error in
        guard case StoreError.locked(let path, let name) = error else { return false }
        return path == temporary.path + "/s.log" && name?.contains("(store-actor) on ") == true
      }
    }
    #expect(ContinuousClock.now - start >= .milliseconds(150))
    holder.closeInput()
    _ = try StoreWriter(location, schema: TestSchema.schema, lockTimeout: .seconds(60))
    #expect(holder.wait() == 0)
    let other = try ActorProcess("hold", temporary.path)
    #expect(other.line() == "open")
    other.kill()
    #expect(other.wait() == 128 + SIGKILL)
    // No lockTimeout: the lock died with its process.
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    try NumberedStore.check(try NumberedStore.commit(writer))
  }

  @Test func `a forked child can neither commit, nor let go of the lock, nor keep it`() throws {
    let (code, lines) = try ActorProcess.play("fork", temporary.path)
    #expect(code == 0, "\(lines)")
    #expect(lines == ["committed"])
    let snapshot = try #require(try StoreReader.open(location)).snapshot
    #expect(snapshot.sequence == 3)
    try NumberedStore.check(snapshot)
    #expect(try Verification.run(location)?.findings.isEmpty == true)
    _ = try StoreWriter(location, schema: TestSchema.schema)
  }
}
