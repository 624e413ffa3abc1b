/// What a file of rows may hold that is not a sound row.
public struct RowRules: Sendable, Equatable {
  /// What becomes of rows that share an id.
  public enum Duplicates: String, Sendable, CaseIterable {
    /// They are an error.
    case fail
    /// The last one counts.
    case last
  }

  /// What becomes of values under keys that no row has.
  public enum UnknownKeys: String, Sendable, CaseIterable {
    /// They are an error.
    case fail
    /// They are left out, and counted.
    case ignore
  }

  /// What happens to rows with the id of an earlier row; an error by default.
  public var duplicates = Duplicates.fail
  /// What happens to values under unknown keys or columns; an error by default.
  public var unknownKeys = UnknownKeys.fail
  /// Whether a product may have an empty id, as a server's answer may.
  public var allowsEmptyIds = false

  /// Creates the strictest rules: duplicates, unknown keys and empty ids are errors.
  public init() {}
}

/// What a file of rows held.
public struct RowFileSummary: Sendable, Equatable {
  /// Lines of the file.
  public var lines = 0
  /// Rows of the file, bad ones too.
  public var rows = 0
  /// The number of products without a fault, including duplicates.
  public var products = 0
  /// The number of relations without a fault.
  public var relations = 0
  /// Products that a later one with the same id replaces.
  public var duplicates = 0
  /// By key, how many values were left out because no row has that key; those of further keys under an empty one.
  public var ignored: [String: Int] = [:]
  /// Bytes of text.
  public var bytesIn = 0

  /// Creates the summary of an empty file.
  public init() {}

  /// Keys that are told apart in ``ignored``.
  private static let keyLimit = 100

  mutating func ignore(_ name: String) {
    let key = String(name.prefix(60))
    ignored[ignored[key] != nil || ignored.count < Self.keyLimit ? key : "", default: 0] += 1
  }
}
