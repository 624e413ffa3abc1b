import Foundation
import ProcessTestSupport
import RandomTestSupport
import StoreTestSupport
import Testing

/// Files that are cut, and disks that fail, under a mapping; each scene in a process of its own, which must not die.
@Suite(.serialized) struct FaultTests {
  private let temporary: TemporaryDirectory

  init() throws { temporary = try TemporaryDirectory() }

  @Test func `a log that is cut under its reader gives right rows or typed errors`() throws {
    var random = SeededGenerator(for: "FaultTests.truncate")
    let (code, lines) = try ActorProcess.play("truncate", temporary.path, Int(random.next() >> 2))
    #expect(code == 0, "\(lines)")
    print("FaultTests: \(lines.last ?? "")")
  }

  @Test(arguments: ["truncate while lent", "fault in threads"])
  func `a row that goes while it is read is not served, whoever else faults`(scene: String) throws {
    let (code, lines) = try ActorProcess.play(scene, temporary.path)
    #expect(code == 0, "\(lines)")
    print("FaultTests: \(lines.last ?? "")")
  }

  @Test(arguments: [
    ("bus error", 128 + SIGBUS), ("bus error, plain handler", 42), ("bus error, handler with info", 42),
  ])
  func `a fault outside of stores ends where it would have ended`(scene: String, expected: Int32) throws {
    let (code, lines) = try ActorProcess.play(scene, temporary.path)
    #expect(code == expected)
    #expect(lines == ["alive"])
  }
}
