/// Characters that scanners, keyboards and clipboards add around the data.
///
/// Two kinds are removed at both ends. *Noise* is what every reader sends at times: control characters that frame a
/// transmission (NUL, STX, ETX, EOT), line ends, tabs, blanks, no-break and zero-width spaces, and byte order marks.
/// *Invisible* characters are the other control and format characters and the other blanks of Unicode: no barcode ends
/// with one on purpose, so an issue says that they were removed. GS is neither: it is FNC1, which has a meaning even in
/// first position.
enum Noise {
  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    trimmedAtEnd(trimmedAtStart(bytes))
  }

  static func trimmedAtStart(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    scan: while let first = rest.first {
      if isNoise(first) {
        rest.removeFirst()
        continue
      }
      // Valid UTF-8 never starts in the middle of a character, so comparing bytes compares characters.
      guard first >= 0x80 else { break }
      for sequence in longNoise where rest.starts(with: sequence) {
        rest.removeFirst(sequence.count)
        continue scan
      }
      break
    }
    return rest
  }

  private static func trimmedAtEnd(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    scan: while let last = rest.last {
      if isNoise(last) {
        rest.removeLast()
        continue
      }
      guard last >= 0x80 else { break }
      for sequence in longNoise where rest.suffix(sequence.count).elementsEqual(sequence) {
        rest.removeLast(sequence.count)
        continue scan
      }
      break
    }
    return rest
  }

  private static func isNoise(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x00, 0x02, 0x03, 0x04, 0x09, 0x0A, 0x0D, 0x20: true
    default: false
    }
  }

  /// U+00A0 no-break space, U+200B zero-width space, U+FEFF byte order mark.
  private static let longNoise: [[UInt8]] = [[0xC2, 0xA0], [0xE2, 0x80, 0x8B], [0xEF, 0xBB, 0xBF]]
}

// MARK: Invisible characters

extension Noise {
  /// Removes noise and invisible characters at both ends.
  ///
  /// - Parameter withSeparators: Whether GS is removed as well.
  static func visible(_ bytes: ArraySlice<UInt8>, withSeparators: Bool = false) -> ArraySlice<UInt8> {
    var rest = visibleFromStart(bytes, withSeparators: withSeparators)
    while let count = invisibleByteCount(before: rest.endIndex, in: rest, withSeparators) { rest.removeLast(count) }
    return rest
  }

  /// Removes noise and invisible characters at the start.
  static func visibleFromStart(_ bytes: ArraySlice<UInt8>, withSeparators: Bool = false) -> ArraySlice<UInt8> {
    var rest = bytes
    while let count = invisibleByteCount(at: rest.startIndex, in: rest, withSeparators) { rest.removeFirst(count) }
    return rest
  }

  /// Returns whether a character is a control or format character or a blank, GS included.
  static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x20, 0x7F...0xA0: true
    case 0x21...0xAC: false
    default:
      switch scalar.properties.generalCategory {
      case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: true
      default: false
      }
    }
  }

  /// Returns whether a character is removed as noise, without a word.
  static func isNoise(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x80 ? isNoise(UInt8(scalar.value)) : [0xA0, 0x200B, 0xFEFF].contains(scalar.value)
  }

  private static func invisibleByteCount(
    at index: Int, in bytes: ArraySlice<UInt8>, _ withSeparators: Bool
  ) -> Int? {
    guard index < bytes.endIndex else { return nil }
    var end = index + 1
    while end < bytes.endIndex, bytes[end] & 0xC0 == 0x80 { end += 1 }
    return isInvisible(bytes[index..<end], withSeparators) ? end - index : nil
  }

  private static func invisibleByteCount(
    before end: Int, in bytes: ArraySlice<UInt8>, _ withSeparators: Bool
  ) -> Int? {
    var index = end - 1
    while index > bytes.startIndex, bytes[index] & 0xC0 == 0x80 { index -= 1 }
    guard index >= bytes.startIndex else { return nil }
    return isInvisible(bytes[index..<end], withSeparators) ? end - index : nil
  }

  /// Returns whether the bytes are one invisible character.
  private static func isInvisible(_ character: ArraySlice<UInt8>, _ withSeparators: Bool) -> Bool {
    if character.count == 1, let byte = character.first {
      return byte == ASCII.groupSeparator ? withSeparators : byte <= 0x20 || byte == 0x7F
    }
    // U+FFFD, for bytes that are no text, is visible.
    let scalars = String(decoding: character, as: UTF8.self).unicodeScalars
    guard let scalar = scalars.first, scalars.count == 1 else { return false }
    return isInvisible(scalar)
  }
}
