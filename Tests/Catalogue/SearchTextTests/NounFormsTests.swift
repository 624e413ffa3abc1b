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
    // English
    ("leaf", "leaves"), ("loaf", "loaves"), ("half", "halves"), ("shelf", "shelves"), ("scarf", "scarves"),
    ("knife", "knives"), ("thief", "thieves"), ("hoof", "hooves"), ("life", "lives"), ("bookshelf", "bookshelves"),
    // German
    ("kartoffel", "kartoffeln"), ("nudel", "nudeln"), ("zwiebel", "zwiebeln"), ("gabel", "gabeln"), ("igel", "igeln"),
    ("feder", "federn"), ("leiter", "leitern"), ("klammer", "klammern"), ("ader", "adern"),
    // French
    ("chou", "choux"), ("bijou", "bijoux"), ("caillou", "cailloux"), ("genou", "genoux"), ("jeu", "jeux"),
    ("cheveu", "cheveux"), ("noyau", "noyaux"), ("tuyau", "tuyaux"), ("clou", "clous"), ("trou", "trous"),
    ("ecrou", "ecrous"), ("pneu", "pneus"), ("travail", "travaux"), ("corail", "coraux"), ("vitrail", "vitraux"),
    ("canal", "canaux"), ("eau", "eaux"),
    // Spanish
    ("nuez", "nueces"), ("pez", "peces"), ("luz", "luces"), ("arroz", "arroces"), ("lapiz", "lapices"),
    ("cruz", "cruces"), ("maiz", "maices"), ("capataz", "capataces"),
  ])
  func `a regular ending is enough where the stemmers do not know it`(_ singular: String, _ plural: String) {
    #expect(forms(plural).contains(singular))
    #expect(forms(singular).contains(plural) || plural.hasPrefix(singular))
    #expect(!forms(singular).contains { $0.hasPrefix(singular) })
  }

  @Test(arguments: [
    ("graves", "graf"), ("actives", "actif"), ("caves", "cafe"), ("olives", "olif"), ("doux", "dou"), ("roux", "rou"),
    ("taux", "tau"), ("taux", "tail"), ("aux", "ail"), ("meaux", "meal"), ("sous", "sou"), ("tous", "tou"),
    ("essences", "essenz"), ("frances", "franz"), ("heln", "hel"), ("kern", "ker"),
  ])
  func `words that end alike by chance are none`(_ word: String, _ other: String) {
    #expect(!forms(word).contains(other))
    #expect(!forms(other).contains(word))
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
