import TextFormat

/// Encodes a user's ID as a directory name that cannot escape its parent.
///
/// Letters a–z, digits, `-`, `_` and, except at the beginning of a name, `.` are unchanged. Every other byte of the
/// ID's UTF-8, including capital letters, is percent-encoded as `%XX`. So two IDs never have the same name, even on a
/// file system that ignores case or normalises Unicode, and no name is `.` or `..` or contains a slash. A name of more
/// than 180 bytes is continued in a subdirectory; the name of its parent ends with `+`.
enum UserDirectory {
  /// The maximum length of an ID in bytes.
  static let maximumIDByteCount = 255
  private static let partLength = 180

  /// The directory names, from the outermost to the user's own.
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

  /// Decodes a joined name, without the `+`; `nil` if ``path(of:)`` never produces the name.
  static func id(of name: String) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(name.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
        else { return nil }
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    guard let id = String(validating: bytes, as: UTF8.self), !id.isEmpty, path(of: id).last != nil else {
      return nil
    }
    // Accept only the canonical spelling.
    let parts = path(of: id).map { $0.hasSuffix("+") ? String($0.dropLast()) : $0 }
    return parts.joined() == name ? id : nil
  }
}
