/// How a file holds the rows of a catalogue.
public enum RowFileFormat: String, Sendable, CaseIterable {
  /// One JSON object a line, as a dump has it.
  case ndjson
  /// Comma-separated values, products and relations in one table.
  case csv

  /// What the extension of a file's name says, in upper or lower case: `csv`, `ndjson` or `jsonl`, and after one of these
  /// `gz`. `nil` for every other extension.
  ///
  /// - Parameter path: The name of a file, or the path to it. A name without an extension stands for NDJSON.
  public init?(path: String) {
    var parts = (path.lowercased().split(separator: "/").last ?? "").split(
      separator: ".", omittingEmptySubsequences: false)
    // What begins with a dot is a name, no extension.
    if parts.first?.isEmpty == true { parts.removeFirst() }
    if parts.count > 2, parts.last == "gz" { parts.removeLast() }
    guard parts.count > 1, let last = parts.last else {
      self = .ndjson
      return
    }
    switch last {
    case "csv": self = .csv
    case "ndjson", "jsonl": self = .ndjson
    default: return nil
    }
  }

  /// Whether a file's name says that it is packed with gzip.
  public static func isPacked(path: String) -> Bool { path.lowercased().hasSuffix(".gz") }
}
