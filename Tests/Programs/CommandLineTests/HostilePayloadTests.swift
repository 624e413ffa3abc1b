import Foundation
import RandomTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Payloads that want memory, time or a wrong row: refused with the place, or taken as they are; never more than
/// bounded memory, and never a change by what was refused.
@Suite struct HostilePayloadTests {
  /// The most memory that any program which this process ran and waited for ever had. A program begins with what its
  /// parent has, so it is never below the tests' own.
  private func peak() -> (own: Int, children: Int) {
    func bytes(_ who: Int32) -> Int {
      var usage = rusage()
      // The call fills the local structure.
      _ = unsafe getrusage(who, &usage)
      #if os(Linux)
      return usage.ru_maxrss * 1024
      #else
      return usage.ru_maxrss
      #endif
    }
    // This process, and its children.
    return (bytes(0), bytes(-1))
  }

  private func filled() throws -> TestRoot {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(3))])
    return root
  }

  /// The server's answer around something that should be gzip.
  private func answer(_ data: Data) -> Data {
    Data(#"{"message":"ok","code":1000,"data":""#.utf8) + data.base64EncodedData() + Data(#""}"#.utf8)
  }

  /// 1 GiB of one byte in some 1 MiB of gzip: 64 members of 16 MiB.
  private func bomb(_ character: String) throws -> Data {
    let member = try Fixture.tool(#"head -c 16777216 /dev/zero | tr '\0' "$1" | gzip -9"#, character)
    return (0..<64).reduce(into: Data()) { bomb, _ in bomb += member }
  }

  private func expectRefused(
    _ file: URL, _ place: String, _ root: TestRoot, _ digest: String,
    _ ways: [[String]] = [[], ["--full", "--accept-loss"]]
  ) throws {
    for options in ways {
      let run = try root.run(["apply", file.path] + options)
      #expect(
        run.code == 65 && run.isOrderly && run.output.isEmpty,
        "\(place): \(run.code) \(run.words.prefix(300))")
      #expect(run.words.contains(file.path) && run.words.contains(place), "\(place): \(run.words.prefix(300))")
      #expect(run.words.utf8.count < 1000)
    }
    #expect(try root.digest() == digest)
  }

  @Test func `a gigabyte in a megabyte is refused on the way, in bounded memory`() throws {
    let root = try filled()
    let digest = try root.digest()
    for (character, place) in [(" ", "268435456"), (#"\0"#, "byte 0x00 at byte 0")] {
      let file = try root.folder.file("bomb.json", answer(bomb(character)))
      try expectRefused(file, place, root, digest)
    }
    let (own, children) = peak()
    #expect(children <= max(own, 384 << 20), "\(children) bytes")
  }

  @Test func `rows that are all but empty are refused on the way, in bounded memory`() throws {
    let root = try filled()
    let digest = try root.digest()
    // 20,000,000 rows in some 60 KiB of gzip.
    let list = #"{ printf '{"appProductVOList":['; yes '{},' | tr -d '\n' | head -c "$1"; printf '{}],"#
    let packed = try Fixture.tool(list + #""appProductRelVOList":[],"updateTime":"t"}'; } | gzip -9"#, "60000000")
    try expectRefused(
      root.folder.file("rows.json", answer(packed)),
      "more than 1000000 rows, the limit for an answer that is packed so",
      root, digest, depth == 1 ? [["--full", "--accept-loss"]] : [[], ["--full", "--accept-loss"]])
    // Without packing, an increment takes two million, and says how to take more.
    let rows = Data(#"{"appProductVOList":["#.utf8) + Data(String(repeating: "{},", count: 2_000_000).utf8)
    let file = try root.folder.file(
      "bare.json", rows + Data(#"{}],"appProductRelVOList":[],"updateTime":"t"}"#.utf8))
    let run = try root.run("apply", file.path)
    #expect(run.code == 65 && run.output.isEmpty && run.words.contains("--full"), "\(run.words)")
    #expect(run.words.contains(file.path) && run.words.contains("more than 2000000 rows"), "\(run.words)")
    #expect(try root.digest() == digest)
    let (own, children) = peak()
    #expect(children <= max(own, 384 << 20), "\(children) bytes")
  }

  static let refusals: [(String, Data)] = {
    let megabyte = 1 << 20
    func text(_ count: Int) -> String { String(repeating: "7", count: count) }
    func product(_ fields: String) -> Data {
      Data(#"{"appProductVOList":[{"id":"1",\#(fields)}],"appProductRelVOList":[],"updateTime":"t"}"#.utf8)
    }
    let brackets = String(repeating: "[", count: 100_000)
    return [
      ("an array instead of an object", Data(brackets.utf8)),
      ("more than 512 levels of nesting at byte", product(#""x":\#(brackets)"#)),
      (
        #"11 of 12 rows of the answer exceed a limit of the format, and at most 10 may be skipped; the first is product 0 "#
          + #"(from 0) with the id "1": the keys of a row of 70001 bytes"#,
        product((1...11).map { #""barcode":"\#(text(70_000))"},{"id":"\#($0)""# }.joined(separator: ",") + #","x":1"#)
      ),
      (
        "1025 bytes, the limit is 1024",
        Data(#"{"appProductVOList":[],"appProductRelVOList":[],"updateTime":"\#(text(1025))"}"#.utf8)
      ),
      ("invalid UTF-8 at byte 39, in row 0", product(#""name":"?""#).map { $0 == 0x3F ? 0xFF : $0 }.asData),
      ("invalid UTF-8", product(#""name":"?""#).map { $0 == 0x3F ? 0xC0 : $0 }.asData),
    ]
  }()

  @Test(arguments: refusals.indices)
  func `what cannot be is refused with its place, and nothing changes`(index: Int) throws {
    let root = try filled()
    let (place, bytes) = Self.refusals[index]
    try expectRefused(root.folder.file("payload.json", bytes), place, root, root.digest())
  }

  @Test(arguments: [
    (#""barcode":"7""#, 1 << 20, "the keys of a row of 1048580 bytes"), (#""brand":"7""#, 17 << 20, "a shared string"),
    (#""name":"7""#, 17 << 20, "a row of products"),
  ])
  func `one row that exceeds a limit is skipped, and the others are taken`(
    field: String, count: Int, words: String
  ) throws {
    let root = try filled()
    let long = field.replacing("7", with: String(repeating: "7", count: count))
    for options in [[], ["--full"]] {
      var payload = Payload.products(2, cursor: "new", name: "new")
      payload.product("huge", long)
      let run = try root.run(["apply", root.payload(payload).path] + options)
      #expect(run.code == 0 && run.words.contains(words), "\(run.words.prefix(300))")
      #expect(try root.run("get", "--id", "p1", "--json").object().text("name") == "new 1")
      #expect(try root.run("get", "--id", "huge").code == 1)
      #expect(try root.run("verify").code == 0)
    }
    let (own, children) = peak()
    #expect(children <= max(own, 384 << 20), "\(children) bytes")
  }

  @Test func `a length that gzip declares and does not keep is a cut transfer`() throws {
    let root = try filled()
    let digest = try root.digest()
    // An extra field of 65,535 bytes of which 100 came; a name of 4 MiB without an end.
    let header: [UInt8] = [0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 3]
    var named = header
    named[3] = 8
    for data in [Data(header + [0xFF, 0xFF]) + Data(count: 100), Data(named) + Data(repeating: 0x6E, count: 4 << 20)] {
      try expectRefused(root.folder.file("answer.json", answer(data)), "ends early", root, digest)
    }
  }

  @Test func `numbers and texts of a megabyte, and keys that come twice, are taken as the rules say`() throws {
    let long = String(repeating: "1", count: 1 << 20)
    var payload = Payload()
    payload.product("a", #""weight":\#(long),"wide":0.\#(long),"groupNum":\#(long),"tall":1e\#(long)"#)
    payload.product("b", #""name":"\#(long)","\#(long)":1"#)
    payload.product("c", #""brand":"\#(long)""#)
    payload.product("d", #""name":"first","name":"second","id":"e""#)
    let root = try TestRoot(answers: [])
    let run = try root.apply([root.payload(payload)])
    #expect(run.code == 0, "\(run.words.prefix(300))")
    let rows = try root.run("dump").objects()
    #expect(rows.map { $0.text("id") } == ["a", "b", "c", "d"])
    #expect(rows[0].number("groupNum") == 1 && (rows[0]["wide"] as? NSNumber)?.doubleValue.isFinite == true)
    #expect(rows[1].text("name")?.utf8.count == 1 << 20 && rows[2].text("brand")?.utf8.count == 1 << 20)
    #expect(rows[3].text("name") == "first")
    let (own, children) = peak()
    #expect(children <= max(own, 384 << 20), "\(children) bytes")
  }

  @Test func `an answer that is cut anywhere is refused, and nothing changes`() throws {
    let root = try filled()
    let digest = try root.digest()
    let whole = try Data(contentsOf: Fixture.url("wire/all-25.response"))
    for length in stride(from: 0, to: whole.count, by: whole.count / 20 + 1) {
      let run = try root.run("apply", root.folder.file("cut.json", whole.prefix(length)).path)
      #expect(run.code == 65 && run.isOrderly && run.words.contains("cut.json"), "\(length): \(run.words)")
    }
    #expect(try root.digest() == digest)
    #expect(try root.run("apply", root.folder.file("whole.json", whole).path).code == 0)
  }
}

extension [UInt8] {
  fileprivate var asData: Data { Data(self) }
}
