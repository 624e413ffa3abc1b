import Bytes
import CatalogRows

/// The fields that were added after the first 25 took all 32 flags.
///
/// The form of groupNum is 3 in a body that has a value for one of them. A second word of flags then follows the first:
///
///     bits 0–1 form of groupNum · then, by ``ProductField/added``: a text or a flag 1 bit, a number its form in 2
extension ProductLayout {
  /// A field of ``ProductField/added``, and its bits.
  struct Added: Sendable {
    let field: ProductField
    /// The shift of its bit, or of its form.
    let shift: UInt32
    let isNumber: Bool

    /// The bits that may be set.
    var mask: UInt64 { (isNumber ? 3 : 1) << shift }
  }

  static let added: [Added] = {
    var shift: UInt32 = 34
    return ProductField.added.map { field in
      let isNumber =
        switch field.slot {
        case .integer, .double: true
        case .text, .flag: false
        }
      defer { shift += isNumber ? 2 : 1 }
      return Added(field: field, shift: shift, isNumber: isNumber)
    }
  }()

  static let addedNumbers = added.filter(\.isNumber)
  static let addedTexts = added.filter { $0.field.text != nil }
  static let addedFlags = added.filter { if case .flag = $0.field.slot { true } else { false } }

  /// All bits of the added fields.
  static let addedBits = added.reduce(0 as UInt64) { $0 | $1.mask }
  private static let textBits = addedTexts.reduce(0 as UInt64) { $0 | $1.mask }

  /// The bits that the state of a commit has if one of its products has them; see `CatalogState`.
  static let stateBits = hasExtra | addedBits

  // MARK: Words

  /// The form of groupNum that says that there is a second word.
  @inlinable @inline(__always)
  static var secondWord: UInt32 { 3 << groupNum }

  /// Exchanges the form of groupNum in the first word and that in the second word: in memory, flags have the true form
  /// where a body with one word has it, and 3 in bits 32 and 33.
  static func swapped(_ words: UInt64) -> UInt64 {
    let difference = (words >> 3 ^ words) & UInt64(secondWord)
    return words ^ difference ^ difference << 3
  }

  /// Returns the flags of a body that begins with two words.
  @usableFromInline
  static func twoWords(_ body: RawSpan) -> UInt64 {
    // A body without room for the second word keeps the form that is undefined.
    body.byteCount >= 8 ? swapped(body.u64(at: 0)) : UInt64(body.u32(at: 0))
  }

  @inlinable @inline(__always)
  static func hasSecondWord(_ flags: UInt64) -> Bool { flags >> 32 != 0 }

  /// Returns the number of bytes of flags.
  @inlinable @inline(__always)
  static func wordsByteCount(_ flags: UInt64) -> Int { hasSecondWord(flags) ? 8 : 4 }

  // MARK: Values

  /// The number of doubles that are not added.
  @inlinable @inline(__always)
  static var doubleCount: Int { 5 }

  /// Returns the flags of a row, by the numbers of their slots.
  static func rowFlags(_ flags: UInt64) -> UInt32 {
    var row = UInt32(truncatingIfNeeded: flags) & rowFlags
    if !hasSecondWord(flags) { return row }
    for (index, added) in addedFlags.enumerated() where flags & added.mask != 0 {
      row |= 1 << UInt32(firstAddedFlag + index)
    }
    return row
  }

  /// The slot of the first added flag.
  static var firstAddedFlag: Int { 4 }

  /// Returns the flags of a record for those of a row.
  static func flags(ofRow row: UInt32) -> UInt64 {
    var flags = UInt64(row & rowFlags)
    for (index, added) in addedFlags.enumerated() where row >> UInt32(firstAddedFlag + index) & 1 == 1 {
      flags |= added.mask
    }
    return flags
  }

  /// Returns the offset of the first added number.
  @inlinable @inline(__always)
  static func addedNumbersStart(_ flags: UInt64) -> Int { doubleStart(flags, UInt32(doubleCount)) }

  /// Returns the number of bytes of the added numbers, or of those before the one with `shift`.
  @usableFromInline
  static func addedNumbersByteCount(_ flags: UInt64, before shift: UInt32 = 64) -> Int {
    addedNumbers.reduce(0) { $1.shift < shift ? $0 + 4 * Int(form(flags, $1.shift)) : $0 }
  }

  /// Returns the index of the first added text among the length-prefixed texts.
  @inlinable @inline(__always)
  static func addedTextsIndex(_ flags: UInt64) -> Int { extraIndex(flags) + Int(flags >> 31 & 1) }

  /// Returns the number of the added texts, or of those before the one with `shift`.
  @usableFromInline
  static func addedTextCount(_ flags: UInt64, before shift: UInt32 = 64) -> Int {
    (flags & textBits & (1 << UInt64(shift) &- 1)).nonzeroBitCount
  }
}
