import CSearchTables

/// Pinyin: how Chinese characters are read in Mandarin, in Latin letters and without tones.
public enum Pinyin {
  /// A syllable, such as `zhong`.
  ///
  /// Syllables are numbered from 0 in alphabetical order. Another version of Unicode may number them otherwise, so a
  /// number must not be stored.
  public struct Syllable: Hashable, Sendable {
    /// The number of the syllable.
    public let id: UInt16

    init(id: UInt16) { self.id = id }

    /// The number of syllables: ids are less.
    public static var count: Int { Int(search_pinyin_syllable_count) }

    /// The letters, one to six of `a` to `z`, with `v` for ü: `lv` for 绿. Needs no allocation.
    public var letters: String {
      var rest = packedLetters
      var letters = ""
      while rest != 0 {
        letters.unicodeScalars.append(Unicode.Scalar(UInt8(truncatingIfNeeded: rest)))
        rest >>= 8
      }
      return letters
    }

    /// The letters, the first one in the lowest byte; zeros above the last one.
    public var packedLetters: UInt64 { search_pinyin_letters(id) }

    /// The first letter.
    public var initial: UInt8 { UInt8(truncatingIfNeeded: search_pinyin_letters(id)) }
  }

  /// The readings of a character, at most four, the most usual one first.
  public struct Readings: RandomAccessCollection, Sendable {
    /// The numbers of the syllables plus one, the first in the lowest 16 bits.
    let packed: UInt64

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of readings.
    public var endIndex: Int { (64 - packed.leadingZeroBitCount + 15) / 16 }

    /// A reading. Traps if `index` is not less than the number of readings.
    public subscript(index: Int) -> Syllable {
      precondition(indices.contains(index), "the character has no reading of that number")
      return Syllable(id: UInt16(truncatingIfNeeded: packed >> UInt64(16 * index)) - 1)
    }
  }

  /// The readings of a character, of simplified and of traditional Chinese.
  ///
  /// - Parameter character: Any character.
  /// - Returns: The readings that are in use, the most usual one first. Empty for other characters than Han characters,
  ///   and for those that no modern dictionary reads.
  /// - Complexity: O(1).
  public static func readings(of character: Unicode.Scalar) -> Readings {
    Readings(packed: search_pinyin_readings(character.value))
  }
}
