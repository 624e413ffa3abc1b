import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// Random changes of a catalogue, and what is reported to observers of them.
@Suite(.timeLimit(.minutes(10))) struct CatalogObservationModelTests: ObservingSuite {
  @Test(arguments: 0..<4) func `what changes say, applied to a copy, gives the catalogue`(run: Int) async throws {
    var rows = RowGenerator("what changes say, applied to a copy, gives the catalogue", run: run)
    let catalogue = try TestCatalogue()
    var changes = CatalogObservation(catalogue.location, interval: .milliseconds(1)).makeAsyncIterator()
    var copy: [String: Product] = [:]
    var relations: [[UInt8]: Int] = [:]
    var reported: UInt64 = 0
    for _ in 0..<30 * depth {
      for _ in 0..<Int.random(in: 1...3, using: &rows.random) { try step(catalogue, &rows) }
      let change = try #require(try await changes.next())
      #expect(change.before.sequence == reported && !change.isReplacement)
      reported = change.sequence
      let now = try catalogue.snapshot
      #expect(reported == now.sequence)
      if change.hasAllCommits {
        #expect(change.commits.map(\.commit.sequence) == Array(change.before.sequence + 1...reported))
      }
      let differences = try change.differences()
      for product in differences.upsertedProducts { copy[product.id] = product }
      for id in differences.deletedProductIDs { #expect(copy.removeValue(forKey: id) != nil) }
      for relation in differences.relations {
        if let before = relation.before { relations[before.content, default: 0] -= 1 }
        if let after = relation.after { relations[after.content, default: 0] += 1 }
      }
      let expected = try Dictionary(now.products.map { ($0.id, $0.canonicalLine) }) { one, _ in one }
      #expect(copy.mapValues(\.canonicalLine) == expected)
      let expectedRelations = try Dictionary(now.relations.map { ($0.content, 1) }, uniquingKeysWith: +)
      #expect(relations.filter { $0.value != 0 } == expectedRelations)
    }
  }

  /// Commits once, and perhaps compacts or opens the catalogue anew.
  private func step(_ catalogue: TestCatalogue, _ rows: inout RowGenerator) throws {
    let products = (0..<Int.random(in: 0..<6, using: &rows.random)).map { _ in
      Product("p\(rows.pick(Array(0..<9)))", rows.pick(["1", "2"]), delFlag: rows.chance(30) ? 1 : 0)
    }
    let relations = (0..<4).map { _ in
      Relation("p\(rows.pick(Array(0..<9)))", rows.pick(["x", "y"]), rows.pick([1, 2]), id: rows.pick(["", "r"]))
    }
    let sequences = try catalogue.writer.history().commits().map(\.commit.sequence)
    if rows.chance(15) {
      try catalogue.full(products, relations)
    } else if rows.chance(20), let sequence = sequences.randomElement(using: &rows.random) {
      _ = try catalogue.writer.rollback(to: sequence)
    } else {
      try catalogue.increment(products, relations)
    }
    if rows.chance(15) { try catalogue.writer.compact() }
    if rows.chance(10) { try catalogue.reopen() }
  }

  @Test func `an observer next to a busy writer ends with what is there, and saw each commit in order`() async throws {
    let catalogue = try TestCatalogue([Product("p0", "0")])
    let reader = try reader(catalogue)
    let first = try reader.snapshot()
    let last: UInt64 = 120
    let observer = Task {
      var ids = Set(["p0"])
      var commits: [UInt64] = []
      for try await change in reader.changes(since: first, interval: .milliseconds(1)) {
        commits += change.commits.map(\.commit.sequence)
        let differences = try change.differences()
        ids.formUnion(differences.upsertedProducts.map(\.id))
        ids.subtract(differences.deletedProductIDs)
        if change.sequence == last { break }
      }
      return (ids, commits)
    }
    for number in 2...last {
      if number % 20 == 0 {
        try catalogue.full((0..<number).map { Product("p\($0)", "full") })
      } else {
        try catalogue.increment([Product("p\(number)", "1"), Product("p\(number / 2)", delFlag: 1)])
      }
      if number % 15 == 0 { try catalogue.writer.compact() }
      await Task.yield()
    }
    let (ids, commits) = try await observer.value
    #expect(try ids == Set(catalogue.snapshot.products.map(\.id)))
    #expect(commits == commits.sorted() && Set(commits).count == commits.count && commits.last == last)
  }
}
