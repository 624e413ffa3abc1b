/// Refuses an answer of which too many rows would not reach the catalogue: a server that sends such an answer has a
/// fault.
///
/// | what happens to rows | why | refused |
/// |---|---|---|
/// | they *collapse*: another product of the answer has the same id, or none of them has an id | the last one counts | from 100 on, if that is more than 1 % of the products |
/// | they are *skipped*: they exceed a limit of the format | one bad row must not cut every device off | more than 10, if that is more than 1 % of the rows |
public struct RowGate: Sendable {
  /// The share of the products, 0 … 1, that may collapse into others.
  public var collapsedShare = 0.01
  /// Fewer collapsed products than this are accepted whatever their share is.
  public var collapsedFloor = 100
  /// The share of all rows, 0 … 1, that may be skipped.
  public var skippedShare = 0.01
  /// This many skipped rows are accepted whatever their share is.
  public var skippedFloor = 10

  public init() {}

  /// A gate that accepts any number of collapsed products.
  public static var acceptingCollapse: RowGate {
    var gate = RowGate()
    gate.collapsedShare = 1
    return gate
  }

  /// - Throws: `CatalogError.wouldCollapse`.
  func check(collapsed: Int, of all: Int, withoutID: Int) throws(CatalogError) {
    if collapsed >= collapsedFloor, Double(collapsed) > collapsedShare * Double(all) {
      throw .wouldCollapse(rows: collapsed, of: all, withoutID: withoutID)
    }
  }

  /// - Throws: `CatalogError.tooManySkipped`.
  func check(_ skipped: SkippedRows, of all: Int) throws(CatalogError) {
    let allowed = max(skippedFloor, Int(skippedShare * Double(all)))
    if let first = skipped.first.first, skipped.count > allowed {
      throw .tooManySkipped(rows: skipped.count, of: all, allowed: allowed, first: first)
    }
  }
}

/// A row of an answer that exceeds a limit of the format.
public struct SkippedRow: Equatable, Sendable {
  public enum Kind: Sendable {
    case product, relation
  }

  public var kind: Kind
  /// The row's index in its list, from 0.
  public var index: Int
  /// The beginning of the row's id, 40 characters at most.
  public var id: String
  /// Which limit it exceeds.
  public var reason: String
}

/// How many rows were skipped, and the first of them.
public struct SkippedRows: Equatable, Sendable {
  /// Rows of which ``first`` keeps the details.
  public static let detailLimit = 20

  public private(set) var count = 0
  public private(set) var first: [SkippedRow] = []

  public init() {}

  mutating func note(_ row: @autoclosure () -> SkippedRow) {
    count += 1
    if first.count < Self.detailLimit { first.append(row()) }
  }
}

/// A set that lacks a component since an increment deleted it.
public struct BrokenSet: Equatable, Sendable {
  public var id: String
  /// The ids of the components that the increment deleted, bytewise.
  public var missing: [String]
}

/// What an update did apart from its counts. It is told once and not kept with the commit.
public struct UpdateNotices: Equatable, Sendable {
  /// Rows that exceed a limit of the format.
  public var skipped = SkippedRows()
  /// Products that vanished into another one of the same answer, because their ids are equal or empty.
  public var collapsed = 0
  /// The sets that an increment broke by deleting a component, by id, bytewise.
  public var brokenSets: [BrokenSet] = []

  public init() {}
}
