import Foundation
import RandomTestSupport
import Testing

/// A command that is ended from outside leaves a whole commit or none.
@Suite struct InterruptionTests {
  @Test(arguments: [SIGKILL, SIGTERM, SIGINT], [false, true])
  func `a catalogue outlives a signal at any moment`(signal: Int32, isFull: Bool) throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(10))])
    let options = isFull ? ["apply", "--full", "--accept-loss"] : ["apply"]
    let count = depth == 1 ? 1_000 : 3_000
    let large = try root.payload(.products(count, cursor: "new", name: "new"), "large.json")
    // How long it takes undisturbed, to spread the moments over that time.
    let start = Date()
    _ = try root.run(options + [large.path])
    let duration = Date().timeIntervalSince(start)
    for moment in 1...4 {
      let before = try (root.dump(), root.run("stat", "--json").object().number("sequence") ?? -1)
      let content = try root.payload(.products(count, cursor: "cursor \(moment)", name: "name \(moment)"), "large.json")
      let process = Program.process(options + [content.path], root: root.path)
      let output = try root.folder.file("output")
      process.standardOutput = try FileHandle(forWritingTo: output)
      process.standardError = FileHandle.nullDevice
      try process.run()
      Thread.sleep(forTimeInterval: duration * Double(moment) / 4)
      kill(process.processIdentifier, signal)
      process.waitUntilExit()
      let isTold = try String(decoding: Data(contentsOf: output), as: UTF8.self).contains("committed")
      #expect(try root.digest().hasPrefix("digest "))
      let isCommitted = try root.cursor() == "cursor \(moment)"
      let dump = try root.dump()
      if isCommitted {
        #expect(dump.range(of: Data("name \(moment) \(count - 1)".utf8)) != nil)
      } else {
        #expect(!isTold)
        #expect(dump == before.0)
      }
      // The next command goes on with the next number.
      let small = try root.payload(.products(1, cursor: "again"), "small.json")
      let next = try root.run("apply", small.path)
      let sequence = before.1 + (isCommitted ? 2 : 1)
      #expect(next.lines == ["begin \(sequence)", "committed \(sequence) incremental again"], "\(next.words)")
    }
  }

  @Test(arguments: [["dump"], ["find", "product"], ["products", "--csv"], ["log"], ["scan", "c0", "c1"], ["users"]])
  func `a reader of the output may go`(arguments: [String]) throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(5_000))])
    let run = try root.run(arguments, shell: #"{ "$@"; echo "code $?" >&2; } | head -n 1"#)
    #expect(run.lines.count == 1)
    let codes = ["code 0", "code 141", "code 13"]
    #expect(codes.contains(run.words.trimmingCharacters(in: .whitespacesAndNewlines)), "\(run.words)")
  }
}
