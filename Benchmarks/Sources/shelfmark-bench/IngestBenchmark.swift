import BenchmarkSupport
import CatalogueGenerator

/// A full update from a server's answer in a file, beside what `base64` and `gzip` need to unpack the same bytes.
///
/// Each update runs in a process of its own and writes a new store; the programs take turns in each round.
struct IngestBenchmark {
  let generator: CatalogueGenerator
  let folder: WorkFolder
  let options: Options

  init(_ generator: CatalogueGenerator, _ folder: WorkFolder, _ options: Options) {
    self.generator = generator
    self.folder = folder
    self.options = options
  }

  private struct Run {
    var wall: Double
    var processor: Double
    var peak: Double
    var unpacked: Double
  }

  func run(_ report: inout Report) throws {
    let scratch = try folder.scratch("ingest")
    defer { _ = try? Subprocess.run(["rm", "-rf", scratch]) }
    let answer = "\(scratch)/answer.json"
    let data = "\(scratch)/answer.base64"
    complain("answer with \(generator.productCount) products, \(generator.source)")
    try writeAnswer(answer)
    try Self.extractData(from: answer, to: data)
    var updates: [Run] = []
    var sealed: [Run] = []
    var decodings: [Run] = []
    var references: [Subprocess] = []
    for round in 0..<min(options.rounds, 5) {
      references.append(
        try Subprocess.run(["sh", "-c", "base64 -d \"$0\" | gzip -dc > /dev/null", data]))
      decodings.append(try child(["decode", answer]))
      let directory = "\(scratch)/store\(round)"
      updates.append(try child(["ingest", directory, answer]))
      _ = try Subprocess.run(["rm", "-rf", directory])
      sealed.append(try child(["ingest-sealed", directory, answer]))
      _ = try Subprocess.run(["rm", "-rf", directory])
    }
    add(updates, decodings, references, answerByteCount: Files.size(answer), &report)
    let condition = "\(generator.productCount) products"
    report.add(
      Measurement("AnswerImport – sealed, elapsed", condition, Spread(sealed.map(\.wall)), "s")
        .comparedTo(Spread(updates.map(\.wall)).median, "in clear"))
    report.add(
      Measurement("AnswerImport – sealed, processor", condition, Spread(sealed.map(\.processor)), "s")
        .comparedTo(Spread(updates.map(\.processor)).median, "in clear"))
  }

  func writeAnswer(_ path: String) throws {
    let file = try OutputFile(creating: path)
    try generator.writeAnswer { try file.append($0) }
  }

  /// Writes what stands between the third-last and the last quote: the value of `data`, which comes last.
  private static func extractData(from answer: String, to data: String) throws {
    let file = try OutputFile(creating: data)
    let marker = Array("\"data\":\"".utf8)
    var isInside = false
    try Files.forEachPiece(of: answer) { piece in
      var bytes: [UInt8] = []
      bytes.reserveCapacity(piece.count)
      for index in piece.indices { bytes.append(piece[index]) }
      var start = 0
      if !isInside {
        guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: marker) }) else {
          throw WrongAnswer("the answer does not begin with its data")
        }
        start = place + marker.count
        isInside = true
      }
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\"")) ?? bytes.count
      try file.append(bytes[start..<end])
    }
  }

  private func child(_ arguments: [String]) throws -> Run {
    let line = try Subprocess.child(arguments)
    let numbers = line.split(separator: " ").compactMap { Double($0) }
    guard numbers.count == 5, Int(numbers[3]) == generator.productCount else {
      throw WrongAnswer("the process for \(arguments[0]) said \(line)")
    }
    return Run(wall: numbers[0], processor: numbers[1], peak: numbers[2] / 1024, unpacked: numbers[4])
  }

  private func add(
    _ updates: [Run], _ decodings: [Run], _ references: [Subprocess], answerByteCount: Int, _ report: inout Report
  ) {
    let condition = "\(generator.productCount) products"
    let unpacked = updates[0].unpacked
    let size = "\(answerByteCount >> 20) MiB of answer, \(Int(unpacked) >> 20) MiB of JSON"
    let reference = Spread(references.map(\.wall))
    let referenceProcessor = Spread(references.map(\.processor))
    let wall = Spread(updates.map(\.wall))
    let name = "gzip -dc"
    report.add(Measurement("reference – base64 -d | gzip -dc, elapsed", condition, reference, "s").noting(size))
    report.add(
      Measurement("reference – base64 -d | gzip -dc, processor", condition, referenceProcessor, "s"))
    report.add(
      Measurement("AnswerImport – full update, elapsed", condition, wall, "s").comparedTo(reference.median, name)
        .noting("\(FigureText.number(unpacked / wall.median / 1e6)) MB/s of JSON"))
    report.add(
      Measurement("AnswerImport – full update, processor", condition, Spread(updates.map(\.processor)), "s")
        .comparedTo(referenceProcessor.median, name))
    report.add(
      Measurement("ResponseDecoder – rows to nowhere, processor", condition, Spread(decodings.map(\.processor)), "s")
        .comparedTo(referenceProcessor.median, name))
    report.add(
      Measurement("AnswerImport – peak resident memory", condition, Spread(updates.map(\.peak)), "MiB")
        .noting("decoding alone \(FigureText.number(Spread(decodings.map(\.peak)).median)) MiB"))
  }
}
