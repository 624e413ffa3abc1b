import Foundation
import Testing

/// `scan` and `complete` against the samples.
@Suite struct ScanCommandTests {
  struct Sample {
    var number: String
    var scan: String
    var match: String
    var ids: String
    var barcodes: [String]
    var rest: String
    var gtin: String
    var isAmbiguous: Bool
  }

  static let samples: [Sample] = {
    guard let data = try? Data(contentsOf: Fixture.url("scans-sample.tsv")) else { return [] }
    let lines = data.split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0, as: UTF8.self).split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
    guard let header = lines.first else { return [] }
    return lines.dropFirst().map { cells in
      let row = Dictionary(uniqueKeysWithValues: zip(header, cells))
      func literal(_ column: String) -> String {
        let data = Data((row[column] ?? "").utf8)
        return (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) as? String) ?? ""
      }
      return Sample(
        number: row["n"] ?? "", scan: literal("scan"), match: row["match"] ?? "", ids: row["ids"] ?? "",
        barcodes: literal("barcode").split(separator: "|", omittingEmptySubsequences: false).map(String.init),
        rest: literal("rest"), gtin: row["gtin14"] ?? "", isAmbiguous: row["ambiguous"] == "1")
    }
  }()

  private func sampleRoot() throws -> TestRoot {
    let root = try TestRoot(answers: [])
    let run = try root.apply([root.payload(Fixture.scanCatalogue.get())])
    try #require(run.code == 0, "\(run.words)")
    return root
  }

  @Test func `the samples are there`() { #expect(Self.samples.count == 210) }

  @Test func `every sample read from standard input is matched as it should be`() throws {
    let samples = Self.samples.filter { !$0.scan.contains("\n") && !$0.scan.contains("\r\n") }
    #expect(samples.count > 200)
    let input = samples.map { $0.scan + "\n" }.joined()
    let run = try sampleRoot().run("scan", "--json", input: Data(input.utf8))
    #expect(run.code == 1)
    #expect(run.words.isEmpty)
    let answers = try run.objects()
    try #require(answers.count == samples.count)
    for (sample, answer) in zip(samples, answers) { expect(answer, sample) }
  }

  @Test func `a line that is no text matches nothing, and its bytes are shown`() throws {
    let input = Data("0078000202403".utf8) + [0xFF, 0x0A] + Data("0078000202403\n".utf8)
    let run = try sampleRoot().run("scan", "--json", input: input)
    let answers = try run.objects()
    #expect(answers.map { $0["match"] as? String } == ["none", "gtin"], "\(run)")
    #expect(answers.first?["code"] as? String == #"0078000202403\xFF"#)
    #expect(run.code == 1 && run.words.contains("not UTF-8"))
    let reason = "could not be decoded: the bytes are not UTF-8"
    #expect(answers.first?["reason"] as? String == reason)
    #expect(answers.first?["gtin"] is NSNull && (answers.first?["elements"] as? [String: Any])?.isEmpty == true)
    #expect(try sampleRoot().run("scan", input: input).text.contains(reason))
  }

  @Test func `a hyphen reads standard input, next to codes as well`() throws {
    let root = try sampleRoot()
    let input = Data("0078000202403\nx\n".utf8)
    #expect(try root.run("scan", "--json", "-", input: input).text == root.run("scan", "--json", input: input).text)
    let run = try root.run("scan", "--json", "a", "-", "b", "-", input: input)
    #expect(try run.objects().map { $0["code"] as? String } == ["a", "0078000202403", "x", "b"])
    #expect(run.code == 1)
    #expect(try root.run("scan", "--json", "-", input: Data()).text.isEmpty)
  }

  @Test func `a code given as an argument has the answer of one that was read`() throws {
    let root = try sampleRoot()
    for kind in ["exact", "gtin", "gs1", "digital-link", "head", "none"] {
      let sample = try #require(Self.samples.first { $0.match == kind && !$0.isAmbiguous && !$0.scan.isEmpty })
      let run = try root.run("scan", "--json", "--", sample.scan)
      #expect(run.code == (kind == "none" ? 1 : 0))
      expect(try run.object(), sample)
    }
  }

  private func expect(_ answer: [String: Any], _ sample: Sample) {
    let note: Comment = "sample \(sample.number)"
    let keys = [
      "code", "data", "elements", "gtin", "issues", "key", "kind", "match", "products", "rest", "symbology",
    ]
    let remarks = ["contains", "expired", "measure"]
    let reason = answer.text("match") == "none" ? ["reason"] : []
    #expect(answer.sortedKeys.filter { !remarks.contains($0) } == (keys + reason).sorted(), note)
    #expect(answer.text("code").map { Array($0.utf8) } == Array(sample.scan.utf8), note)
    if sample.isAmbiguous { return }
    #expect(answer.text("match") == sample.match, note)
    let ids = answer.objects("products").compactMap { $0.text("id") }
    #expect(ids.joined(separator: ",") == sample.ids, note)
    #expect(sample.barcodes.contains(answer.text("key") ?? "") || sample.barcodes.isEmpty, note)
    #expect((answer.text("rest") ?? "") == sample.rest, note)
    #expect((answer.text("gtin") ?? "") == sample.gtin, note)
    #expect(answer.objects("products").allSatisfy { $0.sortedKeys == Contract.productKeys }, note)
  }

  @Test func `every batch completes the sets that the sample says`() throws {
    let root = try sampleRoot()
    let batches = try Fixture.json("sets-sample.json").objects("batches")
    #expect(batches.count == 18)
    for batch in batches {
      let scans = batch["scans"] as? [String] ?? []
      let run = try root.run(["complete", "--json", "--"] + scans)
      #expect(run.code == 0, "\(run.words)")
      let result = try run.object()
      for key in ["products", "unknown", "complete", "incomplete"] {
        #expect(result[key] as? NSObject == batch[key] as? NSObject, "\(batch.text("why") ?? ""): \(key)")
      }
    }
  }

  @Test func `each line is answered before the next one is sent`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(3))])
    for options in [["scan"], ["scan", "--json"]] {
      let conversation = try Conversation(options, root: root.path)
      for code in ["c0", "c2", "nothing", "c1"] {
        try conversation.say(code + "\n")
        let answer = try #require(conversation.line())
        #expect(answer.contains(code))
        #expect(answer.contains("none") == (code == "nothing"))
      }
      // The last line needs no line feed.
      try conversation.say("c2")
      try conversation.hangUp()
      #expect(conversation.line()?.contains("p2") == true)
      #expect(conversation.line() == nil)
      #expect(conversation.end() == 1)
    }
  }

  @Test func `a running scan sees what is committed meanwhile`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(3))])
    let conversation = try Conversation(["scan", "--json"], root: root.path)
    for (count, mode) in [(4, []), (5, ["--full"])] {
      let code = "c\(count - 1)"
      try conversation.say(code + "\n")
      #expect(conversation.line()?.contains(#""match":"none""#) == true)
      let file = try root.payload(.products(count, cursor: "2026-02-0\(count)"))
      #expect(try root.run(["apply"] + mode + [file.path]).code == 0)
      try conversation.say(code + "\n")
      #expect(conversation.line()?.contains(#""match":"exact""#) == true)
    }
    try conversation.hangUp()
    #expect(conversation.end() == 1)
  }

  @Test func `a running scan sees a catalogue that comes later`() throws {
    let root = try TestRoot(answers: [])
    let conversation = try Conversation(["scan", "--json"], root: root.path)
    try conversation.say("c0\n")
    #expect(conversation.line()?.contains(#""match":"none""#) == true)
    _ = try root.apply([root.payload(.products(1))])
    try conversation.say("c0\n")
    #expect(conversation.line()?.contains(#""match":"exact""#) == true)
    try conversation.hangUp()
    #expect(conversation.end() == 1)
  }

  @Test func `odd input is answered line by line`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(2))])
    // CR LF, an empty line, bytes that are no UTF-8, a NUL, a line of a million digits, no line feed at the end.
    let input =
      Data("c1\r\n\n".utf8) + [0xFF, 0xFE, 0x0A, 0x00, 0x0A] + Data(repeating: 0x31, count: 1_000_000)
      + Data("\nc0".utf8)
    let run = try root.run("scan", "--json", input: input)
    #expect(run.code == 1)
    #expect(run.isOrderly)
    let matches = try run.objects().map { $0.text("match") }
    #expect(matches == ["exact", "none", "none", "none", "none", "exact"])
  }

  @Test func `scanning without a catalogue finds nothing and creates nothing`() throws {
    let root = try TestRoot()
    let run = try root.run("scan", "--json", "--user", "u", input: Data("1\n2\n".utf8))
    #expect(run.code == 1)
    #expect(try run.objects().map { $0.text("match") } == ["none", "none"])
    #expect(!root.exists)
  }
}
