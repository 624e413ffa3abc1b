import Bytes
import RecordFormat

/// How findings name rows: by their table, and by their first key as far as it is text that can be printed.
struct RowNames {
  private let tables: [String]

  init(_ tables: [Manifest.Table]) { self.tables = tables.map(\.name) }

  /// The name of `table`.
  func name(ofTable table: Int) -> String { table < tables.count ? tables[table] : "table \(table)" }

  /// Names the row whose record is `object`, which need not be whole.
  func name(_ object: RawSpan, _ table: Int) -> String {
    "a row of \(name(ofTable: table))\(Self.key(of: object).map { ", key \"\($0)\"" } ?? "")"
  }

  /// Names the rows of the key whose posting list is `object`, which need not be whole.
  func name(ofPostings object: RawSpan) -> String {
    var key: String?
    if let list = PostingList(object) { key = Self.text(list.key) }
    return "the way to the rows " + (key.map { "with the key \"\($0)\"" } ?? "of one key")
  }

  /// The first key of a record as text.
  private static func key(of object: RawSpan) -> String? {
    guard let layout = RecordLayout(object), layout.keyCount > 0 else { return nil }
    return text(object.extracting(layout.keyRange(0, in: object)))
  }

  /// A key as text; `nil` where it is long, or no text that can be printed.
  private static func text(_ key: RawSpan) -> String? {
    guard key.byteCount > 0, key.byteCount <= 300, let text = String(validating: key.copied(), as: UTF8.self),
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
    else { return nil }
    return text
  }
}
