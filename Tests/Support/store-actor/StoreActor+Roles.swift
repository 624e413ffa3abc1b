import CProcessSupport
import Foundation
import LogStore
import ProcessTestSupport
import StoreTestSupport

extension StoreActor {
  /// Commits for ever or up to commit `last`, now and then as a new generation or with a compaction, and says each
  /// number when it is acknowledged.
  static func write(_ location: StoreLocation, until last: Int) throws {
    let writer = try StoreWriter(location, schema: TestSchema.schema, lockTimeout: .seconds(10))
    say("open")
    while last == 0 || writer.nextSequence <= UInt64(last) {
      let number = writer.nextSequence
      let snapshot = try NumberedStore.commit(writer, isGeneration: number % 37 == 0)
      say("\(snapshot.sequence)")
      if number % 23 == 0 { _ = try writer.compact() }
    }
    writer.close()
  }

  /// Follows the store up to commit `last`. Each commit that it sees has to be whole, and later than the one before;
  /// one that it keeps stays as it was.
  static func read(_ location: StoreLocation, until last: Int) throws {
    guard let reader = try StoreReader.open(location) else { throw SceneFailure("no store") }
    say("open")
    var kept = reader.snapshot
    var seen = 1
    var snapshot = reader.snapshot
    while snapshot.sequence < UInt64(last) || last == 0 {
      let isNewer = try reader.refresh()
      let next = reader.snapshot
      let order = (next.generation, next.sequence)
      try expect(
        isNewer ? order > (snapshot.generation, snapshot.sequence) : order == (snapshot.generation, snapshot.sequence),
        "commit \(next.sequence) of generation \(next.generation) after \(snapshot.sequence) of \(snapshot.generation)")
      if isNewer {
        seen += 1
        try NumberedStore.check(next)
        if seen % 16 == 0 {
          try NumberedStore.check(kept)
          kept = next
        }
      }
      snapshot = next
    }
    say("saw \(seen)")
  }

  /// Holds the writer's lock until standard input ends.
  static func hold(_ location: StoreLocation) throws {
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    say("open")
    var byte: UInt8 = 0
    // One byte into a local.
    while unsafe Foundation.read(0, &byte, 1) > 0 {}
    writer.close()
  }

  /// A child of a writer can do nothing with what it inherited, and its parent goes on as if it had never been.
  static func fork(_ location: StoreLocation) throws {
    var writer: StoreWriter? = try StoreWriter(location, schema: TestSchema.schema)
    guard let transaction = try writer?.begin() else { return }
    try NumberedStore.change(transaction)
    let child = process_fork()
    if child == 0 {
      var code: Int32 = 0
      do {
        // Larger than what is kept in memory, so that it would be written.
        var row = TestRow("child", "")
        row.body = [UInt8](repeating: 1, count: 5 << 20)
        let put = try error { for _ in 0..<4 { try transaction.put(0, row) } }
        guard case .forked = put else { throw SceneFailure("\(put)") }
        for attempt in [
          { _ = try writer?.commit(transaction) }, { _ = try writer?.begin() }, { _ = try writer?.beginGeneration() },
          { _ = try writer?.compact() },
        ] {
          let error = try error(attempt)
          guard case .forked = error else { throw SceneFailure("\(error)") }
        }
        writer?.discard(transaction)
        // Reading is everybody's right.
        if let snapshot = writer?.snapshot { try NumberedStore.check(snapshot) }
        writer?.close()
        writer = nil
      } catch {
        say("child: \(error)")
        code = 1
      }
      _exit(code)
    }
    try expect(process_wait(child) == 0, "the child failed")
    let locked = try error { _ = try StoreWriter(location, schema: TestSchema.schema) }
    guard case .locked = locked else { throw SceneFailure("\(locked)") }
    if let new = try writer?.commit(transaction) { try NumberedStore.check(new) }
    if let writer { try NumberedStore.check(try NumberedStore.commit(writer)) }
    // A child that lives on, as between fork and exec, keeps nobody from the store.
    let sleeper = process_fork()
    if sleeper == 0 {
      sleep(3600)
      _exit(0)
    }
    writer?.close()
    writer = nil
    defer {
      kill(sleeper, SIGKILL)
      _ = process_wait(sleeper)
    }
    _ = try StoreWriter(location, schema: TestSchema.schema)
    say("committed")
  }
}
