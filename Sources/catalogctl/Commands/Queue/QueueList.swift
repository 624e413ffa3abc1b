import ArgumentParser
import Foundation
import UploadQueue

struct QueueList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the uploads in the order in which they were added.")

  @OptionGroup var target: QueueTarget
  @Option(help: "Only those in this state: waiting, sending or parked.") var state: UploadState?
  @Option(help: "List no more than this many.") var limit: Int?

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
  }

  func run() throws {
    guard let queue = try target.existing() else { return }
    var table = Table("id", "kind", "state", "priority", "key", ">attempts", "last error")
    var count = 0
    try queue.forEach(state) { upload in
      if target.output.json {
        upload.json.print()
      } else {
        table.add(
          upload.id.text, Table.cell(upload.kind, limit: 20), upload.state.rawValue, upload.priority.name,
          Table.cell(upload.orderKey ?? "", limit: 20), "\(upload.attempts)",
          Table.cell(upload.lastError?.message ?? ""))
      }
      count += 1
      return count < limit ?? .max
    }
    if !target.output.json { table.print() }
  }
}

struct QueueShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print all about one upload, as JSON.", discussion: "Exit code 1 if there is none.")

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
    let numbers: [(String, Int)] = [
      ("waiting", counts.waiting), ("sending", counts.sending), ("parked", counts.parked), ("bytes", counts.byteCount),
      ("enqueued", counts.enqueued), ("delivered", counts.delivered), ("superseded", counts.superseded),
      ("dropped", counts.dropped), ("refused", counts.refused), ("expired", counts.expired),
      ("removed", counts.removed),
    ]
    let names = pauses.map(\.rawValue).sorted()
    if target.output.json {
      let fields = numbers.map { ($0.0, JSONText.int($0.1)) }
      JSONText.object(fields + [("paused", .array(names.map(JSONText.text)))]).print()
    } else {
      for (name, number) in numbers { Console.print("\(name): \(number)") }
      Console.print("paused: \(names.isEmpty ? "no" : names.joined(separator: ", "))")
    }
  }
}

extension Date {
  /// As programs read it.
  var stamp: String { formatted(Date.ISO8601FormatStyle(timeZone: .gmt)) }
}
