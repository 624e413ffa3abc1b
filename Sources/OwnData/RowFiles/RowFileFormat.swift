/// The format of a file of catalogue rows.
public enum RowFileFormat: String, Sendable, CaseIterable {
  /// One JSON object per line, as in a dump.
  case ndjson
  /// Comma-separated values, with products and relations in one table.
  case csv
  /// Tab-separated values, otherwise like ``csv``.
  case tsv

  /// The byte between two fields; `nil` for a format without columns.
  public var delimiter: UInt8? {
    switch self {
    case .ndjson: nil
    case .csv: UInt8(ascii: ",")
    case .tsv: 0x09
    }
  }

  /// Detects the format from a file name extension, in upper or lower case: `csv`, `tsv`, `ndjson`, `jsonl` or
  /// `json`, optionally followed by `gz` or `zst`. `nil` for every other extension.
  ///
  /// - Parameter path: The name of a file, or its path. A name without an extension means NDJSON.
  public init?(path: String) {
    var parts = (path.lowercased().split(separator: "/").last ?? "").split(
      separator: ".", omittingEmptySubsequences: false)
    // A component after a leading dot is a name, not an extension.
    if parts.first?.isEmpty == true { parts.removeFirst() }
    if parts.count > 2, parts.last == "gz" || parts.last == "zst" { parts.removeLast() }
    guard parts.count > 1, let last = parts.last else {
      self = .ndjson
      return
    }
    switch last {
    case "csv": self = .csv
    case "tsv": self = .tsv
    case "ndjson", "jsonl", "json": self = .ndjson
    default: return nil
    }
  }

  /// Detects the format in which a file of this name is written: as ``init(path:)``, without `json`, which promises one
  /// document, and `zst`, as no file is compressed with zstd.
  ///
  /// - Parameter path: The name of a file, or its path. A name without an extension means NDJSON.
  public init?(writtenTo path: String) {
    let name = path.lowercased()
    if [".json", ".json.gz", ".zst"].contains(where: name.hasSuffix) { return nil }
    self.init(path: path)
  }

  /// Whether the file name shows that the file is compressed with gzip.
  public static func isCompressed(path: String) -> Bool { path.lowercased().hasSuffix(".gz") }
}
