import Synchronization

extension FieldPath {
  /// Converts a key path of stored properties to a field path: `\Member.user?.name` becomes `user.name`.
  ///
  /// The names are those of the Swift properties, as in the runtime's description of the key path. If the `CodingKeys`
  /// of a type give other names, write the path as text instead. The same applies to computed properties, overridable
  /// class properties, subscripts, tuple elements and `\.self`.
  ///
  /// - Throws: ``FieldPathError/notStored(_:)`` for such a key path.
  /// - Complexity: One cache lookup; on a miss, a description and a few passes over it, which take microseconds.
  public init(_ keyPath: AnyKeyPath) throws(FieldPathError) {
    if let known = KeyPathMemory.shared.path(of: keyPath) {
      self = known
      return
    }
    try self.init(describing: keyPath)
    KeyPathMemory.shared.remember(self, of: keyPath)
  }

  /// Converts a key path without the cache.
  private init(describing keyPath: AnyKeyPath) throws(FieldPathError) {
    let description = keyPath.debugDescription
    try self.init(describedBy: description, root: String(describing: type(of: keyPath).rootType))
  }

  /// Parses the runtime's description of a key path: a backslash, the root type, and a dot before each component.
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
      // A description in angle brackets represents a component without a name: `<computed …>`, `<offset …>`.
      guard Self.isPropertyName(name) else { throw .notStored(description) }
      names.append(String(name))
    }
    // The description of an identity key path is `self`, which cannot be the name of a stored property.
    guard names != ["self"] else { throw .notStored(description) }
    try self.init(names: names)
  }

  /// The text after the first dot outside of all brackets, for any name of the root type.
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

/// A cache of the paths of key paths.
private final class KeyPathMemory: Sendable {
  static let shared = KeyPathMemory()

  /// A key path of stored properties. It is immutable and captures no values.
  private struct Key: Hashable, @unchecked Sendable {
    let keyPath: AnyKeyPath
  }

  /// The maximum number of cached paths. Further key paths are converted each time.
  private static let limit = 4096
  /// Guards the cache. Held for one lookup.
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
