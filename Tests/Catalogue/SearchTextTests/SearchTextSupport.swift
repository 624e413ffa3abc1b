import Bytes
import RandomTestSupport
import SearchText

/// The tokens of a text.
func tokens(_ text: String) -> [String] { tokens(Array(text.utf8)) }

func tokens(_ utf8: [UInt8]) -> [String] {
  var folder = TextFolder()
  folder.fold(utf8.rawSpan)
  return folder.tokens.map { folder.string(of: $0) }
}

/// The tokens of a text as one text, divided by `|`, or by `+` before a joined token and `:` before a CJK token that is
/// not joined.
func layout(_ text: String) -> String {
  var folder = TextFolder()
  folder.fold(Array(text.utf8).rawSpan)
  return folder.tokens.map { ($0.isJoined ? "+" : $0.kind == .cjk ? ":" : "|") + folder.string(of: $0) }.joined()
}

/// Letters, marks and separators of many scripts, and what is invisible.
let alphabet: [Unicode.Scalar] = {
  let ranges: [ClosedRange<UInt32>] = [
    0x20...0x7E, 0x20...0x7E, 0xA0...0x24F, 0x300...0x34F, 0x370...0x3FF, 0x400...0x4FF, 0x5B0...0x5F4, 0x620...0x6FF,
    0x900...0x97F, 0xBC0...0xBD7, 0xE00...0xE5B, 0xF40...0xFBC, 0x1100...0x1112, 0x1161...0x1175, 0x11A8...0x11C2,
    0x1AB0...0x1ABF, 0x1B00...0x1B44, 0x1E00...0x1FFF, 0x2000...0x206F, 0x2070...0x2189, 0x3000...0x312F,
    0x3130...0x318E, 0x3200...0x33FF, 0x4E00...0x4FFF, 0x7F00...0x7FFF, 0xAC00...0xAE00, 0xF900...0xFA6D,
    0xFB00...0xFB4F, 0xFDF0...0xFE0F, 0xFE20...0xFE2F, 0xFF01...0xFFEE, 0x10400...0x1044F, 0x11100...0x11134,
    0x1D400...0x1D4FF, 0x1F300...0x1F64F, 0x20000...0x20100, 0x2F800...0x2F8FF, 0xE0100...0xE0110,
  ]
  return ranges.flatMap { $0.compactMap(Unicode.Scalar.init) }
}()

/// The part of it that Foundation normalizes correctly: it takes the lower half of other scalars for a scalar.
let basicAlphabet = alphabet.filter { $0.value < 0x10000 }

/// A text of up to three times `length` scalars.
func randomText(
  _ length: Int, from alphabet: [Unicode.Scalar] = alphabet, using random: inout SeededGenerator
) -> String {
  var scalars = String.UnicodeScalarView()
  for _ in 0..<Int.random(in: 0...length, using: &random) {
    let scalar = alphabet.randomElement(using: &random)!
    scalars.append(scalar)
    // A few neighbours of the same block make words, syllables and rows of marks.
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      if let next = Unicode.Scalar(scalar.value &+ UInt32.random(in: 0...20, using: &random)) { scalars.append(next) }
    }
  }
  return String(scalars)
}
