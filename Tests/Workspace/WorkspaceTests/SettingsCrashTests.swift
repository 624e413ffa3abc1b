import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Workspace

/// Loss of power after each single change of the device, while settings change and users sign in.
@Suite struct SettingsCrashTests {
  /// What a file says: who is signed in, and all settings.
  struct Shown: Hashable {
    var user: String?
    var values: [String: Int] = [:]
  }

  private static func location(_ device: SimulatedDevice) -> StoreLocation {
    var environment = StoreEnvironment.system
    // A device in memory makes nobody wait.
    environment.pause = { _ in }
    return StoreLocation.test(device.directory, name: "settings", environment: environment)
  }

  private static func settings(_ device: SimulatedDevice) -> Settings {
    let location = location(device)
    return Settings(
      SettingsLocation(path: "settings.log") {
        location
      } make: {
        location
      }, StoreAccess(), lockTimeout: .zero, pollInterval: .seconds(1))
  }

  private static func show(_ device: SimulatedDevice) throws -> Shown {
    var shown = Shown()
    shown.user = try SettingsTable.text(SettingsTable.currentUser, in: StoreReader.open(location(device))?.snapshot)
    for setting in try settings(device).list() {
      guard case .integer(let value) = setting.value else { throw CocoaError(.coderInvalidValue) }
      shown.values[setting.name] = Int(value)
    }
    return shown
  }

  private static func signIn(_ user: String?, _ device: SimulatedDevice) throws {
    let writer = try StoreWriter(location(device), schema: SettingsTable.schema)
    defer { writer.close() }
    try SettingsTable.set(SettingsTable.currentUser, to: user, in: writer)
  }

  @Test func `after a crash settings and who is signed in are as before a commit or as behind it`() throws {
    var random = SeededGenerator(for: "SettingsCrashTests")
    for round in 0..<depth {
      let device = SimulatedDevice()
      let recording = CrashRecording(device, showing: Shown())
      let settings = Self.settings(device)
      for step in 0..<14 {
        try recording.step {
          var next = recording.reported
          switch Int.random(in: 0..<4, using: &random) {
          case 0:
            next.user = step % 5 == 4 ? nil : "user \(step)"
            try Self.signIn(next.user, device)
          default:
            // Several at once are one commit.
            try settings.change { change in
              for _ in 0..<Int.random(in: 1...3, using: &random) {
                let name = "setting \(Int.random(in: 0..<4, using: &random))"
                let value = Int.random(in: 0..<5, using: &random)
                if value == 0 {
                  try change.unset(named: name)
                  next.values[name] = nil
                } else {
                  try change.set(Setting(name, default: 0), to: value)
                  next.values[name] = value
                }
              }
            }
          }
          return next
        }
      }
      #expect(try Self.show(device) == recording.reported, "round \(round)")
      var explorer = CrashExplorer<Shown>(
        samples: [2, 1], show: { try Self.show($0) },
        goOn: { recording in
          let device = recording.device
          try recording.step {
            var next = recording.reported
            next.values["after"] = 1
            try Self.settings(device).set(Setting("after", default: 0), to: 1)
            return next
          }
          try recording.step {
            var next = recording.reported
            next.user = "after"
            try Self.signIn("after", device)
            return next
          }
        })
      try explorer.explore(recording, &random)
    }
  }

  @Test func `settings that are set again and again leave a small file`() throws {
    let device = SimulatedDevice()
    let settings = Self.settings(device)
    let picture = Setting("picture", default: Data())
    var largest = 0
    for round in 0..<60 {
      try settings.set(picture, to: Data(repeating: UInt8(round), count: 40_000))
      if round % 4 == 0 { try Self.signIn("user \(round % 3)", device) }
      largest = max(largest, device.contents("settings.log")?.count ?? 0)
    }
    #expect(largest > 1 << 20 && largest < 3 << 19, "\(largest)")
    #expect(try settings.get(picture) == Data(repeating: 59, count: 40_000))
    #expect(
      try SettingsTable.text(SettingsTable.currentUser, in: StoreReader.open(Self.location(device))?.snapshot)
        == "user 2")
    #expect(try #require(try Verification.run(Self.location(device))).findings.isEmpty)
  }

  @Test(arguments: [DeviceCall.sync, .write, .create, .rename])
  func `a call that fails is an error, and settings are as before or as behind it`(call: DeviceCall) throws {
    for number in 1...6 {
      let device = SimulatedDevice()
      let settings = Self.settings(device)
      let level = Setting("level", default: 0)
      try settings.set(level, to: 1)
      device.fail(call, number, DeviceFault(EIO))
      var shown = [1, 2]
      do {
        try settings.set(level, to: 2)
        shown = [2]
      } catch is StoreError {}
      device.failNoMore()
      #expect(shown.contains(try Self.settings(device).get(level)), "\(call) \(number)")
      try settings.set(level, to: 3)
      #expect(try settings.get(level) == 3 && Self.settings(device).get(level) == 3)
    }
  }
}
