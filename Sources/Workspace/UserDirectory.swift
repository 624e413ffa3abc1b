import TextFormat

/// How a user's id becomes the name of a directory that cannot lead anywhere else.
///
/// Letters a–z, digits, `-`, `_` and, but for the first place of a directory's name, `.` stand for themselves; every
/// other byte of the id's UTF-8, capital letters too, is written `%XX`. So two ids never share a name, also where a file
/// system takes upper and lower case or normal forms of Unicode for the same, and no name is `.`, `..` or holds a slash.
/// A name that grows past 180 bytes goes on in a directory below, and the directory above it ends with `+`.
enum UserDirectory {
  /// Bytes of the longest id.
  static let maximumIDByteCount = 255
  private static let partLength = 180

  /// The directories from the outermost to the user's own.
  static func path(of id: String) -> [String] {
    var name: [UInt8] = []
    for byte in id.utf8 { append(byte, to: &name) }
    var parts: [String] = []
    var rest = name[...]
    while rest.count > partLength {
      parts.append(String(decoding: rest.prefix(partLength), as: UTF8.self) + "+")
      rest = rest.dropFirst(partLength)
    }
    parts.append(String(decoding: rest, as: UTF8.self))
    return parts
  }

  private static func append(_ byte: UInt8, to name: inout [UInt8]) {
    let isFirst = name.count % partLength == 0
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
      UInt8(ascii: "_"):
      name.append(byte)
    case UInt8(ascii: ".") where !isFirst: name.append(byte)
    default: PercentEncoding.append(byte, to: &name)
    }
  }

  /// The id that a joined name, without the `+`, stands for; `nil` for a name that ``path(of:)`` never gives.
  static func id(of name: String) -> String? {
    guard let id = PercentEncoding.decodedText(name[...]), !id.isEmpty else { return nil }
    // Only the one spelling that is ever written counts.
    let parts = path(of: id).map { $0.hasSuffix("+") ? String($0.dropLast()) : $0 }
    return parts.joined() == name ? id : nil
  }
}
