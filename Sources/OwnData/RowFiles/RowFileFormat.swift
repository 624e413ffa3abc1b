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

  /// Detects the format of a file by its contents, and by its name where the contents do not decide.
  ///
  /// - Parameters:
  ///   - text: The beginning of the text; all of it, or several lines.
  ///   - path: The name of the file, or its path.
  ///   - hasDelimiter: Whether the separator is known, so that the text of an unknown name is a table.
  package init(of text: [UInt8], named path: String, hasDelimiter: Bool = false) {
    let named = RowFileFormat(path: path)
    var rest = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...]
    func skipBlanks() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D } }
    let beginsWithBlank = rest.first == 0x09
    skipBlanks()
    guard let first = rest.popFirst() else {
      self = named ?? .ndjson
      return
    }
    skipBlanks()
    let second = rest.first
    let isRow = first == UInt8(ascii: "{") && [UInt8(ascii: "\""), UInt8(ascii: "}")].contains(second)
    let isArray = first == UInt8(ascii: "[") && [UInt8(ascii: "{"), UInt8(ascii: "]")].contains(second)
    // A tab before a brace is an empty name of a column.
    if (isRow || isArray) && !beginsWithBlank {
      self = .ndjson
      return
    }
    let isNamed = path.lowercased().split(separator: "/").last?.dropFirst().contains(".") ?? false
    switch named {
    case .ndjson where isNamed:
      // Its errors are those of JSON, unless the lines are those of a table.
      let lines = rest.prefix(64 << 10).split(separator: 0x0A).prefix(3)
      let separator = CSVRows.delimiter(of: text.span, true, isWhole: true) ?? 0
      let counts = lines.map { line in line.count { $0 == separator } }
      let isTable = counts.count > 1 && counts[0] > 0 && Set(counts).count == 1 && first != UInt8(ascii: "{")
      self = isTable ? .csv : .ndjson
    case .tsv: self = text.prefix(64 << 10).contains(0x09) || hasDelimiter ? .tsv : .csv
    case .csv: self = .csv
    default:
      // Without a name that says anything, only what begins like JSON is JSON.
      self = first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? .ndjson : .csv
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
