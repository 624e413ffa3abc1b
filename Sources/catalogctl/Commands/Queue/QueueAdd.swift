import ArgumentParser
import DocumentFormat
import Foundation
import JSONOutput
import UploadQueue

struct QueueAdd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add an upload. It is durable when its id is printed.",
    discussion: "The payload is JSON, from the argument or, without one or with -, from standard input.")

  @OptionGroup var target: QueueTarget
  @OptionGroup var write: WriteOptions
  @Argument(help: "The payload; - is standard input.") var payload: String?
  @Option(help: ArgumentHelp("Send this file in place of a JSON payload.", valueName: "path"), completion: .file())
  var file: String?
  @Option(help: "What it is.") var kind = "json"
  @Option(help: "Uploads with one key go one after another.") var key: String?
  @Option(help: "Takes the place of an earlier upload with this key.") var replace: String?
  @Option(help: "low, normal or high.") var priority = UploadPriority.normal
  @Option(help: ArgumentHelp("Drop it when it waits longer than this.", valueName: "seconds")) var ttl: Double?
  @Option(help: ArgumentHelp("Do not send it before, such as 2026-01-31T12:00:00Z.", valueName: "time"))
  var notBefore: String?

  func validate() throws {
    if file != nil, payload != nil { throw ValidationError("give a payload or --file, one of them") }
    if let ttl, !(ttl > 0 && ttl <= 3.2e9) { throw ValidationError("--ttl is a number of seconds above 0") }
    if notBefore != nil, moment == nil { throw ValidationError("--not-before is a time such as 2026-01-31T12:00:00Z") }
  }

  private var moment: Date? { notBefore.flatMap { try? Date.ISO8601FormatStyle(timeZone: .gmt).parse($0) } }

  func run() async throws {
    let content = try content()
    let id = try await target.writable(write).enqueue(
      payload: content, kind: kind, orderKey: key, replaceKey: replace, priority: priority, notBefore: moment,
      timeToLive: ttl.map { .seconds($0) })
    DurableChange.note("the upload \(id.text) was added and is durable")
    if target.output.json { JSONText.object([("id", .text(id.text))]).print() } else { Console.print(id.text) }
  }

  private func content() throws -> UploadPayload {
    if let file { return .file(try FileReference(contentsOf: URL(fileURLWithPath: file).path)) }
    let text: String
    if let payload, payload != "-" {
      text = payload
    } else {
      let input = try InputFile("-")
      var bytes: [UInt8] = []
      while let piece = try input.next() { bytes += piece }
      guard let read = String(validating: bytes, as: UTF8.self) else {
        throw Failure(.data, "standard input: the payload is not UTF-8")
      }
      text = read
    }
    do { return .value(try DocumentValue(json: text)) } catch {
      throw Failure(.data, "the payload is no JSON: \(error)")
    }
  }
}
