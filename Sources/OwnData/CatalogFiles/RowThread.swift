import CatalogRows
import LogStore

/// A sink that passes rows on to another one on a second thread, in their order: reading a file and storing its rows
/// take about as long as each other.
///
/// Rows are copied into batches. Memory: ``batchesAhead`` and two batches of ``batchRowCount`` rows.
struct RowThread<Target: RowSink & SendableMetatype>: RowSink {
  private static var batchRowCount: Int { 256 }
  /// The number of batches that may wait before the reader does.
  private static var batchesAhead: Int { 3 }

  /// Sendable: the target is used only by the stage's thread, until that is done.
  private final class Place: @unchecked Sendable {
    var target: Target?

    init(_ target: consuming Target) { self.target = target }

    func take() -> Target? {
      var taken: Target?
      swap(&taken, &target)
      return taken
    }
  }

  private let place: Place
  private let stage: PipelineStage<RowBatch, any Error>
  private var batch = RowBatch()

  /// - Parameter target: The sink, which is used only by the second thread until ``take()``.
  init(_ target: consuming Target) {
    let place = Place(target)
    self.place = place
    stage = PipelineStage(label: "shelfmark.rows", ahead: Self.batchesAhead) { batch in
      try batch.pass(to: &place.target)
      return batch
    }
  }

  /// - Throws: The error with which the target refused an earlier row.
  mutating func product(_ row: borrowing ProductRow) throws {
    batch.append(row)
    if batch.count == Self.batchRowCount { try send() }
  }

  /// - Throws: The error with which the target refused an earlier row.
  mutating func relation(_ row: borrowing RelationRow) throws {
    batch.append(row)
    if batch.count == Self.batchRowCount { try send() }
  }

  /// - Throws: The error with which the target refused an earlier row.
  mutating func code(_ row: borrowing CodeRow) throws {
    batch.append(row)
    if batch.count == Self.batchRowCount { try send() }
  }

  private mutating func send() throws {
    var full = RowBatch()
    swap(&full, &batch)
    guard let done = try stage.send(full) else { return }
    batch = done
    batch.removeAll()
  }

  /// Waits until all rows are passed on, and returns the target. No row may follow.
  ///
  /// - Throws: The error with which the target refused a row. ``abandon()`` then returns the target.
  mutating func take() throws -> Target? {
    if batch.count > 0 { try send() }
    try stage.finish()
    return place.take()
  }

  /// Waits until the second thread is done, and returns the target, also if it refused a row. Rows that wait are
  /// dropped.
  mutating func abandon() -> Target? {
    batch = RowBatch()
    stage.giveUp()
    return place.take()
  }
}

/// Rows in the order in which they were read, in buffers that are used again.
private struct RowBatch: Sendable {
  private var products: [ProductRow] = []
  private var relations: [RelationRow] = []
  private var productCount = 0
  private var codes: [CodeRow] = []
  private var relationCount = 0
  private var codeCount = 0
  /// The list of each row, in their order.
  private var kinds: [Kind] = []

  private enum Kind { case product, relation, code }

  var count: Int { kinds.count }

  mutating func append(_ row: borrowing ProductRow) {
    if productCount == products.count { products.append(ProductRow()) }
    products[productCount].copy(row)
    productCount += 1
    kinds.append(.product)
  }

  mutating func append(_ row: borrowing RelationRow) {
    if relationCount == relations.count { relations.append(RelationRow()) }
    relations[relationCount].copy(row)
    relationCount += 1
    kinds.append(.relation)
  }

  mutating func append(_ row: borrowing CodeRow) {
    if codeCount == codes.count { codes.append(CodeRow()) }
    codes[codeCount].copy(row)
    codeCount += 1
    kinds.append(.code)
  }

  /// Forgets the rows and keeps the buffers.
  mutating func removeAll() {
    (productCount, relationCount, codeCount) = (0, 0, 0)
    kinds.removeAll(keepingCapacity: true)
  }

  /// Passes all rows to `target`.
  func pass(to target: inout (some RowSink)?) throws {
    var (product, relation, code) = (0, 0, 0)
    for kind in kinds {
      switch kind {
      case .product:
        try target?.product(products[product])
        product += 1
      case .relation:
        try target?.relation(relations[relation])
        relation += 1
      case .code:
        try target?.code(codes[code])
        code += 1
      }
    }
  }
}
