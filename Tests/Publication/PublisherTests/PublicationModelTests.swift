import CatalogTestSupport
import RandomTestSupport
import Testing

/// Short random series of everything that can happen to publishers, devices, keys, clocks and the places between them.
struct PublicationModelTests {
  @Test func `a device has the rows of a published head, never older than before, and says why it stays behind`()
    async throws
  {
    var first = RowGenerator("publication model")
    var counts = (syncs: 0, failures: 0, crashes: 0)
    for series in 0..<25 * depth {
      var rows = first
      rows.random = SeededGenerator(seed: first.random.next())
      let model = try PublicationModel(rows)
      do { try await model.run(steps: 8) } catch {
        Issue.record("\(error), series \(series), after \(model.log.joined(separator: "; "))")
      }
      if series % 200 == 199 { print("publication model: \(series + 1) series, \(counts)") }
      counts.syncs += model.counts.syncs
      counts.failures += model.counts.failures
      counts.crashes += model.counts.crashes
    }
    print("publication model: \(counts)")
    #expect(counts.syncs > 0 && counts.failures > 0 && counts.crashes > 0)
  }
}
