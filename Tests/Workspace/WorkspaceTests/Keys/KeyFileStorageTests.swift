import Foundation
import Platform
import RandomTestSupport
import Sealing
import Storage
import StoreTestSupport
import Testing

@testable import Workspace

/// Keys on the disk, also after a loss of power.
@Suite struct KeyFileStorageTests {
  private func new(_ byte: UInt8) throws -> (file: KeyFile, dataKey: DataKey) {
    try KeyFile.new(path: "/simulated/user.keys", with: TestKey.raw(byte), now: 1)
  }

  /// A directory of the system.
  private final class Place {
    let path = NSTemporaryDirectory() + "keys-" + UUID().uuidString
    let directory: PosixDirectory
    init() throws { directory = try PosixDirectory.create(path) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func contents(_ name: String = KeyFile.name) -> [UInt8]? {
      FileManager.default.contents(atPath: path + "/" + name).map(Array.init)
    }
  }

  @Test func `what was written is read, by its owner alone`() throws {
    let place = try Place()
    #expect(try KeyFile.read(in: place.directory) == nil && !KeyFile.exists(in: place.directory))
    let (file, _) = try new(1)
    try file.write(in: place.directory)
    let read = try #require(try KeyFile.read(in: place.directory))
    #expect(read.bytes == file.bytes && read.path == place.path + "/user.keys")
    let attributes = try FileManager.default.attributesOfItem(atPath: read.path)
    #expect((attributes[.posixPermissions] as? Int) == 0o600)
    #expect(try place.directory.names() == ["user.keys"])
  }

  @Test func `a change overwrites the file that it replaces, unless that has another name`() throws {
    let place = try Place()
    let (file, dataKey) = try new(1)
    try file.write(in: place.directory)
    let held = try #require(try place.directory.open(KeyFile.name, .read))
    let next = try file.adding(TestKey.raw(2), of: dataKey, now: 2)
    try next.write(in: place.directory)
    #expect(try held.read(8192, at: 0) == [UInt8](repeating: 0, count: 8192))
    #expect(place.contents() == next.bytes)
    try FileManager.default.linkItem(atPath: place.path + "/user.keys", toPath: place.path + "/copy")
    try next.removing(next.wrappings[0].id).write(in: place.directory)
    #expect(place.contents("copy") == next.bytes)
  }

  @Test func `destroying overwrites the keys and what an interrupted change left`() throws {
    let place = try Place()
    #expect(try !KeyFile.destroy(in: place.directory))
    try new(1).file.write(in: place.directory)
    let left = URL(fileURLWithPath: place.path + "/user.keys.new")
    try Data(new(1).file.bytes).write(to: left)
    let held = try ["user.keys", "user.keys.new"].map { try #require(try place.directory.open($0, .read)) }
    #expect(try KeyFile.destroy(in: place.directory))
    for file in held { #expect(try file.read(8192, at: 0) == [UInt8](repeating: 0, count: 8192)) }
    #expect(try place.directory.names().isEmpty && !KeyFile.destroy(in: place.directory))
  }

  @Test func `a link in the place of keys is neither followed nor overwritten`() throws {
    let place = try Place()
    let other = URL(fileURLWithPath: place.path + "/other")
    for isHard in [false, true] {
      try Data("precious".utf8).write(to: other)
      let name = place.path + "/user.keys"
      if isHard {
        try FileManager.default.linkItem(atPath: other.path, toPath: name)
      } else {
        try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: other.path)
      }
      #expect(throws: KeyError.self) { try KeyFile.read(in: place.directory) }
      #expect(try KeyFile.destroy(in: place.directory))
      #expect(try Data(contentsOf: other) == Data("precious".utf8))
    }
  }

  @Test func `marks are written in place and survive a change of the keys`() throws {
    let place = try Place()
    let (file, dataKey) = try new(1)
    try KeyFile.update(TestKey.mark("catalogue", 1), dataKey, in: place.directory)
    #expect(try !KeyFile.exists(in: place.directory))
    try file.write(in: place.directory)
    let identity = try place.directory.identity(of: KeyFile.name)
    for name in ["catalogue", "cache", "unknown"] {
      for sequence: UInt64 in [1, 2] {
        try KeyFile.update(TestKey.mark(name, sequence), dataKey, in: place.directory)
      }
    }
    let marked = try #require(try KeyFile.read(in: place.directory))
    #expect(try place.directory.identity(of: KeyFile.name) == identity)
    let marks = [TestKey.mark("catalogue", 2), TestKey.mark("cache", 2)]
    #expect(try marked.marks(dataKey) == marks)
    try marked.adding(TestKey.raw(2), of: dataKey, now: 2).write(in: place.directory)
    let changed = try #require(try KeyFile.read(in: place.directory))
    #expect(try changed.marks(changed.unlock(with: TestKey.raw(2)).current) == marks)
  }

  @Test func `one process changes the keys at a time`() throws {
    let place = try Place()
    let lock = try KeyFile.lock(in: place.directory)
    #expect(throws: KeyError.locked(path: place.path + "/user.lock")) { try KeyFile.lock(in: place.directory) }
    lock.release()
    try KeyFile.lock(in: place.directory).release()
  }

  @Test func `after a crash the keys are those of before or after a change, or they are gone`() throws {
    var random = SeededGenerator(for: "KeyFileStorageTests")
    for _ in 0..<depth {
      let device = SimulatedDevice()
      let directory = device.directory
      // What a start finds: the ids of the wrappings, and whether its key opens them.
      func show(_ device: SimulatedDevice) throws -> [String] {
        guard let file = try KeyFile.read(in: device.directory) else { return [] }
        let materials = try [TestKey.raw(1), TestKey.raw(2), TestKey.raw(3)]
        #expect(materials.contains { (try? file.unlock(with: $0)) != nil })
        return [file.keyID.description] + file.wrappings.map(\.id)
      }
      let recording = CrashRecording(device, showing: [String]())
      func step(_ change: () throws -> Void) throws {
        try recording.step {
          try change()
          return try show(device)
        }
      }
      let (file, dataKey) = try new(1)
      try step { try file.write(in: directory) }
      let two = try file.adding(TestKey.raw(2), of: dataKey, now: 2)
      try step { try two.write(in: directory) }
      try step { try KeyFile.update(TestKey.mark("catalogue", 1), dataKey, in: directory) }
      let one = try two.removing(file.wrappings[0].id)
      try step { try one.write(in: directory) }
      let (other, keys) = try one.replacingDataKey(one.unlock(with: TestKey.raw(2)), with: TestKey.raw(3), now: 3)
      try step { try other.write(in: directory) }
      try step { try other.withoutFormer(keys.current).write(in: directory) }
      #expect(try show(device).count == 2)
      var explorer = CrashExplorer<[String]>(
        samples: [8, 4], show: { try show($0) },
        goOn: { recording in
          let directory = recording.device.directory
          guard let file = try KeyFile.read(in: directory) else { return }
          try recording.step {
            // A change without a key: the same file, written anew.
            try file.write(in: directory)
            return try show(recording.device)
          }
        })
      try explorer.explore(recording, &random)
    }
  }

  @Test func `after a crash while they are destroyed, keys are whole, unreadable or gone`() throws {
    var random = SeededGenerator(for: "KeyFileStorageTests")
    let device = SimulatedDevice()
    try new(1).file.write(in: device.directory)
    device.place(try new(1).file.bytes, as: KeyFile.newName)
    device.record()
    try KeyFile.destroy(in: device.directory)
    for disk in device.recorded {
      for _ in 0..<10 {
        let crashed = SimulatedDevice(disk.crashed(.random(&random), &random))
        do { _ = try KeyFile.read(in: crashed.directory)?.unlock(with: TestKey.raw(1)) } catch KeyError.damaged {}
        // Doing it again finishes it.
        try KeyFile.destroy(in: crashed.directory)
        #expect(crashed.names.isEmpty)
      }
    }
  }
}
