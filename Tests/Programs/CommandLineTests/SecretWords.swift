import Foundation
import RandomTestSupport

/// Texts and numbers that are found nowhere by chance, as many and as long in each run, and other ones for another seed.
struct SecretWords {
  private var random: SeededGenerator
  /// Everything that was made, in the form in which it was given to the program.
  private(set) var all: [String] = []
  /// The same without numbers, whose digits may also be those of a process or a time.
  var letters: [String] { all.filter { $0.first?.isLetter == true } }

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// A word of lower-case letters.
  mutating func word(_ count: Int = 12) -> String { made(count, "abcdefghijklmnopqrstuvwxyz") }

  /// A number of digits, the first of which is not zero.
  mutating func digits(_ count: Int) -> String { made(count, "123456789") }

  private mutating func made(_ count: Int, _ letters: String) -> String {
    let letters = Array(letters)
    let text = String((0..<count).map { _ in letters.randomElement(using: &random)! })
    all.append(text)
    return text
  }
}

/// The sequences of six bytes that some bytes have.
struct ByteWindows {
  private(set) var windows: Set<UInt64> = []

  static let count = 6

  mutating func add(_ bytes: some Sequence<UInt8>) {
    Self.forEach(bytes) { windows.insert($0) }
  }

  mutating func subtract(_ other: ByteWindows) { windows.subtract(other.windows) }

  /// Removes what files have in common whatever they say: sequences with more than one zero, as two offsets in a small
  /// file have two, and the magic of a structure after any byte.
  mutating func removeCommon() {
    windows = windows.filter { window in
      let zeros = (0..<Self.count).count { window >> (8 * UInt64($0)) & 0xFF == 0 }
      return zeros <= 1 && window & 0xFF_FFFF_FFFF != 0x53_4845_4C46
    }
  }

  /// The first of these sequences that `bytes` has, with its offset.
  func first(in bytes: some Sequence<UInt8>) -> (offset: Int, bytes: [UInt8])? {
    var (found, offset): ((Int, [UInt8])?, Int) = (nil, 0)
    Self.forEach(bytes) { window in
      if found == nil, windows.contains(window) {
        found = (offset, (0..<6).reversed().map { UInt8(truncatingIfNeeded: window >> (8 * UInt64($0))) })
      }
      offset += 1
    }
    return found
  }

  private static func forEach(_ bytes: some Sequence<UInt8>, _ body: (UInt64) -> Void) {
    var (window, have) = (UInt64(0), 0)
    for byte in bytes {
      window = (window << 8 | UInt64(byte)) & 0xFFFF_FFFF_FFFF
      have += 1
      if have >= count { body(window) }
    }
  }

  /// Adds the words as UTF-8, UTF-16 of both orders, hexadecimal and base64, and numbers as binary ones.
  mutating func add(_ words: [String]) {
    for word in words {
      let bytes = Array(word.utf8)
      add(bytes)
      add(Array(word.uppercased().utf8))
      // One of the two bytes of each letter is zero, which the sequences of three letters have in common.
      add(word.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
      add(bytes.flatMap { Array(String(format: "%02x", $0).utf8) })
      for skipped in 0..<3 where bytes.count > skipped + 6 {
        add(Data(bytes[skipped...]).base64EncodedString().utf8.prefix((bytes.count - skipped) / 3 * 4))
      }
      if let number = UInt64("1" + word), number >> 40 != 0 {
        let big = (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        add(big.drop { $0 == 0 })
        add(big.drop { $0 == 0 }.reversed())
      }
    }
  }
}
