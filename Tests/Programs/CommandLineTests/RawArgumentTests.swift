import Foundation
import Testing

/// Arguments are bytes; those that are no text are told, not repaired into somebody else's id.
@Suite struct RawArgumentTests {
  @Test(arguments: [#"\377"#, #"caf\351"#, #"a\303"#, #"\355\240\200"#, #"\300\257"#, #"\364\220\200\200"#])
  func `an argument that is no UTF-8 is a matter of usage, wherever it stands`(bytes: String) throws {
    let root = try TestRoot()
    let raw = #""$(printf '"# + bytes + #"')""#
    for (arguments, script) in [
      (["login"], "exec \"$@\" \(raw)"), (["scan", "--user", "u"], "exec \"$@\" \(raw)"),
      (["get", "--user", "u", "--barcode"], "exec \"$@\" \(raw)"), (["dump"], "exec \"$@\" --user=\(raw)"),
      (["apply", "--user", "u"], "exec \"$@\" \(raw)"), (["dump", "--user", "u"], "exec \"$@\" --root \(raw)"),
      (["dump", "--user", "u"], "CATALOG_ROOT=\(raw) exec \"$@\""),
    ] {
      let run = try root.run(arguments, shell: script)
      #expect(run.code == 64 && run.output.isEmpty && run.isOrderly, "\(arguments): \(run.code) \(run.words)")
      #expect(run.words.contains("is not valid UTF-8"), "\(run.words)")
      // What is said about it is text, on one line.
      #expect(!run.words.contains("\u{FFFD}") && run.words.split(separator: "\n").count == 1, "\(run.words)")
    }
    #expect(!root.exists)
  }

  @Test func `the message names the argument, its place, and no more than its beginning`() throws {
    let run = try TestRoot().run(["login"], shell: #"exec "$@" "$(printf 'ab\377\007%0300d' 1)""#)
    #expect(run.words.contains(#"argument 2, "ab\xFF\x07000"#), "\(run.words)")
    #expect(run.words.utf8.count < 400)
  }

  @Test func `every text is taken as it is`() throws {
    let root = try TestRoot()
    for id in ["\u{10FFFF}", "\u{FFFD}", "\u{E000}é用"] {
      #expect(try root.run("login", id).code == 0)
      #expect(try root.run("whoami").text == id + "\n")
    }
  }
}
