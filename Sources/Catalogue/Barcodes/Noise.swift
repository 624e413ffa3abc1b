/// Characters that scanners, keyboards and clipboards add around the data.
///
/// These are removed at both ends: control characters that frame a transmission (NUL, STX, ETX, EOT), line ends, tabs,
/// blanks, no-break and zero-width spaces, and byte order marks. GS is not removed: it is FNC1, which has a meaning
/// even in first position.
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
