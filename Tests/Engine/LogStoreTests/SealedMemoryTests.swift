import Foundation
import Sealing
import StoreTestSupport
import Synchronization
import Testing

@testable import LogStore

/// Memory that sealed stores lock, map and keep: it goes with what needed it. Other tests run in the same process, so
/// small changes do not count; what is leaked here would be leaked ten thousand times.
@Suite struct SealedMemoryTests {
  private let folder: TemporaryDirectory
  private let location: StoreLocation

  init() throws {
    folder = try TemporaryDirectory()
    location = StoreLocation(folder.directory, name: "s").opening(with: testKey, sealsNew: true)
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    defer { writer.close() }
    _ = try writer.commit { transaction in
      for number in 0..<200 {
        let code = number < 50 ? "common" : "c\(number)"
        try transaction.put("\(number)", code, shared: ["brand \(number % 40)"], body: "body of \(number)")
      }
    }
    _ = try writer.commit { try $0.put("200", "c200", shared: ["brand"], body: "body") }
  }

  /// What the process has: mappings, open files, and locked memory in KiB.
  private func usage() throws -> (mappings: Int, files: Int, locked: Int) {
    func text(_ name: String) throws -> Substring {
      // Such files say that they are empty, so they are read to their ends.
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/" + name))
      return Substring(String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self))
    }
    let locked = try text("status").split(separator: "\n").first { $0.hasPrefix("VmLck:") }
    return (
      try text("maps").count { $0 == "\n" }, try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count,
      locked?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    )
  }

  @Test func `opening and closing a sealed store ten thousand times leaves nothing behind`() throws {
    let before = try usage()
    for number in 0..<10_000 {
      let snapshot = try #require(try StoreReader.open(location)).snapshot
      // Outside of any scope, too: what is kept goes with the snapshot.
      let found = try snapshot.record(TestSchema.id, Array("\(number % 201)".utf8).rawSpan) != nil
      #expect(found)
    }
    let after = try usage()
    #expect(after.mappings < before.mappings + 2_000, "\(before) \(after)")
    #expect(after.files < before.files + 2_000, "\(before) \(after)")
    #expect(after.locked < before.locked + 20_000, "\(before) \(after)")
  }

  @Test func `a writer leaves nothing behind either`() throws {
    let before = try usage()
    for _ in 0..<300 {
      let writer = try StoreWriter(location, schema: TestSchema.schema)
      _ = try writer.commit { try $0.put("1", "c1", body: "again") }
      writer.close()
    }
    let after = try usage()
    #expect(after.mappings < before.mappings + 300 && after.files < before.files + 300, "\(before) \(after)")
  }

  @Test func `threads give their scratch memory back when they end`() throws {
    let snapshot = try #require(try StoreReader.open(location)).snapshot
    let before = try usage()
    let found = Atomic(0)
    for _ in 0..<400 {
      let done = DispatchSemaphore(value: 0)
      let thread = Thread {
        let count = (try? snapshot.rows(TestSchema.code, "common").count) ?? 0
        found.add(count, ordering: .relaxed)
        done.signal()
      }
      thread.start()
      done.wait()
    }
    #expect(found.load(ordering: .relaxed) == 400 * 50)
    let after = try usage()
    #expect(after.mappings < before.mappings + 300, "\(before) \(after)")
    #expect(after.locked < before.locked + 400 * 60, "\(before) \(after)")
  }

  @Test func `a snapshot keeps an object once, and nothing of what is lent to a closure`() throws {
    let snapshot = try #require(try StoreReader.open(location)).snapshot
    let kept = try #require(snapshot.openedObjects)
    for _ in 0..<20 {
      for number in 0..<201 { _ = try snapshot.rows(TestSchema.id, "\(number)") }
      _ = try snapshot.rows(TestSchema.code, "common")
      _ = try snapshot.rowCount(TestSchema.code, Array("common".utf8).rawSpan)
      _ = try snapshot.rows(0)
      _ = try StoreContents(snapshot)
    }
    #expect(kept.count < 10, "\(kept.count)")
    for _ in 0..<20 {
      for number in 0..<201 {
        let hasRow = try snapshot.record(TestSchema.id, Array("\(number)".utf8).rawSpan) != nil
        #expect(hasRow)
      }
    }
    #expect(kept.count < 230, "\(kept.count)")
  }
}
