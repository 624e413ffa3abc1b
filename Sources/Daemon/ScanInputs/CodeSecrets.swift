/// Passwords and other secrets inside codes, which are neither kept nor sent on.
///
/// | payload | secret |
/// |---|---|
/// | `WIFI:…P:secret…;;`, the access to a wireless network | the field P |
/// | `otpauth://…?secret=…`, `otpauth-migration://…?data=…` | this parameter |
/// | `LPA:1$server$code`, the profile of an eSIM | the activation code |
/// | `FIDO:/…`, a sign-in with a passkey | everything |
/// | an address with `user:password@` | the password |
///
/// Each is found anywhere in a code, because a scanner may put a prefix or a symbology identifier before it, and in any
/// case and width of letters. In doubt more is a secret: a password that contains an unescaped semicolon is replaced as a whole.
package enum CodeSecrets {
  /// The text that replaces a secret, whatever its length.
  package static let mark = "***"

  /// The code with ``mark`` in place of its secrets; `nil` if it has none.
  package static func masked(_ code: String) -> String? {
    masked(Array(code.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The bytes of a code in any encoding that contains ASCII, with ``mark`` in place of its secrets; `nil` if it has
  /// none.
  ///
  /// - Complexity: O(bytes).
  package static func masked(_ code: [UInt8]) -> [UInt8]? {
    var ranges = secrets(of: FoldedCode(code))
    if code.contains(where: { $0 >= 0x80 }) {
      // A full-width separator may be one, or a character of the password. In doubt more is a secret.
      ranges += secrets(of: FoldedCode(code, foldsFullWidth: true, foldsSeparators: true))
      ranges += secrets(of: FoldedCode(code, foldsFullWidth: true, foldsSeparators: false))
    }
    var result: [UInt8] = []
    var position = 0
    for range in ranges.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) })
    where range.upperBound > position {
      if range.lowerBound >= position { result += code[position..<range.lowerBound] + Array(mark.utf8) }
      position = range.upperBound
    }
    return position == 0 ? nil : result + code[position...]
  }

  /// The secrets of a code, as offsets of its bytes.
  private static func secrets(of code: FoldedCode) -> [Range<Int>] {
    // All of these payloads have one.
    guard code.bytes.contains(UInt8(ascii: ":")) else { return [] }
    var finder = SecretFinder(bytes: code.bytes)
    finder.findAll()
    return finder.ranges.map { code.offsets[$0.lowerBound]..<code.offsets[$0.upperBound] }
  }
}

/// A code as payloads are recognised in it: with letters in lower case and, if wanted, with full-width characters as
/// those of ASCII and without characters that nobody sees, as codes are matched too.
private struct FoldedCode {
  private(set) var bytes: [UInt8] = []
  /// The offset in the code of each byte, and of the end.
  private(set) var offsets: [Int] = []

  /// Folds a code.
  ///
  /// - Parameters:
  ///   - foldsSeparators: Whether full-width characters that end a secret, such as a semicolon, are folded.
  init(_ code: [UInt8], foldsFullWidth: Bool = false, foldsSeparators: Bool = false) {
    var offset = 0
    while offset < code.count {
      let scalar = foldsFullWidth && code[offset] >= 0x80 ? Self.scalar(code[offset...]) : nil
      let count = scalar.map { UTF8.width($0) } ?? 1
      defer { offset += count }
      // A lost key of a keyboard is this byte, and no character.
      if foldsFullWidth, code[offset] == 0xFF || scalar?.properties.generalCategory == .format { continue }
      if let plain = scalar.flatMap(Self.plain), foldsSeparators || !";\\&#?\" ".utf8.contains(plain) {
        append(plain, offset)
      } else {
        for index in offset..<offset + count { append(code[index], index) }
      }
    }
    offsets.append(code.count)
  }

  private mutating func append(_ byte: UInt8, _ offset: Int) {
    bytes.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
    offsets.append(offset)
  }

  /// The character with which bytes begin; `nil` if they are not UTF-8.
  private static func scalar(_ bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
    return scalar
  }

  /// The character of ASCII that a full-width one means; `nil` for any other.
  private static func plain(_ scalar: Unicode.Scalar) -> UInt8? {
    switch scalar.value {
    case 0xFF01...0xFF5E: UInt8(scalar.value - 0xFF01 + 0x21)
    case 0x3000: UInt8(ascii: " ")
    default: nil
    }
  }
}

/// Finds the secrets of a code whose letters are lower-case.
private struct SecretFinder {
  let bytes: [UInt8]
  /// The secrets, none of them empty.
  private(set) var ranges: [Range<Int>] = []

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The fields of a `WIFI:` payload.
  private static let fields: [[UInt8]] = ["t", "s", "p", "h", "e", "a", "i", "ph2", "r", "k"].map { Array($0.utf8) }

  mutating func findAll() {
    for start in ends(of: "wifi:") { findPassword(from: start) }
    for start in ends(of: "otpauth://") { findParameter("secret=", from: start) }
    for start in ends(of: "otpauth-migration://") { findParameter("data=", from: start) }
    for start in ends(of: "lpa:1$") {
      guard let server = bytes[start...].firstIndex(of: UInt8(ascii: "$")) else { continue }
      add(server + 1, until: { $0 == UInt8(ascii: "$") })
    }
    for start in ends(of: "fido:/") { add(start, until: { _ in false }) }
    for start in ends(of: "://") { findUserPassword(from: start) }
  }

  /// The positions after each occurrence of a text.
  private func ends(of text: StaticString) -> [Int] {
    let wanted = Array(text.description.utf8)
    guard bytes.count >= wanted.count else { return [] }
    return (0...bytes.count - wanted.count)
      .filter { bytes[$0] == wanted[0] && bytes[$0..<$0 + wanted.count].elementsEqual(wanted) }
      .map { $0 + wanted.count }
  }

  private mutating func add(_ start: Int, until isEnd: (UInt8) -> Bool) {
    let end = bytes[start...].firstIndex(where: isEnd) ?? bytes.count
    if start < end { ranges.append(start..<end) }
  }

  private mutating func findParameter(_ name: StaticString, from start: Int) {
    for end in ends(of: name) where end >= start { add(end, until: "&#".utf8.contains) }
  }

  /// Finds the password in the authority of an address.
  private mutating func findUserPassword(from start: Int) {
    let end = bytes[start...].firstIndex { $0 <= 0x20 || "/?#\"\\".utf8.contains($0) } ?? bytes.count
    let authority = bytes[start..<end]
    guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return }
    guard let colon = authority[..<at].firstIndex(of: UInt8(ascii: ":")), colon + 1 < at else { return }
    ranges.append(colon + 1..<at)
  }

  /// Finds the field P. It ends where another field begins, or with the payload.
  private mutating func findPassword(from start: Int) {
    var position = start
    while position < bytes.count {
      let (name, value) = field(at: position) ?? ([], position)
      position = value
      while position < bytes.count, !(bytes[position] == UInt8(ascii: ";") && mayEnd(name, at: position)) {
        position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
      }
      position = min(position, bytes.count)
      if name == [UInt8(ascii: "p")] {
        let end = position == bytes.count ? endOfPayload(after: value) : position
        if value < end { ranges.append(value..<end) }
      }
      position += 1
    }
  }

  /// The position of the semicolons that end the payload. Those before them belong to the last value, which begins at
  /// `start`, and are escaped.
  private func endOfPayload(after start: Int) -> Int {
    var end = bytes.count
    while end > start, bytes[end - 1] == UInt8(ascii: ";") {
      let backslashes = bytes[start..<end - 1].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
      if backslashes % 2 == 1 { break }
      end -= 1
    }
    return end
  }

  /// Whether a field ends at this semicolon. A password may have semicolons that should have been escaped.
  private func mayEnd(_ name: [UInt8], at semicolon: Int) -> Bool {
    name != [UInt8(ascii: "p")] || field(at: semicolon + 1) != nil
  }

  /// The name of the field that begins here, and the position of its value; `nil` if none begins.
  private func field(at position: Int) -> (name: [UInt8], value: Int)? {
    guard position < bytes.count else { return nil }
    let start = bytes[position...].firstIndex { $0 != UInt8(ascii: " ") } ?? bytes.count
    guard let name = Self.fields.first(where: { bytes[start...].starts(with: $0 + [UInt8(ascii: ":")]) }) else {
      return nil
    }
    return (name, start + name.count + 1)
  }
}
