import Foundation
import Synchronization
import Testing

@testable import Workspace

/// Keys that a command gives for a number of days.
@Suite struct LeaseTests {
  private let root = TemporaryRoot()
  private let keys = TemporaryRoot()
  private let day: Int64 = 86_400_000_000_000

  private final class Clock: Sendable {
    private let now = Atomic<Int64>(1_000)
    func read() -> Int64 { now.load(ordering: .relaxed) }
    func pass(_ time: Int64) { now.add(time, ordering: .relaxed) }
  }

  private let clock = Clock()

  /// Writes what the command prints.
  private func answer(_ text: String?) throws {
    let path = keys.path + "/answer"
    try FileManager.default.createDirectory(atPath: keys.path, withIntermediateDirectories: true)
    try? FileManager.default.removeItem(atPath: path)
    if let text { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
  }

  private static let hexadecimal = String(repeating: "07", count: 32)

  private var command: KeySource { .command("cat '\(keys.path)/answer'") }

  private func ring(isReadAhead: Bool = false) -> KeyRing {
    KeyRing(command, isReadAhead: isReadAhead, clock: { [clock] in clock.read() })
  }

  @Test func `a line with days follows the key in any form`() throws {
    let raw = [UInt8](repeating: 7, count: 32)
    let base64 = Data(raw).base64EncodedString()
    let forms = [raw, Array(Self.hexadecimal.utf8), Array(base64.utf8)]
    for form in forms {
      for (line, days) in [("", nil), ("\n", nil), ("\ndays 30", 30), ("\ndays 30\n", 30), ("\r\ndays 1\r\n", 1)]
        as [(String, Int?)]
      {
        // After the bytes themselves, a carriage return would be one more.
        if form == raw, line.utf8.first == UInt8(ascii: "\r") { continue }
        let output = form + Array(line.utf8)
        let (count, found) = SecretCommand.lease(in: output[...])
        #expect(found == days && SecretCommand.key(in: output[..<count]) == raw, "\(form.count) \(line)")
      }
      for line in ["days", "days ", "days 0", "days 3651", "days 99999", "days -1", "days 1.5", "days 1 2", "weeks 1"] {
        let output = form + Array("\n\(line)\n".utf8)
        let (count, found) = SecretCommand.lease(in: output[...])
        #expect(found == nil && SecretCommand.key(in: output[..<count]) == nil, "\(line)")
      }
    }
    // 32 bytes are a key, whatever they look like.
    let odd = Array("12345678901234567890123\ndays 30\n".utf8)
    #expect(odd.count == 32 && SecretCommand.lease(in: odd[...]).days == nil)
  }

  private func seal() throws {
    try root.directory.signIn("ana")
    try root.directory.settings(of: "ana").set(.owner, to: "a secret")
    var directory = root.directory
    directory.key = command
    _ = try directory.seal("ana")
  }

  @Test func `a workspace closes what it has opened when the lease is over, and asks again`() throws {
    try answer(Self.hexadecimal + "\ndays 2\n")
    try seal()
    let ring = ring()
    let workspace = try root.open { $0.keyRing = ring }
    let stores = try workspace.stores()
    #expect(try stores.settings.get(.owner) == "a secret")
    clock.pass(2 * day - 1)
    try answer(nil)
    #expect(try stores.settings.get(.owner) == "a secret")
    clock.pass(1)
    // The old stores are closed, and new ones do not open.
    #expect(throws: (any Error).self) { try stores.settings.get(.owner) }
    #expect(throws: (any Error).self) { try workspace.stores().settings.get(.owner) }
    try answer(Self.hexadecimal + "\ndays 2\n")
    #expect(try workspace.stores().settings.get(.owner) == "a secret")
    #expect(ring.endLease() == 1)
  }

  @Test func `a key that is read ahead is forgotten, and the lease says so until it is given again`() throws {
    try answer(Self.hexadecimal + "\ndays 1\n")
    try seal()
    var directory = root.directory
    directory.keyRing = ring(isReadAhead: true)
    try directory.renewKey(for: "ana")
    #expect(directory.keyFault(of: "ana") == nil && directory.keyRing.lease?.time == .seconds(86_400))
    // A command that fails leaves the lease as it is.
    try answer(nil)
    clock.pass(day / 2)
    #expect(throws: KeyError.self) { try directory.renewKey(for: "ana") }
    #expect(directory.keyFault(of: "ana") == nil && directory.keyRing.lease?.rest == .seconds(43_200))
    clock.pass(day / 2)
    #expect(directory.keyFault(of: "ana") == .leaseOver)
    #expect(directory.keyRing.lease == nil && directory.keyRing.endLease() == 1)
    // An answer begins another one, and one without days has no end.
    try answer(Self.hexadecimal)
    try directory.renewKey(for: "ana")
    clock.pass(5000 * day)
    #expect(directory.keyFault(of: "ana") == nil && directory.keyRing.lease == nil)
  }

  @Test func `the clock of leases goes on while the system sleeps, and nobody sets it`() {
    let first = KeyRing.systemClock()
    let second = KeyRing.systemClock()
    #expect(first > 0 && second >= first)
  }
}
