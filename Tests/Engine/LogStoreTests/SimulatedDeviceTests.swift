import Bytes
import Platform
import RandomTestSupport
import Storage
import StoreTestSupport
import Testing

/// The device that the crash tests believe.
@Suite struct SimulatedDeviceTests {
  private func write(_ bytes: [UInt8], to file: any StorageFile, at offset: Int) throws {
    try file.write(bytes.rawSpan, at: offset)
  }

  @Test func `what was not synced is lost, what was synced stays`() throws {
    var random = SeededGenerator(seed: 1)
    let device = SimulatedDevice()
    let file = try #require(try device.directory.open("f", .create))
    try write([1, 2, 3], to: file, at: 0)
    #expect(device.crashed(.nothing, &random).names.isEmpty)
    try device.directory.sync()
    #expect(device.crashed(.nothing, &random).contents("f") == [])
    try file.sync()
    try write([4], to: file, at: 1)
    try file.truncate(to: 2)
    #expect(device.contents("f") == [1, 4])
    #expect(device.crashed(.nothing, &random).contents("f") == [1, 2, 3])
    #expect(device.crashed(.everything, &random).contents("f") == [1, 4])
  }

  @Test func `sectors survive one by one`() throws {
    var random = SeededGenerator(seed: 2)
    let device = SimulatedDevice()
    device.place([UInt8](repeating: 0, count: 2048), as: "f")
    let file = try #require(try device.directory.open("f", .write))
    try write([UInt8](repeating: 1, count: 1400), to: file, at: 300)
    var seen: Set<[UInt8]> = []
    for _ in 0..<200 {
      let bytes = try #require(device.crashed(.some(0.5), &random).contents("f"))
      seen.insert([
        bytes[300], bytes[511], bytes[512], bytes[1023], bytes[1024], bytes[1535], bytes[1536], bytes[1699],
      ])
      #expect(bytes[299] == 0 && bytes[1700] == 0)
    }
    #expect(seen.count == 16)
    #expect(seen.allSatisfy { $0[0] == $0[1] && $0[2] == $0[3] && $0[4] == $0[5] && $0[6] == $0[7] })
  }

  @Test func `a rename is one change, and a file keeps its other names`() throws {
    var random = SeededGenerator(seed: 3)
    let device = SimulatedDevice()
    device.place([1], as: "a")
    device.place([2], as: "b")
    try device.directory.link("a", to: "c")
    try device.directory.rename("b", to: "a")
    #expect(device.names == ["a", "c"])
    var seen: Set<[String]> = []
    for _ in 0..<50 {
      let after = device.crashed(.some(0.5), &random)
      seen.insert(after.names)
      #expect(after.contents("a") == (after.names.contains("b") ? [1] : [2]))
      #expect(after.contents("c") == (after.names.contains("c") ? [1] : nil))
    }
    #expect(seen == [["a", "b"], ["a", "b", "c"], ["a"], ["a", "c"]])
  }

  @Test func `after its last change the device does nothing more`() throws {
    let device = SimulatedDevice()
    device.stop(after: 2)
    let file = try #require(try device.directory.open("f", .create))
    try write([1], to: file, at: 0)
    #expect(throws: StorageError.self) { try write([2], to: file, at: 0) }
    #expect(throws: StorageError.self) { try file.sync() }
    #expect(throws: StorageError.self) { try device.directory.sync() }
    #expect(device.contents("f") == [1])
  }

  @Test func `a mapping shows later writes, also behind the end that it was made with`() throws {
    let device = SimulatedDevice()
    let file = try #require(try device.directory.open("f", .create))
    try write([1], to: file, at: 0)
    let mapping = try file.map(1 << 20)
    try write([2], to: file, at: 9000)
    // Inside the file.
    let last = unsafe mapping.bytes(9000, 1)
    #expect(unsafe last.unsafeLoad(as: UInt8.self) == 2)
  }
}
