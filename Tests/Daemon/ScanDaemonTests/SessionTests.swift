import Catalog
import DocumentFormat
import Foundation
import ScanInputs
import Testing

@testable import ScanDaemon

@Suite(.timeLimit(.minutes(10))) struct SessionTests {
  let root = TestRoot()

  init() throws { try root.fill("ana") }

  @Test func `scans of an input complete its set, and each change is reported`() async throws {
    let daemon = try root.daemon()
    var events = daemon.events.events(after: nil).makeAsyncIterator()
    let session = try await daemon.sessions.open(name: "order 7", input: "counter")
    #expect(session.name == "order 7" && session.input == "counter" && !session.isClosed && session.codes.isEmpty)
    #expect(await events.next()?.value["id"]?.text == session.id)
    let answer = await daemon.scan(Reading(input: "counter", code: "6901"))
    #expect(answer.recording == .durable, "a session is written")
    #expect(await events.next()?.kind == .scan)
    let half = try #require(await events.next())
    #expect(half.kind == .session && half.value["codes"]?.elements?.count == 1)
    #expect(half.value["completion"]?["incomplete"]?["9"]?["2"]?.integer == 1)
    _ = await daemon.scan(Reading(input: "other", code: "6902"))
    #expect(await events.next()?.kind == .scan)
    _ = await daemon.scan(Reading(input: "counter", code: "6902"))
    #expect(await events.next()?.kind == .scan)
    let whole = try #require(await events.next())
    #expect(whole.value["completion"]?["complete"]?["9"]?.integer == 1)
    let closed = try await daemon.sessions.close(session.id)
    #expect(closed.isClosed && closed.codes == ["6901", "6902"] && closed.completion.complete == [ProductID("9"): 1])
    #expect(await daemon.scan(Reading(input: "counter", code: "6903")).recording == .notNeeded)
    await #expect(throws: SetSessionError.closed(session.id)) {
      try await daemon.sessions.add(["6901"], to: session.id)
    }
  }

  @Test func `a case counts as its pieces, and events, uploads and answers say what it is`() async throws {
    try root.addCode("CASE-1", "24")
    let daemon = try root.daemon { $0.hook("shop") }
    var events = daemon.events.events(after: nil).makeAsyncIterator()
    let session = try await daemon.sessions.open(name: nil, input: "counter")
    #expect(await events.next()?.kind == .session)
    let answer = await daemon.scan(Reading(input: "counter", code: "CASE-1"))
    #expect(answer.match.pieceCount == 24 && answer.match.package?.unit == "case")
    let event = try #require(await events.next())
    #expect(event.kind == .scan && event.value["package"]?["quantity"]?.integer == 24)
    _ = await daemon.scan(Reading(input: "counter", code: "6901"))
    let found = try daemon.sessions.session(session.id)
    #expect(found.completion.products == [ProductID("1"): 25])
    let uploads = try root.uploads().map(\.document)
    #expect(uploads.first?["package"]?["unit"]?.text == "case" && uploads.last?["package"] == .null)
    // The next synchronisation is of no concern to the pieces of a session that is open: they follow the catalogue.
    try root.addCode("CASE-1", "30")
    #expect(try daemon.sessions.session(session.id).completion.products == [ProductID("1"): 31])
  }

  @Test func `a code that could not be decoded is unknown to its set, whatever it begins with`() async throws {
    let daemon = try root.daemon()
    let session = try await daemon.sessions.open(name: nil, input: "counter")
    _ = await daemon.scan(Reading(input: "counter", undecoded: Array("6901".utf8) + [0xFF]))
    _ = await daemon.scan(Reading(input: "counter", code: "6902"))
    let found = try daemon.sessions.session(session.id)
    #expect(found.codes == [#"6901\xFF"#, "6902"] && found.completion.unknown == [#"6901\xFF"#])
    #expect(found.completion.products == [ProductID("2"): 1])
  }

  @Test func `sessions survive the daemon, with their inputs`() async throws {
    var id = ""
    do {
      let daemon = try root.daemon()
      id = try await daemon.sessions.open(name: nil, input: "counter").id
      _ = try await daemon.sessions.add(["6901", "x"], to: id)
    }
    let daemon = try root.daemon()
    #expect(await daemon.scan(Reading(input: "counter", code: "6902")).recording == .durable)
    let session = try daemon.sessions.session(id)
    #expect(session.codes == ["6901", "x", "6902"] && session.completion.unknown == ["x"])
    #expect(try daemon.sessions.list().map(\.id) == [id])
    try await daemon.sessions.remove(id)
    #expect(try daemon.sessions.list().isEmpty)
    #expect(throws: SetSessionError.unknown(id)) { try daemon.sessions.session(id) }
    await #expect(throws: SetSessionError.unknown(id)) { try await daemon.sessions.remove(id) }
    #expect(await daemon.scan(Reading(input: "counter", code: "6903")).recording == .notNeeded)
  }

  @Test func `another session takes the input, also after a restart`() async throws {
    let ids: [String]
    do {
      let daemon = try root.daemon()
      let first = try await daemon.sessions.open(name: "1", input: "counter")
      let second = try await daemon.sessions.open(name: "2", input: "counter")
      ids = [first.id, second.id]
      _ = await daemon.scan(Reading(input: "counter", code: "6901"))
      // The elder one does not get the input back.
      _ = try await daemon.sessions.close(second.id)
    }
    let daemon = try root.daemon()
    _ = await daemon.scan(Reading(input: "counter", code: "6902"))
    #expect(try daemon.sessions.list().map(\.id) == ids.reversed())
    #expect(try ids.map { try daemon.sessions.session($0).codes } == [[], ["6901"]])
  }

  @Test func `sessions are bounded`() async throws {
    let daemon = try root.daemon { options in
      options.maximumSessions = 2
      options.maximumScansPerSession = 3
    }
    let sessions = daemon.sessions
    let first = try await sessions.open(name: nil, input: "counter")
    _ = try await sessions.open(name: nil, input: nil)
    await #expect(throws: SetSessionError.tooMany(limit: 2)) { try await sessions.open(name: nil, input: nil) }
    _ = try await sessions.add(["1", "2"], to: first.id)
    await #expect(throws: SetSessionError.full(limit: 3)) { try await sessions.add(["3", "4"], to: first.id) }
    #expect(try await sessions.add(["3"], to: first.id).codes == ["1", "2", "3"])
    // The scan of a full session's input is answered all the same.
    #expect(await daemon.scan(Reading(input: "counter", code: "6901")).match.kind == .exact)
    #expect(try sessions.session(first.id).codes.count == 3)
    // Of closed ones two are kept.
    var closed = [try await sessions.close(first.id).id]
    for _ in 0..<3 {
      let id = try await sessions.open(name: nil, input: nil).id
      closed.append(try await sessions.close(id).id)
    }
    #expect(try sessions.list().filter(\.isClosed).map(\.id) == closed.suffix(2).reversed())
    #expect(try sessions.list().count == 3)
  }

  @Test func `callers who open sessions at once do not exceed the limit, even where no store exists yet`() async throws
  {
    let root = TestRoot()
    let daemon = try root.daemon(user: nil) { $0.maximumSessions = 3 }
    let opened = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<40 {
        group.addTask { (try? await daemon.sessions.open(name: "\(number)", input: nil)) != nil }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(opened == 3)
    #expect(try daemon.sessions.list().count == 3)
    // What was refused left no reservation.
    _ = try await daemon.sessions.close(try #require(daemon.sessions.list().first).id)
    _ = try await daemon.sessions.open(name: nil, input: nil)
    await #expect(throws: SetSessionError.tooMany(limit: 3)) { try await daemon.sessions.open(name: nil, input: nil) }
  }

  @Test func `the end of one reservation leaves the others`() async throws {
    let daemon = try root.daemon { $0.maximumSessions = 2 }
    _ = try await daemon.sessions.open(name: nil, input: nil)
    let stores = try daemon.workspace.stores()
    let documents = try #require(try await daemon.recorder.open(stores))
    let held = SessionReservation("held", limit: 2)
    try held.hold(in: documents)
    SessionReservation("never held", limit: 2).release()
    await #expect(throws: SetSessionError.tooMany(limit: 2)) { try await daemon.sessions.open(name: nil, input: nil) }
    held.release()
    _ = try await daemon.sessions.open(name: nil, input: nil)
  }

  @Test func `sessions are those of who is signed in`() async throws {
    let daemon = try root.daemon()
    let session = try await daemon.sessions.open(name: nil, input: "counter")
    try await daemon.signIn("bob")
    #expect(try daemon.sessions.list().isEmpty)
    #expect(await daemon.scan(Reading(input: "counter", code: "6901")).recording == .notNeeded)
    try await daemon.signIn("ana")
    #expect(await daemon.scan(Reading(input: "counter", code: "6902")).recording == .durable)
    #expect(try daemon.sessions.session(session.id).codes == ["6902"])
  }
}
