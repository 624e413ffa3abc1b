import Foundation
import Storage
import StoreTestSupport
import Testing

@testable import LogStore

@Suite struct SpillFileTests {
  private let device = SimulatedDevice()
  private var location: StoreLocation {
    StoreLocation.test(device.directory, name: "s", environment: FixedEnvironment().environment())
  }

  /// Everything that the file holds, read piece by piece.
  private func contents(_ file: SpillFile) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while case let piece = try file.read(at: bytes.count), !piece.isEmpty { bytes += piece }
    return bytes
  }

  @Test func `what was appended comes back in its order, however long it is`() throws {
    let folder = try TemporaryDirectory()
    let file = try SpillFile(nextTo: StoreLocation.test(folder.directory, name: "s"))
    #expect(try contents(file).isEmpty)
    var expected: [UInt8] = []
    for count in [1, 0, 100_000, 1 << 18, 300_001] {
      let piece = (0..<count).map { UInt8(truncatingIfNeeded: $0 &+ count) }
      try file.append(piece.span)
      expected += piece
    }
    #expect(file.byteCount == expected.count)
    #expect(try contents(file) == expected)
    #expect(try file.read(at: expected.count).isEmpty)
    // Nobody finds it by a name.
    #expect(try folder.directory.names().isEmpty)
  }

  @Test func `without the key of a sealed store nothing is written`() throws {
    let location = StoreLocation(device.directory, name: "s").opening(with: nil, sealsNew: true)
    #expect {
      _ = try SpillFile(nextTo: location)
    } throws: { error in
      guard case .sealed(_, false) = error as? StoreError else { return false }
      return true
    }
    #expect(device.names.isEmpty)
  }

  @Test func `a new one removes what a crash left of another, and nothing else`() throws {
    for name in ["s.spill-1", "s.spill-ffffffffffffffff", "s.log", "t.spill-1"] {
      _ = try device.directory.open(name, .create)
    }
    let file = try SpillFile(nextTo: location)
    #expect(device.names == ["s.log", "t.spill-1"])
    try file.append([1].span)
    // Another one at the same time leaves the first alone.
    let other = try SpillFile(nextTo: location)
    try other.append([2].span)
    #expect(try contents(file) == [1] && contents(other) == [2])
  }

  @Test func `a failing call is reported, and leaves the store as it was`() throws {
    for kind in [DeviceCall.create, .write, .remove] {
      let device = SimulatedDevice()
      let location = StoreLocation.test(device.directory, name: "s", environment: FixedEnvironment().environment())
      device.fail(kind, 1, kind.faults[0])
      let error = #expect(throws: StoreError.self) {
        let file = try SpillFile(nextTo: location)
        try file.append([1].span)
      }
      guard case .io? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      _ = device.failNoMore()
      // What could not lose its name goes with the next one.
      _ = try SpillFile(nextTo: location)
      #expect(device.names.isEmpty)
    }
  }
}
