import Bytes
import Foundation
import RandomTestSupport
import SearchText
import Testing

@Suite struct TextFolderTests {
  @Test(arguments: [
    ("Lindor, Assorted Chocolate Truffles", "|lindor|assorted|chocolate|truffles"),
    ("Pâte à tartiner noisettes 400g", "|pate|a|tartiner|noisettes|400g"),
    ("KFR-35GW/N1", "|kfr+35gw+n1"),
    ("KFR - 35GW // N1", "|kfr|35gw|n1"),
    ("-a-", "|a"),
    ("l'eau l’eau L´EAU", "|l+eau|l+eau|l+eau"),
    ("AT&T C++ 1.5 l", "|at+t|c|1+5|l"),
    ("格力KFR-35空调", ":格力|kfr+35:空调"),
    ("格力-空调・扇", ":格力+空调+扇"),
    ("5㎏ 10½ m² №7", "|5kg|10|1+2|m2|no+7"),
    ("Nutella™ 10×20 ®", "|nutella|10+x+20"),
    ("🍫 Schoko\u{AD}lade ❤️ 1️⃣", "|schokolade|1"),
    ("ŁÓDŹ Ørsted Đorđe Œuvre ÆGIR Straße ẞ", "|lodz|orsted|dorde|oeuvre|aegir|strasse|ss"),
    ("ΣΊΣΥΦΟΣ σίσυφος", "|σισυφοσ|σισυφοσ"),
    ("Йогурт ЁЖ", "|иогурт|еж"),
    ("ＫＦＲ－３５ ｶﾞﾗｽ ﾊﾟﾝ コーヒー", "|kfr+35:ガラス:パン:コーヒー"),
    ("한국어 ᄒ\u{1161}\u{11AB}", ":한국어:한"),
    ("שָׁלוֹם مُحَمَّد أحـمد", "|שלום|محمد|احمد"),
    ("हिन्दी ก็", "|हिन्दी|ก็"),
    ("٤٠٠ ४००", "|400|400"),
    ("", ""), (" - ", ""), ("\u{301}", ""), ("a\u{0}b", "|a|b"),
  ])
  func `a text is folded and divided into tokens`(text: String, expected: String) {
    #expect(layout(text) == expected)
  }

  @Test(arguments: [
    ("電視機", "电视机"), ("髮", "发"), ("發", "发"), ("餅乾", "饼干"), ("乾", "干"), ("乾隆", "干隆"), ("著", "着"), ("後", "后"),
    ("台臺檯", "台台台"), ("裡裏", "里里"),
    ("週末", "周末"), ("淨水", "净水"), ("雞蛋", "鸡蛋"), ("鷄", "鸡"), ("妳", "你"), ("瀋陽", "沈阳"), ("徵", "征"), ("瑙", "瑙"),
    ("格力空調", "格力空调"), ("简体", "简体"),
  ])
  func `traditional Chinese becomes simplified`(text: String, expected: String) {
    #expect(tokens(text) == [expected])
  }

  @Test func `kana and their voicing marks compose as in NFC`() {
    for value in UInt32(0x3041)...0x30FF {
      let kana = String(Unicode.Scalar(value)!)
      for marks in ["\u{3099}", "\u{309A}", "\u{309A}\u{3099}", "\u{3099}\u{3099}", "\u{302A}\u{3099}", "ﾞ"] {
        let text = kana + marks
        let expected = tokens(text.precomposedStringWithCompatibilityMapping)
        #expect(tokens(text.decomposedStringWithCanonicalMapping) == expected)
        #expect(tokens(text) == expected)
        if marks.unicodeScalars.count == 1, tokens(kana) == [kana] {
          #expect(expected == [text.precomposedStringWithCompatibilityMapping])
        }
      }
    }
  }

  @Test func `full width and half width fold alike`() {
    for value in UInt32(0x21)...0x7E {
      let (half, full) = (Unicode.Scalar(value)!, Unicode.Scalar(value + 0xFEE0)!)
      #expect(layout("a\(half)b") == layout("ａ\(full)ｂ"))
    }
    for value in UInt32(0xFF66)...0xFF9D {
      let half = String(Unicode.Scalar(value)!)
      #expect(layout(half) == layout(half.precomposedStringWithCompatibilityMapping))
      #expect(layout(half + "ﾞ") == layout((half + "ﾞ").precomposedStringWithCompatibilityMapping))
    }
  }

  @Test func `composed and decomposed forms of a text fold alike, and folding again changes nothing`() {
    var random = SeededGenerator(for: "TextFolderTests.forms")
    var folder = TextFolder()
    for _ in 0..<4_000 * depth {
      let text = randomText(12, from: basicAlphabet, using: &random)
      let expected = layout(text)
      for form in [text.precomposedStringWithCanonicalMapping, text.decomposedStringWithCanonicalMapping] {
        #expect(layout(form) == expected, "\(text.debugDescription)")
      }
    }
    for _ in 0..<4_000 * depth {
      let text = randomText(12, using: &random)
      folder.fold(Array(text.utf8).rawSpan)
      for token in folder.tokens {
        let folded = folder.string(of: token)
        #expect(layout(folded) == (token.kind == .cjk ? ":" : "|") + folded, "\(text.debugDescription)")
      }
    }
  }

  @Test func `tracking changes nothing, and leads each byte to characters of the source`() {
    var random = SeededGenerator(for: "TextFolderTests.tracking")
    var (folder, plain) = (TextFolder(), TextFolder())
    for _ in 0..<2_000 * depth {
      let text = randomText(12, using: &random)
      folder.fold(Array(text.utf8).rawSpan, tracking: true)
      plain.fold(Array(text.utf8).rawSpan)
      let isSame = folder.bytes.hasSameBytes(as: plain.bytes)
      #expect(isSame && folder.tokens == plain.tokens)
      #expect(plain.source(of: 0..<100) == 0..<0)
      let source = Array(text.utf16)
      var last = 0..<0
      for token in folder.tokens {
        for offset in token.range {
          let range = folder.source(of: offset..<offset + 1)
          #expect(!range.isEmpty && range.upperBound <= source.count)
          #expect(range == last || range.lowerBound >= last.upperBound, "\(text.debugDescription)")
          last = range
        }
        let range = folder.source(of: token.range)
        let part = String(decoding: source[range], as: UTF16.self)
        // The part of the source folds to the token, if no other token comes from the same character.
        let others = folder.tokens.filter { $0 != token && folder.source(of: $0.range).overlaps(range) }
        if others.isEmpty { #expect(tokens(part) == [folder.string(of: token)], "\(text.debugDescription)") }
      }
    }
  }

  @Test func `tracked ranges consist of whole characters`() {
    let texts = [
      "Pa\u{302}te e\u{301}\u{323} a\u{300}", "👨‍👩‍👧 Crème 🍫brûlée", "ｶﾞﾗｽ が\u{3099}か\u{3099}",
      "각\u{1100}\u{1161}\u{11A8}나",
      "ﬁn ㎏ x",
      "Straße 𝐀bc 𠀀𠀁", "葛\u{E0100}城 1️⃣ a", "Йи\u{306}", "ñn\u{303}ñ",
    ]
    var folder = TextFolder()
    for text in texts {
      folder.fold(Array(text.utf8).rawSpan, tracking: true)
      var boundaries: Set<Int> = [0]
      for character in text { boundaries.insert(boundaries.max()! + String(character).utf16.count) }
      for token in folder.tokens {
        for offset in token.range {
          let range = folder.source(of: offset..<offset + 1)
          #expect(boundaries.isSuperset(of: [range.lowerBound, range.upperBound]), "\(text) \(range)")
        }
      }
    }
    folder.fold(Array("Une crème".utf8).rawSpan, tracking: true)
    #expect(folder.source(of: folder.tokens[1].range) == 4..<9)
    #expect(folder.source(of: 0..<100) == 0..<9 && folder.source(of: 100..<200) == 0..<0)
  }

  @Test func `bytes that are not UTF-8 separate tokens, and count as String repairs them`() {
    #expect(tokens([0x61, 0xFF, 0x62]) == ["a", "b"])
    // Surrogates, an overlong form, numbers beyond Unicode, and scalars that are cut off.
    let parts: [[UInt8]] = [
      [0xED, 0xA0, 0x80], [0xED, 0xB0, 0x80], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF8],
      [0x80], [0xC3], [0xE6, 0xA0], [0xF0, 0x9F, 0x8D],
    ]
    for part in parts {
      #expect(tokens([0x61] + part + [0x62]) == ["a", "b"])
      #expect(tokens(part) == [])
      #expect(tokens([0x61] + part) == ["a"])
    }
    var random = SeededGenerator(for: "TextFolderTests.bytes")
    var folder = TextFolder()
    for _ in 0..<4_000 * depth {
      var utf8 = Array(randomText(6, using: &random).utf8)
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let byte = UInt8.random(in: 0...255, using: &random)
        utf8.insert(byte, at: Int.random(in: 0...utf8.count, using: &random))
      }
      let repaired = String(decoding: utf8, as: UTF8.self)
      folder.fold(utf8.rawSpan, tracking: true)
      #expect(folder.tokens.map { folder.string(of: $0) } == tokens(repaired))
      let sources = folder.tokens.map { folder.source(of: $0.range) }
      folder.fold(Array(repaired.utf8).rawSpan, tracking: true)
      #expect(folder.tokens.map { folder.source(of: $0.range) } == sources)
    }
  }

  @Test func `a long row of marks takes no longer than other text`() {
    let count = 500_000
    #expect(tokens(String(repeating: "\u{301}", count: count)) == [])
    #expect(tokens("e" + String(repeating: "\u{301}", count: count)) == ["e"])
    // Marks that stay, in the wrong order: virama and nukta.
    let marks = String(repeating: "\u{94D}\u{93C}", count: count / 2)
    let expected = "क" + String(repeating: "\u{93C}", count: count / 2) + String(repeating: "\u{94D}", count: count / 2)
    var folder = TextFolder()
    folder.fold(Array(("क" + marks).utf8).rawSpan, tracking: true)
    #expect(folder.tokens.count == 1 && Array(folder.string(of: folder.tokens[0]).utf8) == Array(expected.utf8))
    #expect(folder.source(of: folder.tokens[0].range) == 0..<count + 1)
    #expect(tokens(String(repeating: "\u{FDFA}", count: 10_000)).count == 40_000 - 9_999)
    #expect(tokens([UInt8](repeating: 0, count: 1 << 20)) == [])
    #expect(tokens([UInt8](repeating: 0x80, count: 1 << 20)) == [])
  }

  @Test func `a folder forgets the text before`() {
    var folder = TextFolder()
    folder.fold(Array("Ein langer Text mit vielen Wörtern, 格力 und ग़".utf8).rawSpan, tracking: true)
    folder.fold(Array("-x".utf8).rawSpan)
    #expect(folder.tokens.map(\.range) == [0..<1] && !folder.tokens[0].isJoined && folder.tokens[0].kind == .word)
    let (all, token) = (folder.bytes.copied(), folder.bytes(of: folder.tokens[0]).copied())
    #expect(all == [0x78] && token == all)
    #expect(folder.source(of: 0..<1) == 0..<0)
    folder.fold([UInt8]().rawSpan)
    let byteCount = folder.bytes.byteCount
    #expect(folder.tokens.isEmpty && byteCount == 0)
  }

  @Test func `the characters of a token are decoded one by one`() {
    var random = SeededGenerator(for: "TextFolderTests.characters")
    for _ in 0..<2_000 {
      let text = randomText(10, using: &random)
      let utf8 = Array(text.utf8)
      var (scalars, offset) = ([Unicode.Scalar](), 0)
      while offset < utf8.count {
        let (scalar, byteCount) = UTF8Decoding.scalar(at: offset, in: utf8.rawSpan)
        scalars.append(scalar)
        offset += byteCount
      }
      #expect(scalars == Array(text.unicodeScalars) && offset == utf8.count)
    }
  }
}
