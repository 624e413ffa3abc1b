/// The irregularities that are allowed in a file of rows.
public struct RowRules: Sendable, Equatable {
  /// How to treat rows that share an id.
  public enum Duplicates: String, Sendable, CaseIterable {
    /// They are an error.
    case fail
    /// The last one replaces the others.
    case last
  }

  /// How to treat values under unknown keys.
  public enum UnknownKeys: String, Sendable, CaseIterable {
    /// They are an error.
    case fail
    /// They are ignored, and counted.
    case ignore
  }

  public var duplicates = Duplicates.fail
  public var unknownKeys = UnknownKeys.fail
  /// Whether a product may have an empty id, as a server's answer may.
  public var allowsEmptyIds = false

  public init() {}
}

/// A summary of a file of rows.
public struct RowFileSummary: Sendable, Equatable {
  /// The number of lines.
  public var lines = 0
  /// The number of rows, including faulty ones.
  public var rows = 0
  public var products = 0
  public var relations = 0
  /// The number of products that a later one with the same id replaces.
  public var duplicates = 0
  /// The number of ignored values by unknown key; those of further keys are counted under an empty one.
  public var ignored: [String: Int] = [:]
  /// The number of bytes of text.
  public var bytesIn = 0

  public init() {}

  /// The maximum number of keys counted separately in ``ignored``.
  private static let keyLimit = 100

  mutating func ignore(_ name: String) {
    let key = String(name.prefix(60))
    ignored[ignored[key] != nil || ignored.count < Self.keyLimit ? key : "", default: 0] += 1
  }
}
