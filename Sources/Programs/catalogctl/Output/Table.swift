/// A text table with aligned columns, which handles characters that are two columns wide.
struct Table {
  enum Alignment { case left, right }

  private var headings: [String]
  private let alignments: [Alignment]
  private var rows: [[String]] = []

  /// Creates a table with these headings. A heading that begins with `>` is right-aligned.
  init(_ headings: String...) { self.init(headings) }

  /// Creates a table with these headings. A heading that begins with `>` is right-aligned.
  init(_ headings: [String]) {
    alignments = headings.map { $0.hasPrefix(">") ? .right : .left }
    self.headings = headings.map { $0.hasPrefix(">") ? String($0.dropFirst()) : $0 }
  }

  mutating func add(_ cells: String...) { add(cells) }

  /// Adds a row with a cell for each heading.
  mutating func add(_ cells: [String]) { rows.append(cells) }

  /// The table as lines; empty if it has no rows.
  var lines: [String] {
    if rows.isEmpty { return [] }
    let widths = fitted(
      headings.indices.map { column in ([headings[column]] + rows.map { $0[column] }).map(Self.width).max() ?? 0 })
    let first = Console.styled(line(headings, widths), .bold)
    return [first] + rows.map { line($0, widths) }
  }

  /// The minimum width that a text column is narrowed to.
  private static let leastWidth = 6

  /// The widths after narrowing the widest columns until a line fits the terminal, if possible. In numeric columns only
  /// the headings are truncated.
  private func fitted(_ widths: [Int]) -> [Int] {
    guard let limit = Console.tableColumns else { return widths }
    var widths = widths
    var excess = widths.reduce(2 * (widths.count - 1), +) - limit
    if excess <= 0 { return widths }
    let least = widths.indices.map { column in
      alignments[column] == .left ? Self.leastWidth : rows.map { Self.width($0[column]) }.max() ?? 0
    }
    while excess > 0 {
      let wide = widths.indices.filter { widths[$0] > least[$0] }
      guard let widest = wide.max(by: { widths[$0] < widths[$1] }) else { return widths }
      widths[widest] -= 1
      excess -= 1
    }
    return widths
  }

  func print() {
    let lines = lines
    if !lines.isEmpty { Console.print(lines.joined(separator: "\n")) }
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (column, whole) in cells.enumerated() {
      let cell = Self.width(whole) > widths[column] ? Self.cut(whole, widths[column]) : whole
      let blanks = String(repeating: " ", count: max(0, widths[column] - Self.width(cell)))
      line += alignments[column] == .right ? blanks + cell : cell + blanks
      if column < cells.count - 1 { line += "  " }
    }
    while line.last == " " { line.removeLast() }
    return Highlight.styled(line)
  }

  /// The number of terminal columns of `text`: two for East Asian wide characters and emoji.
  static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

  private static func width(_ character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    switch scalar.value {
    case Highlight.start.value, Highlight.end.value: return 0
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }

  /// `text`, safe to display and truncated to `limit` columns.
  static func cell(_ text: String, limit: Int = 48) -> String { cut(text.shown, limit) }

  /// `text` as a cell with highlighted parts, if standard output shows them.
  ///
  /// - Parameter ranges: Ranges of UTF-16 code units of `text`, in ascending order, which do not overlap.
  static func cell(_ text: String, highlighting ranges: [Range<Int>], limit: Int = 48) -> String {
    Console.isColourful ? cut(Highlight.marked(text, ranges), limit) : cell(text, limit: limit)
  }

  /// A cell truncated to `limit` columns.
  private static func cut(_ cell: String, _ limit: Int) -> String {
    var result = ""
    var used = 0
    for character in cell {
      if used + width(character) > limit - 1 { return result + Highlight.ending(result) + "…" }
      result.append(character)
      used += width(character)
    }
    return result
  }
}

/// Highlighted parts of cells. While a table is laid out, two control characters of no width are around them, which
/// text that is safe to display does not have.
private enum Highlight {
  static let start: Unicode.Scalar = "\u{1}"
  static let end: Unicode.Scalar = "\u{2}"

  /// `text`, safe to display, with marks around parts of it.
  static func marked(_ text: String, _ ranges: [Range<Int>]) -> String {
    let units = Array(text.utf16)
    var marked = ""
    var position = 0
    for range in ranges {
      let range = range.clamped(to: position..<units.count)
      if range.isEmpty { continue }
      marked += String(decoding: units[position..<range.lowerBound], as: UTF16.self).shown
      marked.unicodeScalars.append(start)
      marked += String(decoding: units[range], as: UTF16.self).shown
      marked.unicodeScalars.append(end)
      position = range.upperBound
    }
    return marked + String(decoding: units[position...], as: UTF16.self).shown
  }

  /// What ends the part that is open at the end of `text`.
  static func ending(_ text: String) -> String {
    text.unicodeScalars.last { $0 == start || $0 == end } == start ? String(end) : ""
  }

  /// A line with its marks replaced by what a terminal understands.
  static func styled(_ line: String) -> String {
    guard line.unicodeScalars.contains(start) else { return line }
    var styled = String.UnicodeScalarView()
    var part = String.UnicodeScalarView()
    for scalar in line.unicodeScalars {
      switch scalar {
      case start:
        styled += part
        part = String.UnicodeScalarView()
      case end:
        styled += Console.styled(String(part), .bold).unicodeScalars
        part = String.UnicodeScalarView()
      default: part.append(scalar)
      }
    }
    return String(styled + part)
  }
}
