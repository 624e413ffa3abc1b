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

  @Test func `the lowest version that can say it is written, and a flag of a newer program is refused`() {
    var state = CatalogState()
    for (flags, version) in [(0, 1), (ProductLayout.hasExtra, 2)] as [(UInt64, UInt8)] {
      state.flags = flags
      #expect(state.encoded[0] == version && CatalogState(state.encoded) == state)
    }
    for added in ProductLayout.added {
      for flags in [added.mask, added.mask | ProductLayout.hasExtra] {
        state.flags = flags
        #expect(state.encoded[0] == 3 && CatalogState(state.encoded) == state)
      }
    }
    // Version 3, with the flags after version and mode.
    for flags in (0..<64).map({ 1 << $0 as UInt64 }) {
      let bytes = [3] + state.encoded[1..<2] + (0..<8).map { UInt8(truncatingIfNeeded: flags >> ($0 * 8)) }
      let counts = [UInt8](repeating: 0, count: 48)
      #expect((CatalogState(bytes + counts) != nil) == (flags & ProductLayout.stateBits != 0), "\(flags)")
    }
  }

  @Test func `a state of a newer program is refused and kept`() throws {
    let folder = try TemporaryDirectory()
    let location = StoreLocation(
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
