import Bytes
public import CatalogRows
import LogStore

/// What a merge does with the rows of its file and of the catalogue: products and relations together, and codes.
public struct MergeCounts: Equatable, Sendable {
  /// What a merge does with codes.
  public struct Codes: Equatable, Sendable {
    /// The codes that the catalogue does not have.
    public var added = 0
    /// The codes that the catalogue has with another quantity, unit or kind.
    public var changed = 0
    /// The codes that are the same in the file and in the catalogue.
    public var unchanged = 0
    /// The codes that the merge deletes from the catalogue.
    public var deleted = 0
    /// The codes of the file whose product is not there, which are left out.
    public var ignored = 0

    /// Creates counts that are all 0.
    public init() {}
  }

  /// The rows that the catalogue does not have.
  public var added = 0
  /// The rows that the catalogue has with other fields.
  public var changed = 0
  /// The rows that are the same in the file and in the catalogue.
  public var unchanged = 0
  /// The rows that the merge deletes from the catalogue.
  public var deleted = 0
  /// The relations of the file whose set is no product, which are left out.
  public var ignored = 0
  /// The codes, which the counts above leave out.
  public var codes = Codes()

  /// The rows whose barcode no product has, and those whose barcode several have, where the barcode says which product
  /// a row is. They are left out.
  package var unknownCodes = 0
  package var ambiguousCodes = 0
  /// The first of these, at most ``firstCount`` of each, with the ids of the products.
  package var firstUnknown: [String] = []
  package var firstAmbiguous: [AmbiguousCode] = []

  /// The number of codes that are kept for messages.
  package static let firstCount = 5

  /// A barcode that several products have.
  package struct AmbiguousCode: Equatable, Sendable {
    package var code: String
    package var ids: [String]
  }

  /// Creates counts that are all 0.
  public init() {}
}

/// Rows that are merged into a catalogue: each is compared with what the catalogue has, and only differences are
/// written, as one increment.
///
/// A product of the file is added, or replaces the one with its id; one with `delFlag` deletes it. Without
/// `deletesMissing`, fields that the file says nothing about stay as they are (`ProductRow.givenFields`). A file
/// without relations leaves those of the catalogue as they are. Otherwise the relations of a set in the file are added
/// to those of the catalogue, and replace those with the same id; with `deletesMissing` they replace all of them, and
/// sets that the file has no relations of have none.
///
/// A file without codes leaves those of the catalogue as they are. Otherwise each product of the file has the codes that
/// the file has of it, and so has a product of which the file has only codes; with `deletesMissing`, all others have none.
///
/// It uses memory for the rows that differ and for all relations, as an ``Increment`` does, and a bit for every
/// eight bytes of the catalogue's file.
public struct CatalogMerge: RowSink {
  private let snapshot: CatalogSnapshot
  private let deletesMissing: Bool
  private var increment = Increment()
  /// The products of the catalogue that the file has.
  private var seen = RowBits([])
  private var relations: [ProductID: [Relation]] = [:]
  /// Whether the relations of the catalogue stay if the file has none.
  package var keepsRelations = true
  /// Whether a row is about the product that has its barcode, whatever the row's id. No product is added then, and the
  /// barcode and the id of a product stay.
  package var matchesCodes = false
  private var codes: [ProductID: [ProductCode]] = [:]
  /// Whether the codes of the catalogue stay if the file has none. It is so until the first code arrives.
  package var keepsCodes = true
  /// The products that scans can match now and cannot after the merge.
  private var lost = 0
  /// The codes that belong to a product now and do not after the merge.
  private var lostCodes = 0
  /// What the merge does; complete after ``finish()``.
  public private(set) var counts = MergeCounts()

  /// Begins a merge.
  ///
  /// - Parameters:
  ///   - snapshot: The last commit of the catalogue; `nil` for a catalogue that does not exist.
  ///   - deletesMissing: Whether products that the file does not have are deleted.
  /// - Throws: `CatalogError` if the commit is of no catalogue.
  public init(_ snapshot: CatalogSnapshot?, deletesMissing: Bool) throws(CatalogError) {
    if let snapshot { self.snapshot = snapshot } else { self.snapshot = try CatalogSnapshot(nil) }
    self.deletesMissing = deletesMissing
    increment.lastRowDecides = true
  }

  /// Whether a commit would change anything.
  public var hasChanges: Bool { !increment.isEmpty }

  /// What a row does with a product of the catalogue.
  private enum Effect { case none, changed, unchanged, deleted }

  /// Adds a product of the file. The last one of several with the same id counts, also if one of them has `delFlag`.
  ///
  /// - Throws: `StoreError.damaged`, `.tooLarge`; `CatalogError.incrementTooLarge`.
  /// - Complexity: One lookup, and the fields of both products.
  public mutating func product(_ row: borrowing ProductRow) throws {
    guard matchesCodes else { return try merge(row) }
    let code = row[.barcode]
    let ids = try snapshot.productIDs(code: code)
    if ids.count == 1 {
      var own = copy row
      own.texts.set(ProductText.id.rawValue, ids[0])
      own.givenFields &= ~(1 << UInt32(ProductField.barcode.rawValue))
      return try merge(own)
    }
    let kept = MergeCounts.firstCount
    if ids.isEmpty {
      counts.unknownCodes += 1
      if counts.firstUnknown.count < kept { counts.firstUnknown.append(code) }
    } else {
      counts.ambiguousCodes += 1
      if counts.firstAmbiguous.count < kept {
        counts.firstAmbiguous.append(MergeCounts.AmbiguousCode(code: code, ids: ids))
      }
    }
  }

  /// The id of the only product that has a barcode; `nil` if none has it, or several.
  package func productID(withCode code: String) throws -> String? {
    let ids = try snapshot.productIDs(code: code)
    return ids.count == 1 ? ids[0] : nil
  }

  private mutating func merge(_ row: borrowing ProductRow) throws {
    let snapshot = snapshot
    let id = row.texts.raw(ProductText.id.rawValue)
    let isTaken = increment.contains(id)
    let scope = ScratchScope(snapshot.store)
    defer { scope.end() }
    guard let own = try snapshot.view(id: id) else {
      if row.delFlag == 0 {
        if !isTaken { counts.added += 1 }
        return try increment.product(row)
      }
      // An earlier row may have added it.
      if isTaken {
        counts.added -= 1
        increment.withdraw(id)
      }
      return
    }
    var former = seen.insert(own.rowID) ? Effect.none : .unchanged
    if isTaken { former = increment.deletes(id) ? .deleted : .changed }
    if deletesMissing || row.givenFields == ProductRow.allFields { return try replace(own, by: row, former) }
    var whole = copy row
    try whole.fill(from: own)
    try replace(own, by: whole, former)
  }

  /// Replaces a product of the catalogue, if the row differs from it.
  private mutating func replace(
    _ own: borrowing ProductView, by row: borrowing ProductRow, _ former: Effect
  ) throws {
    let effect: Effect = try own.hasSameContent(as: row) ? .unchanged : row.delFlag == 0 ? .changed : .deleted
    count(former, own, -1)
    count(effect, own, 1)
    if effect == .unchanged {
      increment.withdraw(row.texts.raw(ProductText.id.rawValue))
    } else {
      try increment.product(row)
    }
  }

  /// Adds `number` to the count of an effect on a product of the catalogue.
  private mutating func count(_ effect: Effect, _ own: borrowing ProductView, _ number: Int) {
    switch effect {
    case .none: break
    case .changed: counts.changed += number
    case .unchanged: counts.unchanged += number
    case .deleted:
      counts.deleted += number
      if own.delFlag == 0 { lost += number }
    }
  }

  /// Adds a relation of the file.
  ///
  /// - Throws: `CatalogError.incrementTooLarge`.
  public mutating func relation(_ row: borrowing RelationRow) throws {
    let relation = Relation(row)
    relations[ProductID(relation.productId), default: []].append(relation)
    if relations.count > Increment.rowLimit {
      throw CatalogError.incrementTooLarge(rowLimit: Increment.rowLimit, byteLimit: Increment.byteLimit)
    }
  }

  /// Adds a code of the file.
  ///
  /// - Throws: `CatalogError.incrementTooLarge`.
  public mutating func code(_ row: borrowing CodeRow) throws {
    keepsCodes = false
    let code = ProductCode(row)
    codes[ProductID(code.productId), default: []].append(code)
    if codes.count > Increment.rowLimit {
      throw CatalogError.incrementTooLarge(rowLimit: Increment.rowLimit, byteLimit: Increment.byteLimit)
    }
  }

  /// Ends the file: finds what is missing in it, and which relations and codes change.
  ///
  /// - Throws: The errors of ``product(_:)``.
  /// - Complexity: Reads the relations of each set that changes; with `deletesMissing`, every row of the catalogue.
  public mutating func finish() throws {
    if deletesMissing { try deleteMissing() }
    // Products whose codes change are written, and with them their relations.
    let known = try keepsCodes ? nil : addProductsWithNewCodes()
    try finishRelations()
    if let known { try addCodes(known) }
    if keepsCodes, snapshot.hasCodeTable {
      for id in increment.productIDs where increment.deletes(id.text.utf8.span.rawSpan) {
        let count = try snapshot.codeCount(ofProduct: id.text)
        counts.codes.deleted += count
        lostCodes += count
      }
    }
    codes = [:]
  }

  private mutating func finishRelations() throws {
    // Without relations in the file and in the catalogue no set has any, before and after.
    if relations.isEmpty, snapshot.relationCount == 0 { return }
    let hasRelations = !relations.isEmpty || deletesMissing && !keepsRelations
    var sets = Set(relations.keys)
    sets.formUnion(increment.productIDs)
    if deletesMissing, hasRelations {
      try snapshot.forEachRelation { (relation) throws(StoreError) in sets.insert(ProductID(relation.productId)) }
    }
    for set in sets.sorted() { try addRelations(of: set, hasRelations) }
    relations = [:]
  }

  private mutating func deleteMissing() throws {
    var row = ProductRow()
    var missing: [[UInt8]] = []
    var lostCount = 0
    let seen = seen
    try snapshot.forEachProduct { (view) throws(StoreError) in
      if seen.contains(view.rowID) { return }
      missing.append(view.utf8.id.copied())
      if view.delFlag == 0 { lostCount += 1 }
    }
    lost += lostCount
    counts.deleted += missing.count
    for id in missing {
      row.reset()
      row.texts.set(ProductText.id.rawValue, id.span)
      row.delFlag = 1
      try increment.product(row)
    }
  }

  /// Adds the relations that a set has after the merge, if the set is written.
  private mutating func addRelations(of set: ProductID, _ hasRelations: Bool) throws {
    let old = try snapshot.relations(ofSet: set.text)
    let own = relations[set] ?? []
    let isTaken = increment.contains(Array(set.text.utf8).rawSpan)
    if increment.deletes(Array(set.text.utf8).rawSpan) {
      counts.deleted += old.count
      counts.ignored += own.count
      return
    }
    var new = old
    if hasRelations {
      new = deletesMissing ? own : old.filter { old in !own.contains { $0.replaces(old) } } + own
      let isMatchable = try isTaken || snapshot.isMatchable(set.text)
      if !isMatchable {
        counts.ignored += own.count
        return
      }
      count(old, new, own)
      if !isTaken {
        if Self.sorted(old) == Self.sorted(new) { return }
        // An increment writes the relations of a set with its product.
        guard let product = try snapshot.product(id: set.text) else { return }
        var row = ProductRow()
        product.fill(&row)
        try increment.product(row)
      }
    }
    var row = RelationRow()
    for relation in new {
      relation.fill(&row)
      try increment.relation(row)
    }
  }

  /// Adds the products whose codes change, and counts the codes. Returns the products of which the file says what
  /// codes they have; `nil` if all have the same as before.
  private mutating func addProductsWithNewCodes() throws -> Set<ProductID>? {
    var products = Set(codes.keys)
    products.formUnion(increment.productIDs)
    let (deletesMissing, seen, snapshot) = (deletesMissing, seen, snapshot)
    try snapshot.forEachCodeRecord { (codes) throws(StoreError) in
      guard let id = codes.first?.productId else { return }
      if deletesMissing {
        products.insert(ProductID(id))
      } else if let product = try snapshot.view(id: id.utf8.span.rawSpan), seen.contains(product.rowID) {
        products.insert(ProductID(id))
      }
    }
    var hasNew = false
    for id in products.sorted() {
      let old = try snapshot.codes(ofProduct: id.text)
      let new = codes[id] ?? []
      let isTaken = increment.contains(id.text.utf8.span.rawSpan)
      if increment.deletes(id.text.utf8.span.rawSpan) {
        counts.codes.deleted += old.count
        lostCodes += old.count
        counts.codes.ignored += new.count
        codes[id] = nil
        continue
      }
      if try !isTaken && !snapshot.isMatchable(id.text) {
        counts.codes.ignored += new.count
        codes[id] = nil
        continue
      }
      if !count(old, new) { continue }
      hasNew = true
      if isTaken { continue }
      // An increment writes the codes of a product with it.
      guard let product = try snapshot.product(id: id.text) else { continue }
      var row = ProductRow()
      product.fill(&row)
      try increment.product(row)
    }
    return hasNew ? products : nil
  }

  /// Counts how the codes of a product differ. Returns whether they do.
  private mutating func count(_ old: [ProductCode], _ new: [ProductCode]) -> Bool {
    var unpaired = old
    var rest: [ProductCode] = []
    for code in new {
      if let index = unpaired.firstIndex(where: { $0.content == code.content }) {
        unpaired.remove(at: index)
        counts.codes.unchanged += 1
      } else {
        rest.append(code)
      }
    }
    let differs = !unpaired.isEmpty || !rest.isEmpty
    let keys = Set(new.map { CodeKey.of($0.code) })
    lostCodes += unpaired.count { !keys.contains(CodeKey.of($0.code)) }
    for code in rest {
      if let index = unpaired.firstIndex(where: { $0.identity == code.identity }) {
        unpaired.remove(at: index)
        counts.codes.changed += 1
      } else {
        counts.codes.added += 1
      }
    }
    counts.codes.deleted += unpaired.count
    return differs
  }

  /// Adds the codes of all products that are written: those of the file, or else those that the product has.
  private mutating func addCodes(_ known: Set<ProductID>) throws {
    increment.keepsCodes = false
    var row = CodeRow()
    for id in increment.productIDs.sorted() where !increment.deletes(id.text.utf8.span.rawSpan) {
      for code in try known.contains(id) ? codes[id] ?? [] : snapshot.codes(ofProduct: id.text) {
        code.fill(&row)
        try increment.code(row)
      }
    }
  }

  /// Counts how the relations of a set differ.
  private mutating func count(_ old: [Relation], _ new: [Relation], _ own: [Relation]) {
    var rest = old
    for relation in own {
      if let index = rest.firstIndex(of: relation) {
        rest.remove(at: index)
        counts.unchanged += 1
      } else if let index = rest.firstIndex(where: relation.replaces) {
        rest.remove(at: index)
        counts.changed += 1
      } else {
        counts.added += 1
      }
    }
    if deletesMissing { counts.deleted += rest.count }
  }

  private static func sorted(_ relations: [Relation]) -> [[UInt8]] {
    relations.map(\.content).sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Checks how many products and codes the merge would lose.
  ///
  /// - Throws: `CatalogError.wouldLose`, `.wouldLoseCodes`; `StoreError`.
  package func checkLosses(_ limit: LossLimit) throws {
    try limit.check(lostCodes: lostCodes, of: snapshot.codeCount)
    if lost == 0 { return }
    var all = 0
    try snapshot.forEachProduct { (view) throws(StoreError) in if view.delFlag == 0 { all += 1 } }
    try limit.check(lost: lost, of: all)
  }

  /// Writes the differences, in one commit. If there are none, and the cursor stays, nothing is written.
  ///
  /// - Parameters:
  ///   - writer: The writer of the catalogue, which has made no commit since the snapshot.
  ///   - cursor: The cursor for the next request to the server; `nil` for the one that the catalogue has.
  ///   - lossLimit: The limit on products that the merge may delete.
  /// - Returns: The report of the increment, or of the last commit.
  /// - Throws: `CatalogError.wouldLose` if the limit refuses; the errors of
  ///   ``Increment/commit(cursor:defaulted:skipsUnchanged:)``.
  public consuming func commit(
    to writer: CatalogWriter, cursor: String?, _ lossLimit: LossLimit = LossLimit()
  ) throws -> UpdateReport {
    try checkLosses(lossLimit)
    return try writer.commit(increment, cursor: cursor ?? snapshot.cursor, skipsUnchanged: true)
  }
}

extension Relation {
  /// Whether this relation takes the place of another one of the same set: they have the same id, or none and the same
  /// component.
  fileprivate func replaces(_ other: Relation) -> Bool {
    if !id.isEmpty || !other.id.isEmpty { return id.isBytewiseEqual(to: other.id) }
    return subProductId.isBytewiseEqual(to: other.subProductId)
  }
}
