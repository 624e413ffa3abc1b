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

  public var duplicates = Duplicates.fail
  public var unknownKeys = UnknownKeys.fail
  /// Whether a product may have an empty id, as a server's answer may.
  public var allowsEmptyIds = false

  public init() {}
}

/// What a file of rows held.
public struct RowFileSummary: Sendable, Equatable {
  /// Lines of the file.
  public var lines = 0
  /// Rows of the file, bad ones too.
  public var rows = 0
  public var products = 0
  public var relations = 0
  /// Products that a later one with the same id replaces.
  public var duplicates = 0
  /// By key, how many values were left out because no row has that key; those of further keys under an empty one.
  public var ignored: [String: Int] = [:]
  /// Bytes of text.
  public var bytesIn = 0

  public init() {}

  /// Keys that are told apart in ``ignored``.
  private static let keyLimit = 100

  mutating func ignore(_ name: String) {
    let key = String(name.prefix(60))
    ignored[ignored[key] != nil || ignored.count < Self.keyLimit ? key : "", default: 0] += 1
  }
}
