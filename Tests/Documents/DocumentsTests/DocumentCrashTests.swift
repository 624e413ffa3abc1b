import LogStore
import RandomTestSupport
import Storage
import StoreTestSupport
import Testing

@testable import Documents

/// Loss of power, calls that fail and full devices, at every change and every call of everything that is done to
/// documents. What is found then is the state before or the state after, and the indexes agree with the documents.
@Suite struct DocumentCrashTests {
  @Test(arguments: [nil, 700])
  func `after a crash at any point documents and indexes are in one state that was reported or on its way`(
    _ flushLimit: Int?
  ) throws {
    var random = SeededGenerator(for: "DocumentCrashTests, flush limit \(flushLimit ?? 0)")
    let documents = TestDocuments(flushLimit: flushLimit)
    var contents = DocumentContents()
    let recording = CrashRecording(documents.device, showing: contents)
    for scene in DocumentScene.all {
      try recording.step {
        try scene.act(documents)
        try scene.change(&contents)
        return contents
      }
      try #require(try documents.contents() == contents, "\(scene.name)")
    }
    var explorer = CrashExplorer<DocumentContents>(
      samples: depth == 1 ? [3, 1] : [10, 2, 1], show: { try TestDocuments($0).contents() }, goOn: DocumentScene.goOn)
    for _ in 0..<depth { try explorer.explore(recording, &random) }
    print(
      "DocumentCrashTests: \(explorer.points) points, \(explorer.crashes) crashes, \(explorer.distinctStates) distinct states"
    )
    #expect(explorer.distinctStates > 50)
  }

  /// The device before each scene, with what it shows then and afterwards.
  private func forEachScene(
    _ body: (DocumentScene, DiskImage, DocumentContents, DocumentContents) throws -> Void
  ) throws {
    let documents = TestDocuments()
    var contents = DocumentContents()
    for scene in DocumentScene.all {
      let (image, before) = (documents.device.image, contents)
      try scene.act(documents)
      try scene.change(&contents)
      try body(scene, image, before, contents)
    }
  }

  @Test func `any call may fail: what was there stays, and the next one goes on`() throws {
    var random = SeededGenerator(for: "DocumentCrashTests, faults")
    var tried = 0
    var survived = 0
    try forEachScene { scene, image, before, after in
      let rehearsal = SimulatedDevice(image)
      rehearsal.record()
      try scene.act(TestDocuments(rehearsal))
      for (number, call) in rehearsal.calls.enumerated() {
        // By default a fault for every other call, another one for each.
        for (index, fault) in call.faults.enumerated()
        where depth > 1 || number % 2 == 0 && index == number / 2 % call.faults.count {
          let note: Comment = "\(scene.name): call \(number + 1), \(call), errno \(fault.code)"
          let device = SimulatedDevice(image)
          device.fail(nil, number + 1, fault)
          var allowed = [before, after]
          do {
            try scene.act(TestDocuments(device))
            allowed = [after]
            survived += 1
          } catch {
            try #require("\(error)".contains("/simulated"), "\(note): \(error)")
          }
          device.failNoMore()
          tried += 1
          let found = try TestDocuments(device).contents()
          try #require(allowed.contains(found), note)
          let crashed = device.crashed(.random(&random), &random)
          let left = try TestDocuments(crashed).contents()
          try #require(allowed.contains(left), note)
          try DocumentScene.goOn(CrashRecording(crashed, showing: left))
          try DocumentScene.goOn(CrashRecording(device, showing: found))
        }
      }
    }
    print("DocumentCrashTests: \(tried) faults, in spite of \(survived) of which it was done")
    #expect(tried > 150)
  }

  @Test func `a full device refuses a change whole, and takes it once there is room`() throws {
    var refused = 0
    try forEachScene { scene, image, before, after in
      let used = SimulatedDevice(image).byteCount
      for room in stride(from: 0, to: 16_000, by: depth == 1 ? 3000 : 500) {
        let device = SimulatedDevice(image)
        device.limit(to: used + room)
        do {
          try scene.act(TestDocuments(device))
          try #require(try TestDocuments(device).contents() == after, "\(scene.name), \(room)")
        } catch {
          refused += 1
          try #require("\(error)".contains("/simulated/documents"), "\(scene.name), \(room): \(error)")
          try #require(try TestDocuments(device).contents() == before, "\(scene.name), \(room)")
          device.limit(to: 1 << 50)
          try scene.act(TestDocuments(device))
          try #require(try TestDocuments(device).contents() == after, "\(scene.name), \(room)")
        }
      }
    }
    print("DocumentCrashTests: \(refused) times the device was full")
    #expect(refused > 20)
  }
}
