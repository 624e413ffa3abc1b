import Bytes
import RandomTestSupport
import SearchText
import Testing

@Suite struct NounFormsTests {
  private let nouns = NounForms()

  private func forms(_ word: String) -> [String] {
    nouns.forms(of: Array(word.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    // English
    ("cookies", "cookie"), ("berries", "berry"), ("berry", "berries"), ("tomatoes", "tomato"), ("boxes", "box"),
    ("brushes", "brush"), ("batteries", "battery"), ("glasses", "glass"), ("drills", "drill"),
    // German, as it is folded
    ("hauser", "haus"), ("nusse", "nuss"), ("glaser", "glas"), ("tomaten", "tomate"), ("wurste", "wurst"),
    ("schrauben", "schraube"), ("bretter", "brett"), ("autos", "auto"),
    // French
    ("gateaux", "gateau"), ("chevaux", "cheval"), ("cheval", "chevaux"), ("yaourts", "yaourt"), ("huiles", "huile"),
    // Spanish
    ("galletas", "galleta"), ("limones", "limon"), ("panes", "pan"), ("tornillos", "tornillo"), ("papeles", "papel"),
  ])
  func `the singular and the plural of a word are forms of it`(_ word: String, _ form: String) {
    #expect(forms(word).contains(form))
  }

  @Test(arguments: [
    ("glass", "glas"), ("pasta", "paste"), ("paste", "pasta"), ("organic", "organ"), ("universal", "university"),
    ("pollo", "polla"), ("bus", "bu"), ("cookie", "cookies"),
  ])
  func `other words are none, nor what begins with the word`(_ word: String, _ other: String) {
    #expect(!forms(word).contains(other))
  }

  @Test(arguments: ["", "s", "as", "m8s", "10s", "格力", "käses", "s's", String(repeating: "s", count: 41)])
  func `a short or long word, and one with anything but letters, has no forms`(_ word: String) {
    #expect(forms(word) == [])
  }

  @Test func `any bytes are accepted, and no form begins with the word or comes twice`() {
    var random = SeededGenerator(for: "NounFormsTests")
    let letters = Array("esnrxyliabt".utf8)
    for round in 0..<2_000 * depth {
      let count = Int.random(in: 0...12, using: &random)
      let word = (0..<count).map { _ in
        round % 4 == 0 ? UInt8.random(in: 0...255, using: &random) : letters.randomElement(using: &random)!
      }
      let found = nouns.forms(of: word)
      #expect(Set(found).count == found.count)
      #expect(!found.contains { $0.starts(with: word) || $0.count < 3 })
    }
  }
}
