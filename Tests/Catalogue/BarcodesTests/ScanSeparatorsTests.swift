import Testing

@testable import Barcodes

@Suite struct ScanSeparatorsTests {
  @Test(
    arguments: [
      ("", []), ("|", ["|"]), ("|^", ["|", "^"]), ("<GS>", ["<GS>"]), ("{GS}|<GS>", ["{GS}", "<GS>", "|"]),
      ("^]", ["^]"]), ("^^]", ["^]", "^"]), ("^|]", ["^", "|", "]"]), ("~d029~", ["~d029", "~"]),
      ("<FNC1>", ["<FNC1>"]), ("||", ["|"]), ("\u{1D}", ["\u{1D}"]), ("\r\n", ["\r", "\n"]), (" ", [" "]),
    ] as [(String, [String])])
  func `known tokens are taken whole, every other character alone`(text: String, separators: [String]) throws {
    let read = try ScanConfiguration.separators(in: text)
    #expect(read == separators)
    // None of them is a programmer's error.
    #expect(ScanConfiguration(separators: read).separators == separators)
  }

  @Test(arguments: ["A", "7", "|0", "é", "０", "字", "²", "|\u{301}", "<gs>", "<GS", "~d02", "d029", "FNC1"])
  func `letters and digits on their own are refused`(text: String) {
    #expect(throws: SeparatorsError.self) { try ScanConfiguration.separators(in: text) }
  }

  @Test func `an error names the character and what may be written`() {
    let error = #expect(throws: SeparatorsError.self) { try ScanConfiguration.separators(in: "|x") }
    #expect(error == .ordinaryCharacter("x"))
    #expect(error?.description.contains("'x'") == true && error?.description.contains("<GS>") == true)
  }

  @Test func `the number of separators is limited`() throws {
    let scalars = (0x2190..<0x2190 + ScanConfiguration.maximumSeparatorCount).compactMap(Unicode.Scalar.init)
    let text = scalars.map(String.init).joined()
    #expect(try ScanConfiguration.separators(in: text).count == ScanConfiguration.maximumSeparatorCount)
    #expect(throws: SeparatorsError.tooMany) { try ScanConfiguration.separators(in: text + "|") }
    #expect(try ScanConfiguration.separators(in: text + text).count == ScanConfiguration.maximumSeparatorCount)
  }

  @Test(arguments: ["|", "<GS>", "^]", "{GS}", "~d029", "<FNC1>"])
  func `element strings are split at what the text says`(separator: String) throws {
    let configuration = ScanConfiguration(separators: try ScanConfiguration.separators(in: "^|<GS>{GS}^]~d029<FNC1>"))
    let scan = Scan("010690123456789210A1\(separator)17261231", configuration: configuration)
    #expect(scan.elements?["10"] == "A1" && scan.elements?["17"] == "261231")
  }
}
