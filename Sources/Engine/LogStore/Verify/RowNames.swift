import Bytes
import RecordFormat

/// Names rows in findings by their table and, if it is printable text, their first key.
struct RowNames {
  private let tables: [String]

  init(_ tables: [Manifest.Table]) { self.tables = tables.map(\.name) }

  /// Returns the name of `table`.
  func name(ofTable table: Int) -> String {
    // Without its key, a sealed log does not tell names.
    table < tables.count && !tables[table].isEmpty ? tables[table] : "table \(table)"
  }

  /// Returns the name of a row of which nothing but its table is known.
  func nameOfRow(_ table: Int) -> String { "a row of \(name(ofTable: table))" }

  /// Returns the name of the row whose record is `object`, which may be damaged.
  func name(_ object: RawSpan, _ table: Int) -> String {
    "a row of \(name(ofTable: table))\(Self.key(of: object).map { ", key \"\($0)\"" } ?? "")"
  }

  /// Returns the name of the rows of the key whose posting list is `object`, which may be damaged.
  func name(ofPostings object: RawSpan) -> String {
    var key: String?
    if let list = PostingList(object) { key = Self.text(list.key) }
    return "the way to the rows " + (key.map { "with the key \"\($0)\"" } ?? "of one key")
  }

  /// Returns the first key of a record as text.
  private static func key(of object: RawSpan) -> String? {
    guard let layout = RecordLayout(object), layout.keyCount > 0 else { return nil }
    return text(object.extracting(layout.keyRange(0, in: object)))
  }

  /// Returns a key as text; `nil` if it is long or not printable text.
  private static func text(_ key: RawSpan) -> String? {
    guard key.byteCount > 0, key.byteCount <= 300, let text = String(validating: key.copied(), as: UTF8.self),
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
    else { return nil }
    return text
  }
}
