/// An error in a row of a file, with its position.
public struct RowFault: Error, Sendable, Equatable {
  /// The rule that a row breaks. The raw value is the name for programs.
  public enum Kind: String, Sendable, CaseIterable {
    case syntax, type, missingId, duplicateId, unknownKey, repeatedKey, value, ambiguousCode, size, empty

    /// The name of the kind in totals.
    func counted(_ count: Int) -> String {
      let one = count == 1
      return switch self {
      case .syntax: one ? "1 line that cannot be read" : "\(count) lines that cannot be read"
      case .type: one ? "1 row of an unknown type" : "\(count) rows of an unknown type"
      case .missingId: one ? "1 row without an id" : "\(count) rows without an id"
      case .duplicateId: one ? "1 duplicate id" : "\(count) duplicate ids"
      case .unknownKey: one ? "1 unknown key" : "\(count) unknown keys"
      case .repeatedKey: one ? "1 key that comes twice" : "\(count) keys that come twice"
      case .value: one ? "1 value of the wrong kind" : "\(count) values of the wrong kind"
      case .ambiguousCode: one ? "1 code that is ambiguous" : "\(count) codes that are ambiguous"
      case .size: one ? "1 row that is too long" : "\(count) rows that are too long"
      case .empty: "none of them is taken"
      }
    }
  }

  /// The rule that the row breaks.
  public var kind: Kind
  /// The line of the file, from 1.
  public var line: Int
  /// The number of the row in its JSON array, from 1; `nil` for rows that have lines of their own.
  public internal(set) var element: Int?
  /// The name of the column, or the key; `nil` if the fault concerns the entire line.
  public var column: String?
  /// The number of the column, from 1; `nil` for a format without columns.
  public var columnNumber: Int?
  /// The beginning of the value, as written in the file.
  public var value: String?
  /// What is wrong, and how to fix it.
  public var message: String

  init(_ kind: Kind, line: Int, column: String? = nil, number: Int? = nil, value: String? = nil, _ message: String) {
    self.kind = kind
    self.line = line
    self.column = column.map(Self.beginning)
    columnNumber = number
    self.value = value.map(Self.beginning)
    self.message = message
  }

  private static func beginning(_ text: String) -> String {
    let beginning = text.prefix(61)
    return beginning.count > 60 ? beginning.prefix(60) + "…" : text
  }
}

extension RowFault: CustomStringConvertible {
  /// The line, column and value, followed by the message.
  public var description: String {
    var place = "Line \(line)" + (element.map { ", row \($0) of the array" } ?? "")
    switch (columnNumber, column) {
    case (let number?, let name?): place += ", column \(number) (\(name))"
    case (let number?, nil): place += ", column \(number)"
    case (nil, let name?): place += ", column \(name)"
    case (nil, nil): break
    }
    if let value { place += ", value \"\(value)\"" }
    return place + ": " + message
  }
}

/// The faults of a file of rows: the first ones, and the number of each kind.
public struct RowFaults: Error, Sendable, Equatable {
  /// The number of faults that are kept.
  public static let keptCount = 20

  /// The first faults, in the order of the file.
  public private(set) var first: [RowFault] = []
  /// The number of all faults.
  public private(set) var count = 0
  private var counts: [RowFault.Kind: Int] = [:]
  /// The summary of the file.
  public internal(set) var summary = RowFileSummary()

  /// The number of faults of a kind, including those that are not in ``first``.
  public subscript(kind: RowFault.Kind) -> Int { counts[kind] ?? 0 }

  /// Sets the row of those faults that came after the first `count`.
  mutating func setElement(_ element: Int, after count: Int) {
    for index in first.indices.dropFirst(count) { first[index].element = element }
  }

  mutating func add(_ fault: RowFault) {
    if count < Self.keptCount { first.append(fault) }
    count += 1
    counts[fault.kind, default: 0] += 1
  }
}

extension RowFaults: CustomStringConvertible {
  /// The totals.
  public var description: String {
    let kinds = RowFault.Kind.allCases.filter { self[$0] > 0 }.map { $0.counted(self[$0]) }
    let errors = count == 1 ? "1 error" : "\(count) errors"
    let rest = count >= RowRules.faultLimit ? ", and the rest of the file was not read" : ""
    let shown = (count > first.count ? "; the first \(first.count) are shown" : "") + rest
    // Faults of the names of the columns are found before the first row, so no row is counted with them.
    if summary.rows == 0 { return errors + shown }
    let rows = summary.rows == 1 ? "1 row" : "\(summary.rows) rows"
    return "\(errors) in \(rows): " + kinds.joined(separator: ", ") + shown
  }
}

/// An error by which a sink rejects a row but accepts further ones, because the row is at fault.
public struct RowRefusal: Error, Sendable {
  /// What is wrong.
  public var message: String
  /// The rule that the row breaks.
  package var kind = RowFault.Kind.size

  /// Creates a refusal of a row that breaks a rule.
  package init(_ kind: RowFault.Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// Creates a refusal with a message for people, to which the row's position is added later.
  public init(_ message: String) { self.message = message }
}
