/// The names that lead from a document to a field inside it, written with dots: `user.status.isOnline`.
///
/// In text a backslash takes the character behind it as it is, so `a\.b` names one field with a dot. Names are compared
/// by their bytes of UTF-8, and none is empty. Arrays on the way need no mention: the path means the field of each
/// element.
public struct FieldPath: Hashable, Sendable {
  /// The bytes of all names, one behind the other.
  let utf8: [UInt8]
  /// For each name where it ends in `utf8`.
  let ends: [Int]

  /// The path through `names`.
  ///
  /// - Throws: If there is no name, or an empty one.
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

  /// The path that `text` writes with dots.
  ///
  /// - Throws: If a name is empty, or a backslash ends the text.
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

  /// How many names it has; at least one.
  public var count: Int { ends.count }

  /// The names, outermost first.
  public var names: [String] {
    ends.indices.map { index in
      String(decoding: utf8[(index == 0 ? 0 : ends[index - 1])..<ends[index]], as: UTF8.self)
    }
  }
}

extension FieldPath: CustomStringConvertible {
  /// The path in the form that ``init(parsing:)`` reads.
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

/// Why there is no path.
public enum FieldPathError: Error, Equatable, Sendable {
  /// A path without names, or with an empty one.
  case emptyName(String)
  /// A backslash at the end of the path.
  case unfinishedEscape(String)
  /// The key path is not made of stored properties alone: its description, as the runtime gives it.
  case notStored(String)
}

extension FieldPathError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .emptyName(let text): "the field path '\(text)' has an empty name"
    case .unfinishedEscape(let text): "the field path '\(text)' ends with a backslash"
    case .notStored(let text):
      "the key path \(text) does not lead through stored properties only; give the field's path as text"
    }
  }
}
