import RandomTestSupport
import Storage
import StoreTestSupport
import Testing

@testable import LogStore

/// Calls to the operating system that fail, and devices that fill up: each call of each thing that can be done.
@Suite struct FaultTests {
  @Test func `any call may fail: nothing is lost, readers go on, and the next writer too`() throws {
    var random = SeededGenerator(for: "FaultTests")
    var tried: [DeviceCall: Int] = [:]
    var survived = 0
    for round in 0..<depth {
      for scenario in try Scenario.all(&random) {
        for (number, call) in scenario.calls.enumerated() {
          // By default one fault a call, another one for each call.
          let faults = call.faults
          for (index, fault) in faults.enumerated() where depth > 1 || index == number % faults.count {
            tried[call, default: 0] += 1
            let isDone = try fail(scenario, number + 1, fault, &random)
            if isDone { survived += 1 }
            // Later rounds have a second fault at hand, which may meet what is done about the first one.
            if round > 0 {
              tried[call, default: 0] += 1
              let later = Int.random(in: 1...6, using: &random)
              _ = try fail(scenario, number + 1, fault, second: later, &random)
            }
          }
        }
      }
    }
    let all = tried.values.reduce(0, +)
    print("FaultTests: \(all) faults, in spite of \(survived) of which it was done")
    #expect(Set(tried.keys) == Set(DeviceCall.allCases))
    #expect(all > 300)
  }

  /// Lets one call of a scenario fail. Returns whether it was done all the same.
  private func fail(
    _ scenario: Scenario, _ number: Int, _ fault: DeviceFault, second: Int? = nil, _ random: inout SeededGenerator
  ) throws -> Bool {
    let note: Comment = "\(scenario.name): call \(number), errno \(fault.code), written \(fault.written)"
    let store = scenario.store()
    let reader = scenario.isRepair ? nil : try store.reader()
    let held = reader?.snapshot
    store.device.fail(nil, number, fault)
    if let second { store.device.fail(nil, number + second, fault) }
    var allowed = [scenario.before, scenario.after]
    do {
      let done = try scenario.run(store)
      // To a repair, bytes that cannot be read are damaged ones.
      let isRead = scenario.isRepair && scenario.calls[number - 1] == .read
      try #require(done == scenario.after || isRead, note)
      allowed = [done]
    } catch let error as StoreError {
      let path = store.device.failNoMore()
      try #require(path != nil && "\(error)".contains(second == nil ? path! : "/simulated"), note)
    }
    store.device.failNoMore()
    // Readers go on, whatever they had open.
    if let reader, let held {
      try #require(try .contents(StoreContents(held)) == scenario.before, note)
      try reader.refresh()
      try #require(try [scenario.before, scenario.after].contains(.contents(StoreContents(reader.snapshot))), note)
      try #require((reader.snapshot.generation, reader.snapshot.sequence) >= (held.generation, held.sequence), note)
    }
    try #require(try allowed.contains(scenario.show(store.device)), note)
    // Power fails right now.
    let crashed = store.device.crashed(.random(&random), &random)
    let left = try scenario.show(crashed)
    try #require(allowed.contains(left), note)
    try scenario.goOn(CrashRecording(crashed, showing: left))
    // Or it does not, and the next one comes.
    let recording = CrashRecording(store.device, showing: try scenario.show(store.device))
    try scenario.goOn(recording)
    let durable = store.device.crashed(.nothing, &random)
    try #require(try scenario.show(durable) == recording.reported, note)
    return allowed.count == 1
  }

  @Test func `a full device refuses a commit in clear words, and takes it once there is room`() throws {
    var random = SeededGenerator(for: "FaultTests, full")
    var refused = 0
    for _ in 0..<depth {
      // A store that gives up its generation before makes the room itself.
      for scenario in try Scenario.all(&random) where !scenario.givesUpFiles {
        let (used, peak) = (scenario.byteCounts.lowerBound, scenario.byteCounts.upperBound)
        let step = depth == 1 ? max(1, (peak - used) / 6) : 509
        for room in stride(from: used, to: peak, by: step) {
          try fill(scenario, to: room, &random)
          refused += 1
        }
      }
    }
    print("FaultTests: \(refused) times the device was full")
    #expect(refused > 40)
  }

  private func fill(_ scenario: Scenario, to room: Int, _ random: inout SeededGenerator) throws {
    let note: Comment = "\(scenario.name): room for \(room) bytes"
    let store = scenario.store()
    let reader = scenario.isRepair ? nil : try store.reader()
    store.device.limit(to: room)
    do {
      _ = try scenario.run(store)
      Issue.record("\(scenario.name) needs no room")
    } catch StoreError.io(let error) {
      #expect(error.kind == .noSpace, note)
      #expect("\(error)".contains("free some space") && "\(error)".contains("/simulated/s."), note)
    } catch StoreError.noRoom(let path, let needed, let available) {
      // A compaction says so before it begins.
      #expect(path == "/simulated/s.log" && needed > available, note)
    }
    try reader?.refresh()
    if let reader { try #require(try .contents(StoreContents(reader.snapshot)) == scenario.before, note) }
    try #require(try scenario.show(store.device) == scenario.before, note)
    try #require(try scenario.show(store.device.crashed(.random(&random), &random)) == scenario.before, note)
    // Opening needs no room, and gives back what the attempt took.
    if !scenario.isRepair {
      try store.writer().close()
      try #require(store.device.byteCount <= scenario.byteCounts.lowerBound, note)
    }
    store.device.limit(to: 1 << 50)
    try #require(try scenario.run(store) == scenario.after, note)
  }

  @Test func `the writer that found no room for a generation goes on, one that found none for a commit says so`() throws
  {
    let store = TestStore()
    let writer = try store.writer()
    var model = StoreModel()
    model.idLimit = 30
    var random = SeededGenerator(seed: 1)
    for _ in 0..<3 { _ = try writer.commit { try model.change($0, rows: 10, &random) } }
    store.device.limit(to: store.device.byteCount + 5000)
    for _ in 0..<3 {
      #expect(throws: StoreError.self) { _ = try writer.compact() }
      #expect(throws: StoreError.self) { _ = try writer.replace { try $0.put("a", "b") } }
    }
    #expect(!store.device.names.contains("s.new"))
    store.device.limit(to: 1 << 50)
    #expect(try StoreContents(#require(try writer.compact())) == model.contents)
    _ = try writer.commit { try model.change($0, rows: 10, &random) }
    store.device.limit(to: store.device.byteCount)
    #expect(throws: StoreError.self) { _ = try writer.commit { try $0.put("a", "b") } }
    store.device.limit(to: 1 << 50)
    #expect {
      _ = try writer.commit { try $0.put("a", "b") }
    } throws: { error in
      guard case StoreError.poisoned = error else { return false }
      return "\(error)".contains("reopen")
    }
    writer.close()
    let next = try store.writer()
    #expect(try StoreContents(#require(next.snapshot)) == model.contents)
    _ = try next.commit { try $0.put("a", "b") }
  }
}
