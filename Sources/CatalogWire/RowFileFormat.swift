/// The format of a file of catalogue rows.
public enum RowFileFormat: String, Sendable, CaseIterable {
  /// One JSON object per line, as in a dump.
  case ndjson
  /// Comma-separated values, with products and relations in one table.
  case csv

  /// Detects the format from a file name extension, in upper or lower case: `csv`, `ndjson` or `jsonl`, optionally
  /// followed by `gz`. `nil` for every other extension.
  ///
  /// - Parameter path: The name of a file, or its path. A name without an extension means NDJSON.
  public init?(path: String) {
    var parts = (path.lowercased().split(separator: "/").last ?? "").split(
      separator: ".", omittingEmptySubsequences: false)
    // A component after a leading dot is a name, not an extension.
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

  /// Whether the file name shows that the file is compressed with gzip.
  public static func isCompressed(path: String) -> Bool { path.lowercased().hasSuffix(".gz") }
}
