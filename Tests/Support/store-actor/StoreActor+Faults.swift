import Bytes
import CProcessSupport
import Foundation
import LogStore
import ProcessTestSupport
import RandomTestSupport
import StoreTestSupport
import Synchronization

extension StoreActor {
  private static let rows = 400

  private static func row(_ number: Int) -> TestRow {
    var row = TestRow("id \(number)", "code \(number % 50)", shared: ["shared \(number % 7)"], body: "body \(number)")
    row.body += [UInt8](repeating: UInt8(number % 251), count: 2000)
    return row
  }

  /// The last row of a commit dies in the next one.
  private static func isDead(_ number: Int) -> Bool { (number + 1) % (rows / 4) == 0 && number + 1 < rows }

  /// A store of several commits and some two hundred pages.
  private static func makeStore(_ directory: String, _ name: String) throws -> StoreLocation {
    let location = try StoreLocation.creating(directory, name: name)
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    for first in stride(from: 0, to: rows, by: rows / 4) {
      _ = try writer.commit { transaction in
        for number in first..<(first + rows / 4) { try transaction.put(0, row(number)) }
        try transaction.delete(TestSchema.id, "id \(first - 1)")
      }
    }
    writer.close()
    return location
  }

  /// Looks up every row: how many were right, and how many an error. What is neither throws.
  private static func lookUp(_ snapshot: Snapshot) throws -> (right: Int, lost: Int) {
    var count = (right: 0, lost: 0)
    for number in 0..<rows {
      do {
        let found = try snapshot.rows(TestSchema.id, "id \(number)")
        try expect(found == (isDead(number) ? [] : [row(number)]), "row \(number) is \(found)")
        count.right += 1
      } catch StoreError.damaged(_, _, let what) {
        try expect(
          what.contains("truncated") || what.contains("cannot"), "the error does not say what happened: \(what)")
        count.lost += 1
      }
    }
    return count
  }

  /// Cuts the log of a store under its reader to many lengths. Each lookup is right or a typed error; another store
  /// does not notice; the reader knows it when it refreshes.
  static func truncate(_ directory: String, seed: UInt64) throws {
    try MappingGuard.install()
    try MappingGuard.install()
    let other = try makeStore(directory, "other")
    _ = try makeStore(directory, "original")
    let log = try Data(contentsOf: URL(fileURLWithPath: directory + "/original.log"))
    guard let otherReader = try StoreReader.open(other) else { throw SceneFailure("no other store") }
    var random = SeededGenerator(seed: seed)
    var lengths = [0, 1, 100, 4095, 4096, 4097, 8192, 12_288, 12_289, 16_384, log.count - 1, log.count - 4096]
    for _ in 0..<(20 * depth) { lengths.append(Int.random(in: 0..<log.count, using: &random)) }
    var total = (right: 0, lost: 0)
    for (index, length) in lengths.enumerated() {
      let path = directory + "/s.log"
      try? FileManager.default.removeItem(atPath: path)
      try log.write(to: URL(fileURLWithPath: path))
      guard let reader = try StoreReader.open(StoreLocation.creating(directory, name: "s")) else { return }
      let snapshot = reader.snapshot
      // In every other round the pages have been touched before.
      if index % 2 == 1 { try expect(try lookUp(snapshot).lost == 0, "lost before it was cut") }
      // A C string for the call.
      try expect(unsafe Foundation.truncate(path, off_t(length)) == 0, "truncate")
      let count = try lookUp(snapshot)
      total.right += count.right
      total.lost += count.lost
      try expect(count.lost > 0 || length >= log.count - 8192, "cut to \(length), and nothing is lost")
      try expect(length > 0 || count.right == 0, "an empty file has \(count.right) right rows")
      let isCutDeep = length < log.count - 8192
      for body in [{ _ = try snapshot.rows(0) }, { _ = try reader.refresh() }] where isCutDeep {
        guard case .damaged = try error(body) else { throw SceneFailure("scan or refresh: another error") }
      }
      try expect(reader.snapshot === snapshot, "the reader moved on to a damaged file")
      try expect(try lookUp(otherReader.snapshot).lost == 0 && !otherReader.snapshot.isLost, "the other store")
      if index % 5 == 0 {
        // The same bytes put back into the same file: the reader maps anew.
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.write(contentsOf: log)
        try file.close()
        try expect(snapshot.isLost || !isCutDeep, "cut to \(length), and not known as lost")
        try expect(try !reader.refresh(), "the same commit is no newer one")
        try expect(try lookUp(reader.snapshot).lost == 0 && !reader.snapshot.isLost, "not whole after a refresh")
      }
    }
    say("\(lengths.count) lengths, \(total.right) right, \(total.lost) lost")
  }

  /// A record that was lent, and then lost, is found out when what was copied is confirmed.
  static func truncateWhileLent(_ directory: String) throws {
    try MappingGuard.install()
    let location = try makeStore(directory, "s")
    for isInsideThePage in [true, false] {
      let log = try Data(contentsOf: URL(fileURLWithPath: directory + "/s.log"))
      guard let snapshot = try StoreReader.open(location)?.snapshot else { return }
      let key = Array("id 55".utf8)
      let error = try error {
        try snapshot.forEachRecord(TestSchema.id, key.rawSpan) { (record) throws(StoreError) in
          try snapshot.confirm(record.rowID)
          let start = record.rowID.byteOffset
          // A C string for the call.
          _ = unsafe Foundation.truncate(
            directory + "/s.log", off_t(isInsideThePage ? start + 20 : start / 4096 * 4096))
          let body = record.body.copied()
          if body.prefix(4).elementsEqual("body".utf8) { return false }
          try snapshot.confirm(record.rowID)
          return false
        }
      }
      guard case .damaged(_, _, let what) = error, what.contains("truncated") else { throw SceneFailure("\(error)") }
      try FileManager.default.removeItem(atPath: directory + "/s.log")
      try log.write(to: URL(fileURLWithPath: directory + "/s.log"))
    }
    say("confirmed")
  }

  /// Threads that fault at the same time, on the same pages, while others map and unmap: more than one table of ranges
  /// holds.
  static func faultInThreads(_ directory: String) throws {
    try MappingGuard.install()
    let location = try makeStore(directory, "s")
    let log = try Data(contentsOf: URL(fileURLWithPath: directory + "/s.log"))
    let other = try makeStore(directory, "other")
    let losses = Atomic(0)
    let failures = Mutex<[String]>([])
    for _ in 0..<(10 * depth) {
      guard let reader = try StoreReader.open(location) else { return }
      let snapshot = reader.snapshot
      // A C string for the call.
      unsafe Foundation.truncate(directory + "/s.log", 20_000)
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        do {
          if thread < 2 {
            losses.add(try lookUp(snapshot).lost, ordering: .relaxed)
          } else {
            var readers: [StoreReader?] = []
            for _ in 0..<70 { readers.append(try StoreReader.open(other)) }
            let lost = try lookUp(readers[thread]!.snapshot).lost
            try expect(lost == 0 && readers.allSatisfy { $0?.snapshot.isLost == false }, "the other store")
          }
        } catch { failures.withLock { $0.append("\(error)") } }
      }
      try expect(snapshot.isLost, "not lost")
      try FileManager.default.removeItem(atPath: directory + "/s.log")
      try log.write(to: URL(fileURLWithPath: directory + "/s.log"))
    }
    let all = failures.withLock { $0 }
    try expect(all.isEmpty, all.first ?? "")
    say("\(losses.load(ordering: .relaxed)) lost")
  }

  /// A fault that is not ours takes the way that it would have taken.
  static func busError(_ scene: String, _ directory: String) throws {
    if scene == "bus error" {
      // The runtime or a sanitizer may have a handler of its own.
      signal(SIGBUS, SIG_DFL)
    } else {
      process_exit_on_bus_error(scene.hasSuffix("info") ? 1 : 0)
    }
    try MappingGuard.install()
    _ = try makeStore(directory, "s")
    guard let reader = try StoreReader.open(StoreLocation.creating(directory, name: "s")) else { return }
    // A C string for the calls.
    unsafe Foundation.truncate(directory + "/s.log", 0)
    try expect(try lookUp(reader.snapshot).right == 0, "rows of an empty file")
    say("alive")
    unsafe process_touch_truncated(directory + "/stranger")
    say("still alive")
  }
}
