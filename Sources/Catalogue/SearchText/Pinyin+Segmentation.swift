import Bytes
import CSearchTables

extension Pinyin {
  /// Letters divided into syllables.
  public struct Segmentation: Hashable, Sendable {
    /// The complete syllables.
    public internal(set) var syllables: [Syllable] = []
    /// The letters after them, which begin a syllable: `g` in `gelig`. Empty if the last syllable is complete. It may
    /// begin a longer syllable then too, as `li` does in `geli`.
    public internal(set) var rest = ""

    /// How many syllables were typed with `u` for ü, or with `v` where `u` is written.
    var respelledCount = 0
    /// The fewer, the more plausible.
    var partCount: Int { syllables.count + (rest.isEmpty ? 0 : 1) }
  }

  /// The most letters that ``segmentations(of:)`` divides.
  public static let mostLetters = 40
  /// The most segmentations that ``segmentations(of:)`` returns.
  public static let mostSegmentations = 16

  /// Divides typed letters into syllables, in all ways.
  ///
  /// The last syllable may be incomplete. `ü` may be typed as `v` or as `u`; `lu` is both 路 and 绿, and gives two
  /// segmentations. `jv`, `qv`, `xv` and `yv` are `ju`, `qu`, `xu` and `yu`.
  ///
  ///     Pinyin.segmentations(of: Array("xian".utf8).rawSpan)
  ///     // xian · xi an · xia n… · xi a n…
  ///
  /// - Parameter letters: The letters `a` to `z`.
  /// - Returns: At most ``mostSegmentations``, the most plausible first: those of fewer parts, then those whose last
  ///   syllable is complete, then those that are typed as they are written, then those with a longer first syllable.
  ///   Empty if the letters cannot be divided, if there are none or more than ``mostLetters``, or if any is not `a` to
  ///   `z`.
  /// - Complexity: O(n) for n letters.
  public static func segmentations(of letters: RawSpan) -> [Segmentation] {
    let count = letters.byteCount
    if count == 0 || count > mostLetters { return [] }
    for offset in 0..<count where !(0x61...0x7A).contains(letters.u8(at: offset)) { return [] }
    // The best segmentations of the letters from each offset on. A best one of all letters consists of a syllable and a
    // best one of the others.
    var best: [[Segmentation]] = Array(repeating: [], count: count + 1)
    best[count] = [Segmentation()]
    for start in stride(from: count - 1, through: 0, by: -1) {
      var found: [Segmentation] = []
      for length in stride(from: min(longestSyllable, count - start), to: 0, by: -1) {
        let typed = word(letters.slice(start, length))
        for (syllable, isRespelled) in syllables(typed) {
          for var segmentation in best[start + length] {
            segmentation.syllables.append(syllable)
            segmentation.respelledCount += isRespelled ? 1 : 0
            found.append(segmentation)
          }
        }
        if start + length == count, syllables(typed).isEmpty, beginsSyllable(typed, length) {
          found.append(Segmentation(rest: string(letters.slice(start, length))))
        }
      }
      best[start] = Array(sorted(found).prefix(mostSegmentations))
    }
    // They were made from the end to the start.
    return best[0].map { segmentation in
      var segmentation = segmentation
      segmentation.syllables.reverse()
      return segmentation
    }
  }

  private static let longestSyllable = 6

  private static func sorted(_ segmentations: [Segmentation]) -> [Segmentation] {
    // The index keeps the order of those that are equally plausible: the longer first syllable comes first.
    let keys = segmentations.enumerated().map { index, each in
      (each.partCount, each.rest.isEmpty ? 0 : 1, each.respelledCount, index)
    }
    return keys.sorted { $0 < $1 }.map { segmentations[$0.3] }
  }

  private static func string(_ letters: RawSpan) -> String {
    var result = ""
    for offset in 0..<letters.byteCount { result.unicodeScalars.append(Unicode.Scalar(letters.u8(at: offset))) }
    return result
  }

  // Letters in one word, the first in the highest byte: words are in the order of the alphabet.

  private static func word(_ letters: RawSpan) -> UInt64 {
    var word: UInt64 = 0
    for offset in 0..<letters.byteCount { word |= UInt64(letters.u8(at: offset)) << UInt64(56 - 8 * offset) }
    return word
  }

  /// The first syllable that is not before `word` in the alphabet, as its number.
  private static func firstSyllable(from word: UInt64) -> UInt16 {
    UInt16(
      (0..<Int(search_pinyin_syllable_count)).partitioningIndex {
        search_pinyin_letters(UInt16($0)).byteSwapped >= word
      })
  }

  private static func syllable(_ word: UInt64) -> Syllable? {
    let id = firstSyllable(from: word)
    return search_pinyin_letters(id).byteSwapped == word ? Syllable(id: id) : nil
  }

  /// The syllables that may be typed so, and whether they are written otherwise.
  private static func syllables(_ typed: UInt64) -> [(Syllable, isRespelled: Bool)] {
    var found: [(Syllable, isRespelled: Bool)] = []
    if let syllable = syllable(typed) { found.append((syllable, false)) }
    if let respelled = respelled(typed), let syllable = syllable(respelled) { found.append((syllable, true)) }
    return found
  }

  /// The letters with `v` for `u` and `u` for `v` as their second letter, after a first letter that may have ü.
  private static func respelled(_ typed: UInt64) -> UInt64? {
    let first = UInt8(truncatingIfNeeded: typed >> 56)
    let second = UInt8(truncatingIfNeeded: typed >> 48)
    let other: UInt8
    switch (Unicode.Scalar(first), Unicode.Scalar(second)) {
    case ("l", "u"), ("n", "u"): other = UInt8(ascii: "v")
    case ("j", "v"), ("q", "v"), ("x", "v"), ("y", "v"): other = UInt8(ascii: "u")
    default: return nil
    }
    return typed & ~(0xFF << 48) | UInt64(other) << 48
  }

  /// Whether letters begin a syllable, in one of the spellings.
  private static func beginsSyllable(_ typed: UInt64, _ count: Int) -> Bool {
    for word in [typed, respelled(typed)] {
      guard let word else { continue }
      let next = search_pinyin_letters(firstSyllable(from: word)).byteSwapped
      if next >> UInt64(64 - 8 * count) == word >> UInt64(64 - 8 * count) { return true }
    }
    return false
  }
}
