/// A path of names from a document to a field inside it, written with dots: `user.status.isOnline`.
///
/// In text, a backslash escapes the next character, so `a\.b` is one field whose name contains a dot. Names are
/// compared by their UTF-8 bytes, and must not be empty. Arrays on the path are implicit: the path refers to the field
/// of each element.
public struct FieldPath: Hashable, Sendable {
  /// The concatenated UTF-8 bytes of all names.
  let utf8: [UInt8]
  /// The end of each name in `utf8`.
  let ends: [Int]

  /// Creates a path from names.
  ///
  /// - Throws: `FieldPathError.emptyName` if there is no name, or an empty one.
  public init(names: [String]) throws(FieldPathError) {
    var utf8: [UInt8] = []
    var ends: [Int] = []
    for name in names {
      guard !name.isEmpty else { throw .emptyName(names.joined(separator: ".")) }
      utf8.append(contentsOf: name.utf8)
      ends.append(utf8.count)
    }
    guard !ends.isEmpty else { throw .emptyName("") }
    self.utf8 = utf8
    self.ends = ends
  }

  /// Parses a path that is written with dots.
  ///
  /// - Throws: `FieldPathError` if a name is empty, or the text ends with a backslash.
  public init(parsing text: String) throws(FieldPathError) {
    var names: [String] = []
    var name = ""
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if isEscaped {
        name.unicodeScalars.append(scalar)
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else if scalar == "." {
        names.append(name)
        name = ""
      } else {
        name.unicodeScalars.append(scalar)
      }
    }
    guard !isEscaped else { throw .unfinishedEscape(text) }
    names.append(name)
    guard names.allSatisfy({ !$0.isEmpty }) else { throw .emptyName(text) }
    try self.init(names: names)
  }

  /// The number of names; at least one.
  public var count: Int { ends.count }

  /// The names, outermost first.
  public var names: [String] {
    ends.indices.map { index in
      String(decoding: utf8[(index == 0 ? 0 : ends[index - 1])..<ends[index]], as: UTF8.self)
    }
  }
}

extension FieldPath: CustomStringConvertible {
  /// The path in the syntax of ``init(parsing:)``.
  public var description: String {
    names.map { name in
      var text = ""
      for scalar in name.unicodeScalars {
        if scalar == "." || scalar == "\\" { text.append("\\") }
        text.unicodeScalars.append(scalar)
      }
      return text
    }.joined(separator: ".")
  }
}

/// An error in a field path.
public enum FieldPathError: Error, Equatable, Sendable {
  /// The path has no names, or an empty one.
  case emptyName(String)
  /// The path ends with a backslash.
  case unfinishedEscape(String)
  /// The key path contains a component that is not a stored property. The value is the runtime's description of the key
  /// path.
  case notStored(String)
}

extension FieldPathError: CustomStringConvertible {
  /// What is wrong with which path, and what to do, for people.
  public var description: String {
    switch self {
    case .emptyName(let text): "the field path '\(text)' has an empty name"
    case .unfinishedEscape(let text): "the field path '\(text)' ends with a backslash"
    case .notStored(let text):
      "the key path \(text) does not lead through stored properties only; give the field's path as text"
    }
  }
}
