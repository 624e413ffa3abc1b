import ArgumentParser
import DocumentFormat
import Essentials
import JSONFormat
import UploadQueue

struct QueueAdd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add an upload. It is durable when its id is printed.",
    discussion: """
      The payload is JSON, from the argument or, without one or with -, from standard input; a key twice in one object \
      is refused. With --file it is the file instead; a payload and files, --file several times, are one upload that \
      is sent as a form: the field 'payload', and a field 'file' for each. Files stay where they are, and are checked \
      before they are sent.

      With --ndjson each line of standard input is the payload of an upload of its own; blank lines are passed over. \
      All are added in one commit, and a line for each id is printed. If a line cannot be added, none is.
      """)

  @OptionGroup var target: QueueTarget
  @OptionGroup var write: WriteOptions
  @Argument(help: "The payload; - is standard input.") var payload: String?
  @Option(
    name: .customLong("file"),
    help: ArgumentHelp("Send this file, instead of a JSON payload or with it.", valueName: "path"),
    completion: .file()) var files: [String] = []
  @Flag(help: "Add an upload for each line of standard input.") var ndjson = false
  @Option(help: "What it is.") var kind = "json"
  @Option(help: "Uploads with one key go one after another.") var key: String?
  @Option(help: "Takes the place of an earlier upload with this key.") var replace: String?
  @Option(help: "Which uploads go first (default: normal).") var priority: UploadPriority?
  @Option(help: ArgumentHelp("Drop it when it waits longer than this.", valueName: "seconds")) var ttl: Double?
  @Option(help: ArgumentHelp("Do not send it before, such as 2026-01-31T12:00:00Z.", valueName: "time"))
  var notBefore: String?

  func validate() throws {
    if payload == nil, files.count > 1 {
      throw ValidationError("several files go with a payload: give one, or - to read it from standard input")
    }
    if ndjson, payload ?? "-" != "-" || !files.isEmpty || replace != nil {
      throw ValidationError("--ndjson reads payloads from standard input, and goes with neither --file nor --replace")
    }
    if let ttl, !(ttl > 0 && ttl <= 3.2e9) { throw ValidationError("--ttl is a number of seconds above 0") }
    if let ttl, let moment, moment.timeIntervalSinceNow >= ttl {
      throw ValidationError("--ttl ends before --not-before begins, so it would never be sent")
    }
    if notBefore != nil, moment == nil { throw ValidationError("--not-before is a time such as 2026-01-31T12:00:00Z") }
  }

  private var moment: Date? { notBefore.flatMap { DateText.date($0) } }

  func run() async throws {
    if ndjson {
      // Read all input before the store is locked, because a pipe may be slow.
      let lines = try NumberedValue.all(of: InputFile("-"))
      if lines.isEmpty { return }
      let ids = try add(lines)
      DurableChange.report("\(Quantity.of(ids.count, "upload")) added, durably")
      for id in ids { tell(id) }
      return
    }
    let content = try content()
    let id = try await target.writable(write).enqueue(
      payload: content, kind: kind, orderKey: key, replaceKey: replace, priority: priority ?? .normal,
      notBefore: moment,
      timeToLive: ttl.map { .seconds($0) })
    DurableChange.report("the upload \(id.text) was added and is durable")
    tell(id)
  }

  private func tell(_ id: UploadID) {
    if target.output.json { JSONText.object([("id", .text(id.text))]).print() } else { Console.print(id.text) }
  }

  /// Adds all uploads in one commit.
  private func add(_ lines: [NumberedValue]) throws -> [UploadID] {
    let queue = try target.writable(write)
    return try queue.store.transaction { transaction in
      try lines.map { line in
        do {
          return try queue.enqueue(
            payload: .value(line.value), kind: kind, orderKey: key, priority: priority ?? .normal, notBefore: moment,
            timeToLive: ttl.map { .seconds($0) }, in: transaction)
        } catch let error as UploadQueueError {
          guard let failure = Failure(error) else { throw error }
          throw Failure(failure.code, "standard input, line \(line.number): \(failure.message); nothing was added")
        }
      }
    }
  }

  private func content() throws -> UploadPayload {
    let references = try files.map { try FileReference(contentsOf: URL(fileURLWithPath: $0).path) }
    if payload == nil, let file = references.first { return .file(file) }
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
    do {
      let value = try DocumentValue(json: text)
      return references.isEmpty ? .value(value) : .document(value, files: try references.map { try UploadFile($0) })
    } catch let error as UploadQueueError {
      throw error
    } catch {
      throw Failure(.data, "the payload is no JSON: \(error)")
    }
  }
}

/// A JSON value and its line.
private struct NumberedValue {
  /// The line number, from 1.
  let number: Int
  let value: DocumentValue

  /// The values of all lines that are not blank.
  ///
  /// - Throws: `Failure` for a line that is not JSON, with its number.
  static func all(of input: InputFile) throws -> [NumberedValue] {
    var values: [NumberedValue] = []
    var line: [UInt8] = []
    var number = 1
    func end() throws {
      defer { line.removeAll(keepingCapacity: true) }
      if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }) { return }
      func failure(_ reason: String) -> Failure {
        Failure(.data, "\(input.name), line \(number): \(reason); nothing was added")
      }
      guard let text = String(validating: line, as: UTF8.self) else { throw failure("the payload is not UTF-8") }
      do { values.append(NumberedValue(number: number, value: try DocumentValue(json: text))) } catch {
        throw failure("the payload is no JSON: \(error)")
      }
    }
    while let piece = try input.next() {
      for byte in piece {
        guard byte == UInt8(ascii: "\n") else {
          line.append(byte)
          continue
        }
        try end()
        number += 1
      }
    }
    try end()
    return values
  }
}
