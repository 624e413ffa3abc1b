/// A limit on how many rows of an answer may be lost. A server that sends an answer with more of them is faulty.
///
/// | What happens to rows | Why they are accepted | Refused |
/// |---|---|---|
/// | They *collapse*: another product of the answer has the same id, or several have no id. | The last one wins. | From 100 on, if they are more than 1 % of the products |
/// | They are *skipped*: they exceed a limit of the format. | One bad row must not cut every device off. | More than 10, if they are more than 1 % of the rows |
public struct RowLimits: Sendable {
  /// The share of the products, 0 … 1, that may collapse into others.
  public var collapsedShare = 0.01
  /// The number of collapsed products below which the share does not matter.
  public var collapsedFloor = 100
  /// The share of all rows, 0 … 1, that may be skipped.
  public var skippedShare = 0.01
  /// The number of skipped rows up to which the share does not matter.
  public var skippedFloor = 10

  /// Creates the limits of the table in ``RowLimits``.
  public init() {}

  /// Limits that accept any number of collapsed products.
  public static var acceptingCollapse: RowLimits {
    var limits = RowLimits()
    limits.collapsedShare = 1
    return limits
  }

  /// Checks the number of collapsed products.
  ///
  /// - Throws: `CatalogError.wouldCollapse`.
  func check(collapsed: Int, of all: Int, withoutID: Int) throws(CatalogError) {
    if collapsed >= collapsedFloor, Double(collapsed) > collapsedShare * Double(all) {
      throw .wouldCollapse(rows: collapsed, of: all, withoutID: withoutID)
    }
  }

  /// Checks the number of skipped rows.
  ///
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
  /// The list of an answer that a row belongs to.
  public enum Kind: Sendable {
    case product, relation, code

    /// The name of the kind.
    var name: String { String(describing: self) }
  }

  /// Whether the row is a product, a relation or a code.
  public var kind: Kind
  /// The row's index in its list, from 0.
  public var index: Int
  /// The first characters of the row's id, 40 at most.
  public var id: String
  /// The limit that the row exceeds.
  public var reason: String
}

/// The number of skipped rows and the details of the first ones.
public struct SkippedRows: Equatable, Sendable {
  /// The maximum number of rows in ``first``.
  public static let detailLimit = 20

  /// The number of all skipped rows.
  public private(set) var count = 0
  /// The first skipped rows, in the order of the answer: at most ``detailLimit``.
  public private(set) var first: [SkippedRow] = []

  /// Creates a count of no rows.
  public init() {}

  mutating func record(_ row: @autoclosure () -> SkippedRow) {
    count += 1
    if first.count < Self.detailLimit { first.append(row()) }
  }
}

/// A set that lacks a component because an increment deleted it.
public struct BrokenSet: Equatable, Sendable {
  /// The id of the set that can no longer be completed.
  public var id: String
  /// The ids of the components that the increment deleted, in byte order.
  public var missing: [String]
}

/// Notices of an update in addition to its counts. They are reported once and not stored with the commit.
public struct UpdateNotices: Equatable, Sendable {
  /// The rows that exceed a limit of the format.
  public var skipped = SkippedRows()
  /// The number of products that collapsed into another product of the same answer, because their ids are equal or
  /// empty.
  public var collapsed = 0
  /// The sets that an increment broke by deleting a component, sorted by id in byte order.
  public var brokenSets: [BrokenSet] = []

  /// Creates notices of an update that skipped, collapsed and broke nothing.
  public init() {}
}
