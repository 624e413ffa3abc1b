import Bytes
import CatalogRows
import Documents
import LogStore
import StoreTestSupport
@testable import Catalog

/// A log with changed bytes: read, verified, repaired, written, always with an answer or an error of the right type.
///
/// First byte: which checksums fit again (``EditedLog/Repairs``) and what is done with the log.
@Sendable func fuzzLog(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  exercise(EditedLog(.items, EditedLog.Repairs(rawValue: choice & 15), &input).bytes, choice >> 4 & 3)
}

/// The same with a sealed log, opened with its key: besides, every row and state that is read was sealed once.
@Sendable func fuzzSealed(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let log = EditedLog(.sealed, EditedLog.Repairs(rawValue: choice & 15), &input).bytes
  let location = LogSample.sealedLocation(LogSample.device(log))
  exercise(location, choice >> 4 & 3)
  readOnlyWhatWasSealed(location)
}

/// Reads the rows of a log, its keys and its ordered indexes: each row is one that was written, and has the key by which
/// it was found.
private func readOnlyWhatWasSealed(_ location: StoreLocation) {
  attempt {
    guard let reader = try StoreReader.open(location) else { return }
    let snapshot = reader.snapshot
    require(LogSample.sealedStates.contains(snapshot.state), "sealed: a state that nobody wrote")
    for table in 0..<2 {
      attempt {
        for row in try snapshot.rows(table) {
          require(LogSample.sealedRows[table].contains(row), "sealed: a row that nobody wrote: \(row)")
        }
      }
    }
    for space in TestSchema.all {
      for key in Set(LogSample.sealedRows[space.table].map { $0.keys[space.index] }) {
        attempt {
          for row in try snapshot.rows(space, key) {
            require(
              row.keys[space.index] == key && LogSample.sealedRows[space.table].contains(row),
              "sealed: a row that nobody wrote, or of another key: \(row)")
          }
        }
      }
    }
  }
}

func exercise(_ log: [UInt8], _ part: UInt8) { exercise(LogSample.location(LogSample.device(log)), part) }

private func exercise(_ location: StoreLocation, _ part: UInt8) {
  switch part {
  case 0: attempt { if let reader = try StoreReader.open(location) { try read(reader) } }
  case 1: verify(location)
  case 2:
    attempt {
      guard let repair = try Repair.run(location, schema: TestSchema.schema) else { return }
      let after = try Verification.run(location)
      require(after?.findings.isEmpty == true, "repair: it leaves \(after?.findings.first?.description ?? "nothing")")
      if let snapshot = repair.snapshot { _ = try StoreContents(snapshot) }
    }
  default: write(location)
  }
}

/// Everything that a reader offers, at each commit.
private func read(_ reader: StoreReader) throws {
  let snapshot = reader.snapshot
  attempt { _ = try StoreContents(snapshot) }
  attempt { _ = try snapshot.statistics() }
  attempt { _ = try reader.refresh() }
  for record in try snapshot.history().prefix(8) {
    attempt {
      guard let earlier = try snapshot.snapshot(at: record.sequence) else { return }
      attempt { _ = try StoreContents(earlier) }
      let changes = try snapshot.changes(since: earlier)
      for (table, rows) in changes.removed.enumerated() {
        for row in rows {
          if let record = try earlier.record(row, table: table) { _ = record.body }
        }
      }
    }
  }
}

/// What verification finds nothing wrong with can be read, written and compacted.
private func verify(_ location: StoreLocation) {
  attempt {
    guard let verification = try Verification.run(location) else { return }
    for finding in verification.findings { _ = finding.description }
    guard verification.findings.isEmpty else { return }
    do {
      guard let reader = try StoreReader.open(location) else { fatalError("verification: a store that is none") }
      for table in 0..<2 {
        _ = try reader.snapshot.rows(table)
        for name in reader.snapshot.orderedIndexes(of: table) {
          guard let index = reader.snapshot.orderedIndex(table, named: name) else { continue }
          let pairs = try reader.snapshot.pairs(of: index)
          let back = try reader.snapshot.pairs(of: index, backward: true)
          require(back == pairs.reversed(), "verification: the ordered index \(name) has other keys backward")
        }
      }
      _ = try reader.snapshot.history()
    } catch { fatalError("verification: it finds nothing, but \(error)") }
  }
}

private func write(_ location: StoreLocation) {
  attempt {
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    defer { writer.close() }
    attempt {
      _ = try writer.commit { transaction in
        for id in 0..<4 { try transaction.put("\(id)", "code") }
        try transaction.delete(TestSchema.to, "to")
      }
    }
    attempt {
      guard let last = writer.snapshot, let first = try last.history().last else { return }
      guard let earlier = try last.snapshot(at: first.sequence) else { return }
      _ = try writer.rollback(to: earlier) { _, _ in }
    }
    attempt { _ = try writer.compact() }
    attempt { if let snapshot = writer.snapshot { _ = try StoreContents(snapshot) } }
  }
}

/// Runs `body`; what it throws has to be an error of the store, or a lie that the helpers of the tests found out.
func attempt(_ body: () throws -> Void) {
  do { try body() } catch {
    require(
      error is StoreError || error is CatalogError || error is DocumentStoreError
        || error is StoreContents.Contradiction,
      "an error of another type: \(error)")
    _ = "\(error)"
  }
}

/// The same with the log of a catalogue, read as a catalogue.
@Sendable func fuzzCatalogue(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let hasCodes = choice & 64 != 0
  let log = EditedLog(hasCodes ? .codes : .catalogue, EditedLog.Repairs(rawValue: choice & 15), &input).bytes
  let location = LogSample.location(LogSample.device(log))
  switch choice >> 4 & 3 {
  case 0, 1:
    attempt { if let reader = try CatalogReader.open(location) { try read(reader.snapshot()) } }
  case 2:
    attempt {
      guard let repair = try CatalogRepair.run(location) else { return }
      let after = try Verification.run(location)
      require(after?.findings.isEmpty == true, "repair: it leaves \(after?.findings.first?.description ?? "nothing")")
      try read(repair.snapshot)
    }
  default:
    attempt {
      let writer = try CatalogWriter(location, indexes: hasCodes ? LogSample.indexes : .standard)
      defer { writer.close() }
      attempt {
        var increment = writer.beginIncrement()
        try increment.take([Product(), Product()], [Relation()], hasCodes ? [ProductCode()] : [])
        _ = try increment.commit(cursor: "next")
      }
      attempt {
        if let first = try writer.snapshot().history().last { _ = try writer.rollback(to: first.commit.sequence) }
      }
      attempt { _ = try writer.compact() }
      attempt { try read(writer.snapshot()) }
    }
  }
}

private func read(_ plain: CatalogSnapshot) throws {
  let catalogue = plain.declaring(LogSample.declared)
  attempt { _ = try CatalogDigest(catalogue) }
  attempt { _ = try catalogue.verify() }
  attempt { try catalogue.forEachCode { (_) throws(StoreError) in } }
  attempt { _ = try catalogue.orphanCodeCount() }
  attempt { _ = try catalogue.fieldCounts() }
  for code in ["15296849399418", "c-1", "71", "CASE-1", "case-10"] {
    attempt { _ = try catalogue.match(code, options: suggesting) }
    attempt { _ = try catalogue.products(furtherCode: code) }
  }
  attempt { _ = try catalogue.codes(ofProduct: "p0") }
  query {
    for field in LogSample.declared.names {
      _ = try catalogue.products(where: "true").order(by: "-extra.\(field)").limit(2).fetch()
      _ = try catalogue.products(where: "extra.\(field) is null").count()
    }
    _ = try catalogue.products(where: "extra.price > 0.5 && extra.color == 'dark red 1'").fetch()
  }
  query { _ = try catalogue.search("dark red") }
  attempt { try catalogue.forEachProduct { (view) throws(StoreError) in _ = try Product(view) } }
  attempt { try catalogue.forEachRelation { (_) throws(StoreError) in } }
  attempt { _ = try catalogue.setStatistics() }
  attempt { _ = try catalogue.productRowsByID() }
  for code in ["5296849399411", "05296849399411", "X-1", "Ab12", "(01)05296849399411", ""] {
    attempt { _ = try catalogue.match(code) }
  }
  for id in ["p0", "p1", "p9", ""] {
    attempt { _ = try catalogue.components(of: id) }
    attempt { _ = try catalogue.sets(with: id) }
  }
  attempt { _ = try catalogue.complete(["5296849399411", "X-1"]) }
  for commit in try catalogue.history().prefix(4) {
    attempt {
      guard let earlier = try catalogue.at(commit.commit.sequence) else { return }
      _ = try catalogue.changes(since: earlier)
    }
  }
}

/// Options with which a scan that matches nothing has suggestions.
private let suggesting: MatchingOptions = {
  var options = MatchingOptions()
  options.suggestionLimit = 3
  return options
}()

/// Runs queries; what they throw has to be an error of the store. A file without an index of words has no search.
private func query(_ body: () throws -> Void) {
  do { try body() } catch {
    if case SearchError.noIndex = error { return }
    if case SearchError.store = error { return }
    require(error is StoreError || error is CatalogError, "an error of another type: \(error)")
  }
}

extension RowSink {
  mutating func take(_ products: [Product], _ relations: [Relation], _ codes: [ProductCode] = []) throws {
    var productRow = ProductRow()
    for product in products {
      product.fill(&productRow)
      try self.product(productRow)
    }
    var relationRow = RelationRow()
    for relation in relations {
      relation.fill(&relationRow)
      try self.relation(relationRow)
    }
    var codeRow = CodeRow()
    for code in codes {
      code.fill(&codeRow)
      try self.code(codeRow)
    }
  }
}
