import ArgumentParser
import Catalog
import JSONFormat
import LogStore

struct Compact: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Write what is live into a new file, without dead rows and history.",
    discussion: """
      Needs room for one more copy, and says how much; where the file system has less, nothing is written and the exit \
      code is 74. Readers go on undisturbed. The commits before the last one are no longer listed by 'log' then.

      --drop-previous first deletes the generation that the last full update replaced: that update can then no longer \
      be rolled back.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions
  @Flag(help: "Delete the generation before the last full update first.") var dropPrevious = false

  func run() throws {
    // A user without a catalogue has no old generation.
    guard try store.history() != nil else {
      return report(before: 0, after: 0, dropped: 0, DiskSpace(needed: 0, available: nil))
    }
    let writer = try store.writer(lockTimeout: write.lockTimeout)
    defer { writer.close() }
    let dropped = dropPrevious ? try drop(writer) : 0
    if dropPrevious {
      Console.say(
        dropped == 0
          ? "no generation before this one was kept"
          : "deleted the generation before the last full update (\(Quantity.bytes(dropped)))")
    }
    let before = try writer.snapshot().store?.statistics().fileByteCount ?? 0
    var room = DiskSpace(needed: 0, available: nil)
    let compacted = try writer.compact {
      room = $0
      Console.say($0.words)
    }
    DurableChange.report("the catalogue is compacted")
    report(before: before, after: try compacted.store?.statistics().fileByteCount ?? 0, dropped: dropped, room)
  }

  /// Deletes the generation before the last full update.
  private func drop(_ writer: CatalogWriter) throws -> Int {
    do { return try writer.dropPrevious() } catch StoreError.unusable(let path, let reason) {
      throw Failure(.data, "\(path): \(reason); 'catalogctl verify --repair' sets it aside")
    }
  }

  private func report(before: Int, after: Int, dropped: Int, _ room: DiskSpace) {
    if output.json {
      JSONText.object([
        ("bytesBefore", .int(before)), ("bytesAfter", .int(after)), ("bytesNeeded", .int(room.needed)),
        ("bytesFree", room.available.map(JSONText.int) ?? .null), ("bytesDropped", .int(dropped)),
      ]).print()
    } else {
      Console.print("before \(before) bytes (\(Quantity.bytes(before)))")
      Console.print("after  \(after) bytes (\(Quantity.bytes(after)))")
    }
  }
}

extension CatalogWriter {
  /// Compacts if it is worthwhile. An error is reported but is not a failure, because the commits before it are
  /// durable.
  func tidyUp() {
    do { try compactIfDue() } catch {
      Console.say("catalogctl: warning: everything was committed, but the catalogue could not be compacted: \(error)")
    }
  }
}

extension DiskSpace {
  /// The required and the free space, for people.
  var words: String {
    "needs about \(Quantity.bytes(needed)); \(available.map { Quantity.bytes($0) + " are free" } ?? "nobody knows what is free")"
  }

  /// Warns before a full update if there may not be enough space. The update is tried nevertheless: its size is
  /// unknown, and an update that runs out of space changes nothing.
  func warnIfScarce() {
    guard let available, available < needed else { return }
    Console.say("catalogctl: warning: a full update as large as the catalogue is now \(words)")
  }
}
