import ArgumentParser
import Essentials
import JSONFormat
import UploadQueue

struct QueueList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the uploads in the order in which they were added.")

  @OptionGroup var target: QueueTarget
  @Option(help: "Only those in this state: waiting, sending or parked.") var state: UploadState?
  @OptionGroup var most: LimitOption

  func run() throws {
    guard let queue = try target.existing() else { return }
    var table = Table("id", "kind", "state", "priority", "key", ">attempts", "last error")
    var count = 0
    try queue.forEach(state) { upload in
      if target.output.json {
        upload.json.print()
      } else {
        table.add(
          upload.id.text, Table.cell(upload.kind, limit: 20),
          upload.holdsKey ? "parked, holds its key" : upload.state.rawValue, upload.priority.name,
          Table.cell(upload.orderKey ?? "", limit: 20), "\(upload.attempts)",
          Table.cell(upload.lastError?.message ?? ""))
      }
      count += 1
      return count < most.limit ?? .max
    }
    if !target.output.json { table.print() }
  }
}

struct QueueShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print everything about one upload, as JSON.",
    discussion: "Exit code 1 if no upload has this id.")

  @OptionGroup var target: QueueTarget
  @Argument(help: "The upload's id.") var id: UploadID

  func run() throws {
    guard let upload = try target.existing()?.upload(id) else { throw Failure(.no, "there is no upload \(id)") }
    upload.json.print()
  }
}

struct QueueStat: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "stat", abstract: "Print the queue's numbers.")

  @OptionGroup var target: QueueTarget

  func run() throws {
    let queue = try target.existing()
    let counts = try queue?.counts() ?? QueueCounts()
    let pauses = try queue?.pauses() ?? []
    let held = try queue?.heldKeys() ?? []
    if target.output.json {
      counts.json(pauses, heldKeys: held).print()
    } else {
      for (name, number) in counts.numbers { Console.print("\(name): \(number)") }
      let names = pauses.map(\.rawValue).sorted()
      Console.print("paused: \(names.isEmpty ? "no" : names.joined(separator: ", "))")
      for key in held {
        let reason = key.failure.map { ": \(Table.cell($0.message))" } ?? ""
        Console.print("held key: \(Table.cell(key.orderKey)) waits for a decision about \(key.upload)\(reason)")
      }
    }
  }
}
