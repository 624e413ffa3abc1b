import DocumentFormat
import Essentials
import Testing

@testable import Publisher

/// A directory that is removed with this object.
final class FleetFolder {
  let path = FileManager.default.temporaryDirectory.path + "/shelfmark-fleet-\(UUID().uuidString)"

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension FleetReport {
  /// A report of a device.
  init(
    _ device: String, _ sequence: UInt64, number: UInt64 = 0, problem: String? = nil, catalogue: String? = nil,
    ring: Double? = nil, target: UInt64? = nil, received: Date = Date(timeIntervalSince1970: 1_800_000_000)
  ) throws {
    try self.init(DocumentValue(json: #"{"device":"\#(device)","sequence":\#(sequence)}"#), received: received)
    self.number = number
    self.problem = problem
    self.catalogue = catalogue
    self.ring = ring
    self.target = target
  }
}

@Suite struct FleetStoreTests {
  private let folder = FleetFolder()

  private func devices(_ store: FleetStore) throws -> [String] {
    var devices: [String] = []
    try store.snapshot().forEach(isOrdered: true) { devices.append("\($0.id) \($0.sequence) \($0.problem ?? "well")") }
    return devices
  }

  @Test func `the last report of each device is kept, also for the next process`() async throws {
    do {
      let store = try FleetStore.collecting(folder.path)
      let first = try await store.add([FleetReport("b", 1, number: 1, problem: "sync_failing: x"), FleetReport("a", 1)])
      #expect(first == [.kept, .kept])
      let second = try await store.add([FleetReport("b", 2, number: 2), FleetReport("b", 1, number: 1)])
      #expect(second == [.kept, .older])
    }
    let store = try FleetStore.collecting(folder.path)
    // The problem has ended with the report that has none.
    #expect(try devices(store) == ["a 1 well", "b 2 well"])
    let again = try await store.add([FleetReport("b", 1, number: 1, problem: "sync_failing: x")])
    #expect(again == [.older])
    #expect(try devices(FleetStore.reading(folder.path)) == ["a 1 well", "b 2 well"])
  }

  @Test func `one process collects, and others read meanwhile`() async throws {
    let store = try FleetStore.collecting(folder.path)
    let error = #expect(throws: FleetError.self) { try FleetStore.collecting(self.folder.path) }
    #expect(error?.exitStatus == .temporary)
    let reader = try FleetStore.reading(folder.path)
    #expect(try devices(reader).isEmpty)
    _ = try await store.add([FleetReport("a", 1)])
    #expect(try devices(reader) == ["a 1 well"])
  }

  @Test func `reading makes no directory`() throws {
    let error = #expect(throws: FleetError.self) { try FleetStore.reading(self.folder.path) }
    #expect(error?.exitStatus == .noInput && !FileManager.default.fileExists(atPath: folder.path))
  }

  @Test func `a damaged file is told with what to do`() async throws {
    do { _ = try await FleetStore.collecting(folder.path).add([FleetReport("a", 1)]) }
    let file = folder.path + "/fleet.log"
    try Data(repeating: 7, count: 5000).write(to: URL(filePath: file))
    for open in [{ try FleetStore.reading($0) }, { try FleetStore.collecting($0) }] {
      let error = #expect(throws: FleetError.self) { try open(self.folder.path) }
      #expect(error?.exitStatus == .data && error?.description.contains(file) == true, "\(error as Any)")
    }
    // The remedy is true.
    try FileManager.default.removeItem(atPath: file)
    let kept = try await FleetStore.collecting(folder.path).add([FleetReport("a", 1)])
    #expect(kept == [.kept])
  }

  @Test func `there are no more devices than may be, and those that are there go on`() async throws {
    let store = try FleetStore.collecting(folder.path, deviceLimit: 2)
    let outcomes = try await store.add([FleetReport("a", 1), FleetReport("b", 1), FleetReport("c", 1)])
    #expect(outcomes == [.kept, .kept, .noRoom])
    #expect(try await store.add([FleetReport("a", 2), FleetReport("c", 2)]) == [.kept, .noRoom])
    #expect(try devices(store) == ["a 2 well", "b 1 well"])
  }

  @Test func `reports that come at once are all kept`() async throws {
    let store = try FleetStore.collecting(folder.path)
    try await withThrowingTaskGroup(of: [FleetStore.Outcome].self) { group in
      for number in 0..<200 {
        group.addTask { try await store.add([FleetReport("d\(number % 50)", UInt64(1 + number / 50))]) }
      }
      for try await outcomes in group { #expect(outcomes == [.kept]) }
    }
    #expect(try devices(store).count == 50)
  }
}
