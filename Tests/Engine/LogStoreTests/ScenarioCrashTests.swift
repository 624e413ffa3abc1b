import RandomTestSupport
import Storage
import StoreTestSupport
import Testing

@testable import LogStore

/// Loss of power during each thing that can be done to a store, a repair and a recovery included.
@Suite struct ScenarioCrashTests {
  @Test func `whatever was going on, a crash leaves what was there before or what was to come`() throws {
    var random = SeededGenerator(for: "ScenarioCrashTests")
    var crashes = 0
    var states = 0
    for _ in 0..<depth {
      for scenario in try Scenario.all(&random) {
        let store = scenario.store()
        let recording = CrashRecording(store.device, showing: scenario.before)
        try recording.step { try scenario.run(store) }
        try #require(recording.reported == scenario.after)
        var explorer = CrashExplorer(
          samples: depth == 1 ? [2, 2] : [10, 3, 1], show: scenario.show, goOn: scenario.goOn)
        do { try explorer.explore(recording, &random) } catch {
          Issue.record("\(scenario.name): \(error)")
        }
        crashes += explorer.crashes
        states += explorer.distinctStates
      }
    }
    print("ScenarioCrashTests: \(crashes) crashes, \(states) distinct states")
    #expect(states > 100)
  }
}
