import LogStore
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct CatalogStateTests {
  @Test func `random states come back, and random bytes never trap`() {
    var rows = RowGenerator("random states come back, and random bytes never trap")
    for _ in 0..<2000 {
      var state = CatalogState()
      state.cursor = rows.text()
      state.mode = rows.pick([.full, .incremental])
      state.counts.productsUpserted = rows.pick([0, 1, .max])
      state.counts.relationsIgnored = rows.pick([0, 7, .max])
      state.counts.defaulted = rows.pick([0, 9])
      #expect(CatalogState(state.encoded) == state)
      var bytes = state.encoded
      bytes[Int.random(in: 0..<bytes.count, using: &rows.random)] = UInt8(
        truncatingIfNeeded: rows.random.next())
      _ = CatalogState(bytes)
      if bytes.count > 50 {
        #expect(CatalogState(Array(bytes[..<Int.random(in: 1..<50, using: &rows.random)])) == nil)
      }
    }
    #expect(CatalogState([]) == CatalogState())
  }

  @Test func `a state of a newer program is refused and kept`() throws {
    let folder = try TemporaryDirectory()
    let location = StoreLocation.test(
      folder.directory, name: "catalog", environment: FixedEnvironment().environment())
    let store = try StoreWriter(location, schema: CatalogSchema.schema)
    _ = try store.commit { $0.state = [9, 9, 9] }
    store.close()
    let writer = try CatalogWriter(location)
    #expect(throws: CatalogError.self) { try writer.snapshot() }
    #expect(throws: CatalogError.self) { try CatalogReader.open(location)?.snapshot() }
    #expect(throws: CatalogError.self) { try writer.beginFullUpdate(.open).commit(cursor: "t") }
    writer.close()
    #expect(try StoreReader.open(location)?.snapshot.state == [9, 9, 9])
  }
}
