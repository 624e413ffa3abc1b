import Synchronization

extension FieldPath {
  /// The path that a key path of stored properties takes: `\Member.user?.name` gives `user.name`.
  ///
  /// The names are those of the Swift properties, as the runtime describes the key path. A type whose `CodingKeys` give
  /// other names is queried with the path as text. So are computed properties, properties of classes that may be
  /// overridden, elements by subscript, elements of tuples and `\.self`.
  ///
  /// - Throws: ``FieldPathError/notStored(_:)`` for those.
  /// - Complexity: A lookup by the key path; the first time a description and a few passes over it, which are
  ///   microseconds.
  public init(_ keyPath: AnyKeyPath) throws(FieldPathError) {
    if let known = KeyPathMemory.shared.path(of: keyPath) {
      self = known
      return
    }
    try self.init(describing: keyPath)
    KeyPathMemory.shared.remember(self, of: keyPath)
  }

  /// The same without the memory.
  private init(describing keyPath: AnyKeyPath) throws(FieldPathError) {
    let description = keyPath.debugDescription
    try self.init(describedBy: description, root: String(describing: type(of: keyPath).rootType))
  }

  /// The same from the text that the runtime gives: a backslash, the root type, and a dot before each component.
  init(describedBy description: String, root: String) throws(FieldPathError) {
    guard description.hasPrefix("\\") else { throw .notStored(description) }
    let components =
      if description.dropFirst().hasPrefix(root + ".") {
        description.dropFirst(1 + root.count + 1)
      } else {
        Self.withoutRoot(description.dropFirst())
      }
    var names: [String] = []
    for component in components.split(separator: ".", omittingEmptySubsequences: false) {
      var name = component
      while name.hasSuffix("?") || name.hasSuffix("!") { name.removeLast() }
      // A description in angle brackets stands for what has no name: `<computed …>`, `<offset …>`.
      guard Self.isPropertyName(name) else { throw .notStored(description) }
      names.append(String(name))
    }
    // The description of an identity key path says `self`, which no stored property can be called.
    guard names != ["self"] else { throw .notStored(description) }
    try self.init(names: names)
  }

  /// What follows the first dot outside of all brackets, whatever the type before it is called.
  private static func withoutRoot(_ text: Substring) -> Substring {
    var depth = 0
    for index in text.indices {
      switch text[index] {
      case "<", "(", "[": depth += 1
      case ">", ")", "]": depth -= 1
      case "." where depth == 0: return text[text.index(after: index)...]
      default: break
      }
    }
    return ""
  }

  private static func isPropertyName(_ name: Substring) -> Bool {
    guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
    return name.unicodeScalars.allSatisfy { scalar in
      scalar == "_" || scalar == "$" || scalar.value >= 0x80 || scalar.properties.isAlphabetic
        || ("0"..."9").contains(scalar)
    }
  }
}

/// The paths of key paths that were asked for.
private final class KeyPathMemory: Sendable {
  static let shared = KeyPathMemory()

  /// A key path of stored properties: it holds no values, and nothing of it changes.
  private struct Key: Hashable, @unchecked Sendable {
    let keyPath: AnyKeyPath
  }

  /// How many are kept; a program that makes more of them asks the runtime again.
  private static let limit = 4096
  /// Guards the paths; held for one lookup.
  private let paths = Mutex<[Key: FieldPath]>([:])

  func path(of keyPath: AnyKeyPath) -> FieldPath? {
    let key = Key(keyPath: keyPath)
    return paths.withLock { $0[key] }
  }

  func remember(_ path: FieldPath, of keyPath: AnyKeyPath) {
    let key = Key(keyPath: keyPath)
    paths.withLock { paths in
      if paths.count < Self.limit { paths[key] = path }
    }
  }
}
