import CatalogSync
import LogStore
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// What follows a synchronisation: a compaction where the policy wants one, and a warning where it does not work.
@Suite struct CompactionOutcomeTests {
  /// Answers each request with the same 100 products, in other words.
  private final class Answers: CatalogTransport {
    private(set) var count = 0
    var cursor: String { "day \(count)" }

    nonisolated(nonsending) func fetchAnswer<State: ~Copyable>(
      cursor: String, into makeState: () throws -> State, onChunk: (inout State, Span<UInt8>) throws -> Void
    ) async throws -> State {
      count += 1
      let rows = (0..<100).map { #"{"id":"p\#($0)","barcode":"690\#($0)","name":"as it is on \#(self.cursor)"}"# }
      let answer = Array(
        #"{"appProductVOList":[\#(rows.joined(separator: ","))],"appProductRelVOList":[],"updateTime":"\#(self.cursor)"}"#
          .utf8)
      var state = try makeState()
      try onChunk(&state, answer.span)
      return state
    }
  }

  private let device = SimulatedDevice()
  private var location: StoreLocation {
    StoreLocation.test(device.directory, name: "catalog", environment: FixedEnvironment().environment())
  }

  private func synchronizer(_ compaction: CompactionPolicy) -> Synchronizer<Answers> {
    var synchronizer = Synchronizer(Answers())
    synchronizer.options.allowsBarePayload = true
    synchronizer.compaction = compaction
    return synchronizer
  }

  private func expect(_ cursor: String, in snapshot: CatalogSnapshot) throws {
    #expect(snapshot.cursor == cursor)
    #expect(snapshot.productCount == 100)
    #expect(try snapshot.products.allSatisfy { $0.name == "as it is on \(cursor)" })
  }

  @Test func `synchronisations are compacted behind as the policy says`() async throws {
    let synchronizer = synchronizer(CompactionPolicy(floor: 64 << 10))
    var compactions = 0
    for day in 1...20 {
      let report = try await synchronizer.run(SyncDestination(location))
      let snapshot = try #require(try CatalogReader.open(location)).snapshot()
      switch report.compaction {
      case .notDue: #expect(snapshot.generation == UInt64(compactions + 1))
      case .compacted: compactions += 1
      case .failed(let error): Issue.record("\(error)")
      }
      #expect(snapshot.sequence == UInt64(day) && report.update.sequence == UInt64(day))
      try expect("day \(day)", in: snapshot)
      #expect(try #require(device.contents("catalog.log")).count <= 2 * (48 << 10) + (64 << 10))
    }
    #expect((2...10).contains(compactions), "\(compactions)")
    #expect(try #require(try CatalogReader.open(location)).snapshot().generation == UInt64(compactions + 1))
  }

  @Test func `nobody compacts who was told not to`() async throws {
    let synchronizer = synchronizer(.never)
    for _ in 1...20 {
      let outcome = try await synchronizer.run(SyncDestination(location)).compaction
      if case .notDue = outcome {} else { Issue.record("\(outcome)") }
    }
    #expect(try #require(try CatalogReader.open(location)).snapshot().generation == 1)
  }

  @Test func `a compaction that fails behind an increment is told and fails nothing`() async throws {
    // Due behind every increment.
    let synchronizer = synchronizer(CompactionPolicy(share: 0, floor: 0))
    _ = try await synchronizer.run(SyncDestination(location))
    var failures = 0
    for round in 2...40 {
      let image = device.image
      let trial = SimulatedDevice(image)
      let location = StoreLocation.test(
        trial.directory, name: "catalog", environment: FixedEnvironment(seed: UInt64(round)).environment())
      // What a crash left is put in order first.
      let other = try CatalogWriter(location)
      let before = try other.snapshot()
      other.close()
      // The calls of the increment come first; those behind them are the compaction's.
      trial.fail(nil, round, DeviceCall.write.faults[0])
      do {
        let report = try await synchronizer.run(SyncDestination(location))
        if case .failed = report.compaction {
          failures += 1
          // A new start shows the increment, whatever became of the compaction.
          let reader = try #require(try CatalogReader.open(location))
          try expect(synchronizer.transport.cursor, in: reader.snapshot())
          #expect(try reader.snapshot().sequence == before.sequence + 1)
        }
      } catch is StoreError {
        // It was the increment that failed, or the look at what is there.
      }
      _ = trial.failNoMore()
    }
    #expect(failures > 3, "\(failures)")
    // Room for an increment, which is no larger than the catalogue, and a page.
    device.limit(to: device.byteCount + (try #require(device.contents("catalog.log")).count) + 4096)
    let report = try await synchronizer.run(SyncDestination(location))
    if case .failed(StoreError.noRoom) = report.compaction {} else { Issue.record("\(report.compaction)") }
    try expect(synchronizer.transport.cursor, in: try #require(try CatalogReader.open(location)).snapshot())
  }
}
