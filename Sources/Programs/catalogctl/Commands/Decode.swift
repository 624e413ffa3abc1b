import ArgumentParser
import Essentials
import JSONFormat
import LogStore
import ServerAnswers

struct Decode: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decode", abstract: "Show what a server's answer contains.",
    discussion: """
      Unpacks an answer, such as 'sync --keep-answer' keeps it, without touching any store. The payload goes to \
      standard output as the server wrote it, what is known of the answer to standard error. With --json both are one \
      document, with the payload under 'payload'. Of an answer that is refused comes what can be unpacked, then why, \
      and the exit code is 65; with --json, the payload of such an answer is null, because it may not be JSON. \
      PROTOCOL.md describes answers.
      """)

  /// The options are common to all commands; this one opens no store.
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(
    help: ArgumentHelp("The file with the answer; - is standard input.", valueName: "answer"), completion: .file())
  var answer: String

  func run() throws {
    let file = try InputFile(answer)
    let contents: AnswerContents
    if output.json {
      contents = try printDocument(of: file)
    } else {
      contents = try inspect(file) { payload in Console.print([UInt8](copying: payload)) }
      if contents.payloadByteCount > 0 { Console.print("") }
      show(contents)
    }
    if let problem = contents.problem { throw Failure(.data, "\(file.name): \(problem)") }
  }

  private func inspect(_ file: InputFile, _ body: (Span<UInt8>) -> Void) throws -> AnswerContents {
    var inspector = try AnswerInspector()
    while let piece = try file.next() { inspector.consume(piece.span, body) }
    return inspector.finish()
  }

  /// The response's properties are printed first, so the response is read twice.
  private func printDocument(of file: InputFile) throws -> AnswerContents {
    var again = file
    let folder = FileManager.default.temporaryDirectory.path
    if file.byteCount == nil, let temporary = try StoreLocation.existing(folder, name: "catalogctl") {
      again = try file.arrived(nextTo: temporary)
    }
    let contents = try inspect(again) { _ in }
    try again.rewind()
    let fields = JSONText.object(
      [
        ("message", .optional(contents.message)), ("code", contents.codeJSON),
        (
          "bytes",
          .object([
            ("answer", .int(contents.byteCount)), ("packed", .int(contents.compressedByteCount)),
            ("payload", .int(contents.payloadByteCount)),
          ])
        ),
        ("products", contents.payload.map { .int($0.products) } ?? .null),
        ("relations", contents.payload.map { .int($0.relations) } ?? .null),
      ] + codes(contents) + [
        ("updateTime", .optional(contents.payload?.updateTime)),
        ("defaulted", contents.payload.map { .int($0.defaulted.total) } ?? .null),
        ("problem", .optional(contents.problem.map { "\($0)" })),
      ])
    Console.print(fields.bytes.dropLast() + Array(#","payload":"#.utf8))
    // A refused payload may not be JSON.
    if contents.payload == nil {
      Console.print(Array("null".utf8))
    } else {
      _ = try inspect(again) { Console.print([UInt8](onOneLine: $0)) }
    }
    Console.print(Array("}\n".utf8))
    return contents
  }

  /// The number of codes, if the payload has a list of them: an absent list says something else than an empty one.
  private func codes(_ contents: AnswerContents) -> [(String, JSONText)] {
    guard let payload = contents.payload, payload.hasCodes else { return [] }
    return [("codes", .int(payload.codes))]
  }

  private func show(_ contents: AnswerContents) {
    func say(_ name: String, _ value: String) {
      Console.say(name + String(repeating: " ", count: max(0, 12 - name.count)) + value)
    }
    if contents.isBare {
      say("envelope", "none: it is a bare payload")
    } else {
      say("code", contents.code ?? "missing")
      say("message", contents.message ?? "missing")
    }
    say("answer", "\(Quantity.count(contents.byteCount)) bytes")
    if !contents.isBare { say("packed", "\(Quantity.count(contents.compressedByteCount)) bytes of gzip") }
    say("payload", "\(Quantity.count(contents.payloadByteCount)) bytes")
    guard let payload = contents.payload else { return }
    say("products", Quantity.count(payload.products))
    say("relations", Quantity.count(payload.relations))
    if payload.hasCodes { say("codes", Quantity.count(payload.codes)) }
    say("updateTime", payload.updateTime)
    let defaulted = payload.defaulted.byField.map { "\($0.name) \($0.count) ×" }.joined(separator: ", ")
    if !defaulted.isEmpty { say("other types", "\(defaulted) took the default") }
  }
}

extension AnswerContents {
  /// The code as JSON: a number as written, anything else as a string.
  fileprivate var codeJSON: JSONText {
    guard let code else { return .null }
    return Double(code) != nil ? .raw(Array(code.utf8)) : .text(code)
  }
}

extension [UInt8] {
  fileprivate init(copying bytes: Span<UInt8>) {
    self = []
    reserveCapacity(bytes.count)
    for index in bytes.indices { append(bytes[index]) }
  }

  /// JSON without line feeds between its tokens; those within strings are escaped.
  fileprivate init(onOneLine bytes: Span<UInt8>) {
    self = []
    for index in bytes.indices where bytes[index] != 0x0A && bytes[index] != 0x0D { append(bytes[index]) }
  }
}
