import Bytes
import RandomTestSupport
import SearchText
import Testing

@Suite struct PinyinTests {
  private func readings(_ character: Unicode.Scalar) -> String {
    Pinyin.readings(of: character).map(\.letters).joined(separator: "/")
  }

  private func segmentations(_ letters: String) -> [String] {
    Pinyin.segmentations(of: Array(letters.utf8).rawSpan).map { segmentation in
      (segmentation.syllables.map(\.letters) + (segmentation.rest.isEmpty ? [] : [segmentation.rest + "…"]))
        .joined(separator: " ")
    }
  }

  @Test(arguments: [
    ("重", "zhong/chong"), ("行", "xing/hang"), ("长", "zhang/chang"), ("長", "zhang/chang"), ("乐", "le/yue"),
    ("樂", "le/yue"), ("调", "diao/tiao"), ("調", "diao/tiao"), ("发", "fa"), ("髮", "fa"), ("女", "nv"), ("绿", "lv/lu"),
    ("了", "le/liao"), ("儿", "er"), ("阿", "a/e"), ("仔", "zi/zai"), ("着", "zhe/zhao/zhuo/zhu"), ("干", "gan/qian"),
    ("〇", ""), ("a", ""), ("あ", ""), ("한", ""), ("\u{10FFFF}", ""), ("㐀", "qiu"),
  ])
  func `a character has the readings in use, the most usual first`(character: Unicode.Scalar, expected: String) {
    #expect(readings(character) == expected)
  }

  @Test func `the initials of a name are the first letters of its readings`() {
    func initials(_ text: String) -> String {
      text.unicodeScalars.reduce(into: "") { $0.unicodeScalars.append(.init(Pinyin.readings(of: $1)[0].initial)) }
    }
    #expect(initials("格力挂机") == "glgj")
    #expect(initials("格力空调") == "glkd")
    #expect("格力挂机".unicodeScalars.map { Pinyin.readings(of: $0)[0].letters } == ["ge", "li", "gua", "ji"])
  }

  @Test func `every syllable has letters, and every reading is a syllable`() {
    let syllables = syllables
    #expect(syllables.count == Pinyin.Syllable.count)
    let all = syllables.map { Pinyin.segmentations(of: Array($0.utf8).rawSpan)[0] }
    #expect(all.map { $0.syllables.map { Int($0.id) } } == (0..<Pinyin.Syllable.count).map { [$0] })
    #expect(syllables == syllables.sorted() && Set(syllables).count == syllables.count)
    let read = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init).filter { !Pinyin.readings(of: $0).isEmpty }
    #expect(read.count > 26_000 && read.allSatisfy(\.properties.isIdeographic))
    let wrong = read.filter { scalar in
      let readings = Pinyin.readings(of: scalar)
      return readings.count > 4 || Set(readings).count < readings.count
        || readings.contains { Int($0.id) >= Pinyin.Syllable.count }
    }
    #expect(wrong.isEmpty)
  }

  /// The letters of all syllables that a character has, in the order of their ids.
  private var syllables: [String] {
    let all = (UInt32(0x3400)...0x9FFF).flatMap { Pinyin.readings(of: Unicode.Scalar($0)!).map { ($0.id, $0.letters) } }
    return Dictionary(all) { first, _ in first }.sorted { $0.key < $1.key }.map(\.value)
  }

  @Test(arguments: [
    ("geliguaji", ["ge li gua ji", "ge li gu a ji"]),
    ("gelig", ["ge li g…"]),
    ("xian", ["xian", "xi an", "xia n…", "xi a n…"]),
    ("fangan", ["fang an", "fan gan", "fang a n…"]),
    ("lv", ["lv"]), ("lu", ["lu", "lv"]), ("nver", ["nv er"]), ("lue", ["lve", "lu e", "lv e"]), ("jvzi", ["ju zi"]),
    ("zh", ["zh…"]), ("g", ["g…"]), ("glgj", []), ("", []), ("ge li", []), ("Ge", []), ("gé", []), ("v", []),
  ])
  func `letters are divided into syllables, the most plausible way first`(letters: String, expected: [String]) {
    let found = segmentations(letters)
    #expect(Array(found.prefix(expected.count)) == expected)
    if expected.isEmpty || letters == "xian" { #expect(found == expected) }
  }

  @Test func `segmentations are at most sixteen, of at most forty letters`() {
    #expect(segmentations(String(repeating: "xian", count: 10)).count == 16)
    #expect(segmentations(String(repeating: "xian", count: 10) + "a").isEmpty)
    let longest = segmentations(String(repeating: "a", count: 40))
    #expect(longest.first == Array(repeating: "a", count: 40).joined(separator: " "))
  }

  @Test func `the segmentations are all that there are, in order`() {
    var random = SeededGenerator(for: "PinyinTests")
    var syllablesBySpelling: [String: [String]] = [:]
    let syllables = syllables
    for syllable in syllables {
      for spelling in spellings(syllable) { syllablesBySpelling[spelling, default: []].append(syllable) }
    }
    for _ in 0..<300 * depth {
      let chosen = (0..<Int.random(in: 1...3, using: &random)).map { _ in syllables.randomElement(using: &random)! }
      let letters = chosen.joined().prefix(Int.random(in: 1...18, using: &random))
      let expected = divisions(letters, syllablesBySpelling)
      let found = segmentations(String(letters))
      #expect(Set(found).count == found.count)
      #expect(Set(found).isSubset(of: expected) && found.count == min(16, expected.count), "\(letters)")
      let sizes = found.map { $0.split(separator: " ").count }
      #expect(sizes == sizes.sorted())
    }
  }

  /// All ways to divide letters, by trying each beginning.
  private func divisions(_ letters: Substring, _ syllables: [String: [String]]) -> Set<String> {
    if letters.isEmpty { return [""] }
    var found: Set<String> = []
    for length in 1...letters.count {
      for syllable in syllables[String(letters.prefix(length))] ?? [] {
        for rest in divisions(letters.dropFirst(length), syllables) {
          found.insert(rest.isEmpty ? syllable : syllable + " " + rest)
        }
      }
    }
    let isIncomplete = syllables[String(letters)] == nil && syllables.keys.contains { $0.hasPrefix(letters) }
    if isIncomplete { found.insert(letters + "…") }
    return found
  }

  private func spellings(_ syllable: String) -> [String] {
    let rest = syllable.dropFirst(2)
    switch syllable.prefix(2) {
    case "lv": return [syllable, "lu" + rest]
    case "nv": return [syllable, "nu" + rest]
    case "ju", "qu", "xu", "yu": return [syllable, syllable.prefix(1) + "v" + rest]
    default: return [syllable]
    }
  }
}
