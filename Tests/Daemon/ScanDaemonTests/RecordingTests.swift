import DocumentFormat
import Foundation
import LogStore
import ScanInputs
import Synchronization
import Testing
import UploadQueue
import WaitingTestSupport

@testable import ScanDaemon

@Suite(.timeLimit(.minutes(10))) struct RecordingTests {
  let root = TestRoot()
  let receiver = Receiver()

  init() throws { try root.fill("ana") }

  @Test func `what was answered as recorded is in the queue after a kill, in the order of each input`() async throws {
    let answers = Notes()
    do {
      // Nobody ends it: its services never ran, its files are as a kill would leave them.
      let daemon = try root.daemon(receiver.environment()) { $0.hook("shop", "stock") }
      await withTaskGroup { group in
        for input in ["a", "b", "c"] {
          group.addTask {
            for number in 0..<20 {
              let code = number % 3 == 0 ? "\(input) unknown \(number)" : "690\(number % 10)\(input)\(number)"
              let answer = await daemon.answer(Reading(input: input, code: code))
              #expect(String(decoding: answer.line, as: UTF8.self).hasSuffix(#""recorded":true}"#))
              answers.add(code, to: input)
            }
          }
        }
      }
    }
    let uploads = try root.uploads()
    #expect(uploads.count == 120)
    for input in ["a", "b", "c"] {
      for hook in ["shop", "stock"] {
        let own = uploads.filter { $0.kind == hook && $0.orderKey == "\(hook)/\(input)" }
        #expect(own.map(\.code) == answers[input])
      }
    }
    #expect(uploads.allSatisfy { $0.document["recorded"] == .bool(true) && $0.document["problem"] == nil })
  }

  @Test func `an upload is the answer`() async throws {
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    let answer = await daemon.answer(Reading(input: "a", code: "69011234567", tag: "x"))
    let upload = try #require(try root.uploads().first)
    #expect(upload.document == (try DocumentValue(json: String(decoding: answer.line, as: UTF8.self))))
    var events = daemon.events.events(after: EventID(run: daemon.events.publish(.input, []).run, number: 0))
      .makeAsyncIterator()
    #expect(await events.next()?.data == answer.line)
  }

  @Test func `a webhook gets what it wants`() async throws {
    let daemon = try root.daemon(receiver.environment()) { options in
      options.hook("found", "missed")
      options.webhooks[0].sendsMisses = false
      options.webhooks[1].sendsMatches = false
    }
    #expect(await daemon.scan(Reading(input: "a", code: "6901")).recording == .durable)
    #expect(await daemon.scan(Reading(input: "a", code: "nothing")).recording == .durable)
    #expect(try root.uploads().map { "\($0.kind) \($0.code)" } == ["found 6901", "missed nothing"])
    #expect(try daemon.misses(limit: 5).map(\.id) == ["nothing"])
  }

  @Test func `a thousand scans at once are some commits`() async throws {
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    await withTaskGroup { group in
      for number in 0..<1000 {
        group.addTask {
          let answer = await daemon.answer(Reading(input: "i\(number % 7)", code: "6901\(number)"))
          #expect(String(decoding: answer.line, as: UTF8.self).hasSuffix(#""recorded":true}"#))
        }
      }
    }
    #expect(try root.uploads().count == 1000)
    // Each commit of a store has the next number.
    let commits = try root.documentCommitCount()
    #expect(commits < 500, "\(commits) commits")
    print("RecordingTests: 1000 scans at once were \(commits) commits")
  }

  @Test func `scans that come together are answered each for itself, in order, and share commits`() async throws {
    let isFull = Switch()
    var environment = receiver.environment()
    environment.beforeCommit = { if isFull.isOn { throw Unreachable() } }
    let daemon = try root.daemon(environment) { options in
      options.hook("shop")
      options.doubleScanWindow = .seconds(600)
    }
    let readings = ["6901", "x", "6901", "y", "z"].map { Reading(input: "a", code: $0) }
    let before = try root.documentCommitCount()
    let answers = await daemon.answer(readings).map { String(decoding: $0.line, as: UTF8.self) }
    #expect(answers.map { $0.contains(#""recorded":true"#) } == [true, true, false, true, true])
    #expect(answers[2].contains(#""repeats":"#))
    #expect(try root.codes() == ["6901", "x", "y", "z"])
    #expect(try root.documentCommitCount() - before <= 4)
    // What could not be recorded is no double scan when it comes again, together with the first one or later.
    isFull.isOn = true
    let failed = await daemon.answer(["q", "q"].map { Reading(input: "a", code: $0) })
    #expect(failed.allSatisfy { !$0.isRepeat && String(decoding: $0.line, as: UTF8.self).contains(#""problem":"#) })
  }

  @Test func `a store that takes nothing is reported by the answers and the status, and tried again`() async throws {
    let isFull = Switch()
    var environment = receiver.environment()
    environment.beforeCommit = { if isFull.isOn { throw Unreachable() } }
    let daemon = try root.daemon(environment) { $0.hook("shop") }
    isFull.isOn = true
    for code in ["6901", "6902", "nothing"] {
      let answer = await daemon.scan(Reading(input: "a", code: code))
      #expect(answer.isFailed && answer.match.isEmpty == (code == "nothing"))
      let json = try answer.json.value
      #expect(json["recorded"] == .bool(false) && json["problem"]?.text != nil)
    }
    let problem = try #require(try daemon.status().value["problems"]?.elements?.first)
    #expect(problem["code"]?.text == "recording_failing" && problem["count"]?.integer == 3)
    #expect(try root.uploads().isEmpty)
    isFull.isOn = false
    // It is scanned again at once: no double scan, as nobody has the first one.
    let answer = await daemon.scan(Reading(input: "a", code: "6901"))
    #expect(answer.recording == .durable && answer.repeats == nil)
    #expect(try root.codes() == ["6901"])
    #expect(try daemon.status().value["problems"]?.elements == [])
  }

  @Test func `a store that cannot be opened is reported, and used when it can be`() async throws {
    let place = root.path + "/users/ana/documents.log"
    try Data(repeating: 7, count: 20_000).write(to: URL(fileURLWithPath: place))
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    #expect(await daemon.scan(Reading(input: "a", code: "6901")).isFailed)
    #expect(try daemon.status().value["queue"] == .null)
    try FileManager.default.removeItem(atPath: place)
    #expect(await daemon.scan(Reading(input: "a", code: "6901")).recording == .durable)
    // A file that goes while it is used.
    try FileManager.default.removeItem(atPath: place)
    for code in ["6902", "6903"] { _ = await daemon.scan(Reading(input: "a", code: code)) }
    #expect(await daemon.scan(Reading(input: "a", code: "6904")).recording == .durable)
    #expect(try root.codes().last == "6904")
  }

  @Test func `one change that is refused fails alone`() async throws {
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    let stores = try daemon.context.access.stores()
    let results = await withTaskGroup(of: (Int, Bool).self) { group in
      for number in 0..<50 {
        group.addTask {
          do {
            try await daemon.recorder.perform(for: stores) { transaction, documents in
              // It fails behind a change, which must not be in the commit.
              try transaction.upsert(
                Miss(id: "\(number)", count: 1, first: 0, last: 0, input: "a"), into: documents.misses)
              if number % 10 == 3 { throw Unreachable() }
            }
            return (number, true)
          } catch { return (number, false) }
        }
      }
      return await group.reduce(into: [Int: Bool]()) { $0[$1.0] = $1.1 }
    }
    for number in 0..<50 { #expect(results[number] == (number % 10 != 3)) }
    #expect(Set(try daemon.misses(limit: 100).map(\.id)) == Set((0..<50).filter { $0 % 10 != 3 }.map(String.init)))
    #expect(try daemon.status().value["problems"]?.elements == [], "the store is well")
  }

  @Test func `a queue that is full refuses the scan, and says so`() async throws {
    var environment = receiver.environment()
    environment.queue.maximumCount = 2
    let daemon = try root.daemon(environment) { $0.hook("shop") }
    for code in ["6901", "6902"] { _ = await daemon.scan(Reading(input: "a", code: code)) }
    #expect(await daemon.scan(Reading(input: "a", code: "6903")).isFailed)
    #expect(try daemon.status().value["problems"]?.elements?.first?["code"]?.text == "uploads_refused")
    #expect(try await daemon.queue().clear() == 2)
    #expect(await daemon.scan(Reading(input: "a", code: "6903")).recording == .durable)
    #expect(try daemon.status().value["problems"]?.elements == [])
  }

  @Test func `a double scan is answered with the first one's id, and counted, and nothing else`() async throws {
    var environment = receiver.environment()
    let clock = MovedTime()
    environment.uptime = { clock.now }
    let daemon = try root.daemon(environment) { options in
      options.hook("shop")
      options.doubleScanWindows = ["gate": .zero, "slow": .seconds(5)]
    }
    let first = await daemon.scan(Reading(input: "a", code: "6901"))
    clock.advance(.milliseconds(400))
    let second = await daemon.answer(Reading(input: "a", code: "6901"))
    let value = try DocumentValue(json: String(decoding: second.line, as: UTF8.self))
    #expect(second.isRepeat && value["repeats"]?.text == first.id && value["id"]?.text != first.id)
    #expect(value["match"]?.text == "exact" && value["recorded"] == .bool(false) && value["problem"] == nil)
    // Another input, another code, and a window that is over.
    #expect(await daemon.scan(Reading(input: "b", code: "6901")).repeats == nil)
    #expect(await daemon.scan(Reading(input: "a", code: "6902")).repeats == nil)
    clock.advance(.milliseconds(500))
    #expect(await daemon.scan(Reading(input: "a", code: "6901")).repeats == nil)
    #expect(try root.codes() == ["6901", "6901", "6902", "6901"])
    // Windows by name; the HTTP interface has none.
    for input in ["gate", "http"] {
      for _ in 0..<2 { #expect(await daemon.scan(Reading(input: input, code: "6903")).repeats == nil) }
    }
    _ = await daemon.scan(Reading(input: "slow", code: "6903"))
    clock.advance(.seconds(4))
    #expect(await daemon.scan(Reading(input: "slow", code: "6903")).repeats != nil)
    let inputs = try #require(try daemon.status().value["inputs"]?.elements)
    let a = try #require(inputs.first { $0["name"]?.text == "a" })
    #expect(a["scans"]?.integer == 3 && a["repeats"]?.integer == 1 && a["misses"]?.integer == 0)
  }

  @Test func `who switches users mixes nothing, and what was scanned before goes up as well`() async throws {
    try root.fill("bob", cursor: "tuesday")
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    let answered = Notes()
    try await withServices(daemon) {
      try await withThrowingTaskGroup { group in
        for input in ["a", "b"] {
          group.addTask {
            for number in 0..<100 {
              let answer = await daemon.scan(Reading(input: input, code: "690\(number % 9)\(input)\(number)"))
              #expect(answer.recording == .durable)
              let user = answer.catalogue.user ?? ""
              #expect(answer.catalogue.cursor == (user == "ana" ? "monday" : "tuesday"))
              #expect(answer.match.products.allSatisfy { $0.name.hasSuffix(" of \(user)") })
              answered.add(answer.id, to: user)
            }
          }
        }
        group.addTask {
          for number in 0..<10 {
            try await daemon.signIn(number % 2 == 0 ? "bob" : "ana")
            try await Task.sleep(for: .milliseconds(5))
          }
        }
        try await group.waitForAll()
      }
      #expect(answered.all.count == 2, "somebody scanned for both")
      try await eventually("all arrive") { receiver.log.count >= 200 }
    }
    let log = receiver.log
    for (user, ids) in answered.all {
      #expect(Set(log.filter { $0.user == user }.map(\.id)) == Set(ids))
    }
    // In order for each user and input.
    for user in ["ana", "bob"] {
      for input in ["a", "b"] {
        let ids = log.filter { $0.user == user && $0.order == "shop/\(input)" }.map(\.id)
        #expect(ids == ids.sorted())
      }
    }
  }
}

/// A switch that threads share.
final class Switch: Sendable {
  private let value = Mutex(false)
  var isOn: Bool {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}

final class Counter: Sendable {
  private let value = Mutex(0)
  var count: Int { value.withLock { $0 } }
  func add() { value.withLock { $0 += 1 } }
}

/// A steady clock that a test moves.
final class MovedTime: Sendable {
  private let time = Mutex(Duration.seconds(100))
  var now: Duration { time.withLock { $0 } }
  func advance(_ by: Duration) { time.withLock { $0 += by } }
}

/// Texts by name, which threads share.
final class Notes: Sendable {
  private let notes = Mutex<[String: [String]]>([:])
  var all: [String: [String]] { notes.withLock { $0 } }
  subscript(name: String) -> [String]? { notes.withLock { $0[name] } }
  func add(_ text: String, to name: String) { notes.withLock { $0[name, default: []].append(text) } }
}
