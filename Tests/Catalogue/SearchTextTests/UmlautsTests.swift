import Bytes
import SearchText
import Testing

@Suite struct UmlautsTests {
  private func expanded(_ text: String) -> String? {
    expanded(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  private func expanded(_ bytes: [UInt8]) -> [UInt8]? { Umlauts.expanded(bytes.rawSpan) }

  @Test(arguments: [
    ("Müsli", "Muesli"), ("MÜSLI", "MuESLI"), ("Mu\u{308}sli", "Muesli"), ("äöü", "aeoeue"), ("ä", "ae"),
    ("Käse-Öl über", "Kaese-oel ueber"), ("\u{308}ä", "\u{308}ae"), ("Größe", "Groeße"),
  ])
  func `umlauts become two letters, composed or not`(_ text: String, _ letters: String) {
    #expect(expanded(text)?.lowercased() == letters.lowercased())
  }

  @Test(arguments: ["", "Muesli", "é", "e\u{308}", "ß", "格力", "\u{308}", "naïve", "Ø å æ"])
  func `a text without umlauts has no other spelling`(_ text: String) {
    #expect(expanded(text) == nil)
  }

  @Test func `bytes that are not UTF-8 stay`() {
    #expect(expanded([0xC3]) == nil)
    #expect(expanded([0xFF, 0xC3, 0xBC, 0xC3]) == [0xFF, 0x75, 0x65, 0xC3])
    #expect(expanded([0x75, 0xCC]) == nil)
  }

  @Test func `two letters are read as an umlaut, or as they are`() {
    func contractions(_ word: String) -> Set<String> {
      Set(Umlauts.contractions(of: Array(word.utf8)).map { String(decoding: $0, as: UTF8.self) })
    }
    #expect(contractions("muesli") == ["musli"])
    #expect(contractions("kaesekuechle") == ["kasekuechle", "kaesekuchle", "kasekuchle"])
    #expect(contractions("kse") == [] && contractions("") == [] && contractions("e") == [])
    #expect(contractions(String(repeating: "ue", count: 30)).count == 7)
    #expect(Umlauts.mayHave(Array("blue".utf8)) && !Umlauts.mayHave(Array("bleu".utf8)))
  }
}

@Suite struct ConjunctionsTests {
  private func isWord(_ text: String) -> Bool { Conjunctions.isWord(Array(text.utf8).rawSpan) }
  private func hasSign(_ bytes: [UInt8]) -> Bool { Conjunctions.hasSign(bytes.rawSpan) }

  @Test func `and is a word of five languages, or a sign`() {
    for word in ["and", "und", "et", "y", "e"] { #expect(isWord(word)) }
    for word in ["", "a", "an", "ands", "en", "or", "z"] { #expect(!isWord(word)) }
    for text in ["a & b", "a+b", "a ＆ b", "a﹠b", "＋", "﹢"] { #expect(hasSign(Array(text.utf8)), "\(text)") }
    for text in ["", "a and b", "a - b", "ｚ", "\u{FEFF}"] { #expect(!hasSign(Array(text.utf8)), "\(text)") }
    #expect(!hasSign([0xEF, 0xBC]))
  }
}
