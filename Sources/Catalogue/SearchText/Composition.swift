/// The composition of scalars that folding leaves composed: Hangul syllables, and kana with voicing marks.
///
/// All other letters are decomposed in a folded text, so that their marks can be dropped or put in order.
enum Composition {
  // The arithmetic of Hangul syllables is in the Unicode Standard, section 3.12.
  private static let leading: Range<UInt32> = 0x1100..<0x1113
  private static let vowels: Range<UInt32> = 0x1161..<0x1176
  private static let trailing: Range<UInt32> = 0x11A8..<0x11C3
  private static let syllables: Range<UInt32> = 0xAC00..<0xD7A4

  /// Whether a scalar may complete a Hangul syllable.
  static func endsHangulSyllable(_ scalar: UInt32) -> Bool {
    vowels.contains(scalar) || trailing.contains(scalar)
  }

  /// Whether a scalar is a combining voicing mark of kana: dakuten or handakuten.
  static func isVoicing(_ scalar: UInt32) -> Bool { scalar == 0x3099 || scalar == 0x309A }

  /// What two scalars compose; `nil` if they do not.
  static func of(_ first: UInt32, _ second: UInt32) -> UInt32? {
    if isVoicing(second) { return kana(first, isHalf: second == 0x309A) }
    if leading.contains(first), vowels.contains(second) {
      let row = (first - leading.lowerBound) * UInt32(vowels.count) + second - vowels.lowerBound
      return syllables.lowerBound + row * 28
    }
    // Each syllable without a trailing consonant is followed by its 27 syllables with one.
    if syllables.contains(first), (first - syllables.lowerBound) % 28 == 0, trailing.contains(second) {
      return first + second - trailing.lowerBound + 1
    }
    return nil
  }

  /// A kana with its voicing mark. The blocks of Hiragana and Katakana have the same order: か が, は ば ぱ.
  private static func kana(_ kana: UInt32, isHalf: Bool) -> UInt32? {
    switch kana {
    // ワ ヰ ヱ ヲ
    case 0x30EF...0x30F2: return isHalf ? nil : kana + 8
    default: break
    }
    let isKatakana = kana >= 0x30A0
    let row = isKatakana ? kana &- 0x60 : kana
    switch row {
    // は ひ ふ へ ほ, each with two voiced forms after it
    case 0x306F, 0x3072, 0x3075, 0x3078, 0x307B: return kana + (isHalf ? 2 : 1)
    case _ where isHalf: return nil
    // か to ち, つ て と, and the repeat mark
    case 0x304B...0x3061: return row % 2 == 1 ? kana + 1 : nil
    case 0x3064, 0x3066, 0x3068, 0x309D: return kana + 1
    // う, whose voiced form is at the end of the block
    case 0x3046: return kana + 0x4E
    default: return nil
    }
  }
}
