import Bytes

/// Umlauts, and how they are written without dots: ä as ae, ö as oe, ü as ue.
///
/// Folding drops the dots: `Müsli` is `musli`, and `Muesli` stays another word. `ß` needs nothing, as it is folded
/// to `ss`.
package enum Umlauts {
  /// The letters of umlauts.
  private static let letters = [UInt8(ascii: "a"), UInt8(ascii: "o"), UInt8(ascii: "u")]
  private static let e = UInt8(ascii: "e")

  /// Writes each umlaut of a text as two letters, whether it is one character or a letter with a mark.
  ///
  /// - Parameter utf8: The text, before it is folded.
  /// - Returns: The text with `ae`, `oe` and `ue`; `nil` if it has no umlaut.
  package static func expanded(_ utf8: RawSpan) -> [UInt8]? {
    var expanded: [UInt8]?
    var offset = 0
    // The bytes up to this one are in `expanded`, once there is an umlaut.
    var copied = 0
    while offset + 1 < utf8.byteCount {
      guard let letter = umlaut(at: offset, in: utf8) else {
        offset += 1
        continue
      }
      // A letter with a mark stays before it; in one character it is replaced. Both have two bytes.
      var bytes = expanded ?? []
      let isMark = utf8.u8(at: offset) == 0xCC
      bytes.append(utf8.slice(copied, offset - copied))
      if !isMark { bytes.append(letter) }
      bytes.append(e)
      expanded = bytes
      offset += 2
      copied = offset
    }
    expanded?.append(utf8.slice(copied, utf8.byteCount - copied))
    return expanded
  }

  /// The letter of an umlaut, or of its mark, at an offset that is not the last; `nil` if there is none.
  private static func umlaut(at offset: Int, in utf8: RawSpan) -> UInt8? {
    switch (utf8.u8(at: offset), utf8.u8(at: offset + 1)) {
    case (0xC3, 0xA4), (0xC3, 0x84): return UInt8(ascii: "a")
    case (0xC3, 0xB6), (0xC3, 0x96): return UInt8(ascii: "o")
    case (0xC3, 0xBC), (0xC3, 0x9C): return UInt8(ascii: "u")
    case (0xCC, 0x88):
      guard offset > 0 else { return nil }
      let letter = utf8.u8(at: offset - 1) | 0x20
      return letters.contains(letter) ? letter : nil
    default: return nil
    }
  }

  /// Whether a folded word has two letters that may be an umlaut.
  package static func mayHave(_ word: [UInt8]) -> Bool {
    zip(word, word.dropFirst()).contains { letters.contains($0) && $1 == e }
  }

  /// The most umlauts of a word that are read in both ways. The others stay as they are.
  private static let mostUmlauts = 3

  /// Returns the ways to fold a word in which some of its `ae`, `oe` and `ue` are umlauts: `kaesekuechle` as
  /// `kasekuechle`, `kaesekuchle` and `kasekuchle`.
  ///
  /// - Parameter word: A folded word in which umlauts are two letters.
  package static func contractions(of word: [UInt8]) -> [[UInt8]] {
    let ends = word.indices.dropFirst().filter { word[$0] == e && letters.contains(word[$0 - 1]) }.prefix(mostUmlauts)
    return (1..<(1 << ends.count)).map { choice in
      var contracted = word
      for (number, end) in ends.enumerated().reversed() where choice >> number & 1 != 0 { contracted.remove(at: end) }
      return contracted
    }
  }
}
