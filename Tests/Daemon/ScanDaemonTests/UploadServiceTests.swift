import DocumentFormat
import Foundation
import Logging
import ScanInputs
import Synchronization
import Testing
import UploadQueue
import WaitingTestSupport

@testable import ScanDaemon

@Suite(.timeLimit(.minutes(10))) struct UploadServiceTests {
  let root = TestRoot()
  let receiver = Receiver()

  init() throws { try root.fill("ana") }

  @Test func `everything arrives at each webhook, in the order of its input`() async throws {
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop", "stock") }
    var sent: [String] = []
    try await withServices(daemon) {
      for number in 0..<50 {
        let code = "690\(number % 10)x\(number)"
        _ = await daemon.scan(Reading(input: "a", code: code))
        sent.append(code)
      }
      try await eventually("all arrive") { receiver.log.count == 100 }
    }
    for hook in ["shop", "stock"] {
      #expect(receiver.log.filter { $0.webhook == hook }.map(\.code) == sent)
      #expect(Set(receiver.log.filter { $0.webhook == hook }.map(\.order)) == ["\(hook)/a"])
    }
    #expect(try root.uploads().isEmpty)
  }

  @Test func `a webhook is sent the bytes of the answer`() async throws {
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop", "stock") }
    var lines: [[UInt8]] = []
    for code in ["6901", "nothing", "quote\"\\ \u{1}\u{2028}\u{7F} ü 格力 \u{1F6D2}", "6909"] {
      lines.append(await daemon.answer(Reading(input: "a", code: code, tag: "t/1")).line)
    }
    lines.append(await daemon.answer(Reading(input: "a", undecoded: [0xFF, 0x0A, 0x41])).line)
    for hook in ["shop", "stock"] {
      let uploads = try root.uploads().filter { $0.kind == hook }
      #expect(uploads.map(\.payload) == (try lines.map { .json(try UploadJSON($0)) }))
    }
    try await withServices(daemon) { try await eventually("all arrive") { receiver.log.count == 10 } }
    for hook in ["shop", "stock"] {
      #expect(receiver.log.filter { $0.webhook == hook }.map { $0.json?.bytes } == lines)
    }
    #expect(lines.allSatisfy { !$0.contains(UInt8(ascii: "\n")) })
  }

  @Test func `what waited when a daemon died goes when the next one starts, of all users`() async throws {
    do {
      let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
      for user in ["ana", "bob", "carol"] {
        try await daemon.signIn(user)
        for number in 0..<3 { _ = await daemon.scan(Reading(input: "a", code: "\(user) \(number)")) }
      }
      try await daemon.signOut()
      _ = await daemon.scan(Reading(input: "a", code: "nobody"))
    }
    let daemon = try root.daemon(user: nil, receiver.environment()) { $0.hook("shop") }
    try await withServices(daemon) { try await eventually("all arrive") { receiver.log.count == 10 } }
    for user in ["ana", "bob", "carol"] {
      #expect(receiver.codes.filter { $0.hasPrefix(user) } == (0..<3).map { "\(user) \($0)" })
    }
  }

  @Test func `a server that is away costs nothing, and is reported`() async throws {
    receiver.answer(503)
    let daemon = try root.daemon(receiver.environment()) { options in
      options.hook("shop")
      options.webhooks[0].retry.firstPause = .milliseconds(1)
      options.webhooks[0].retry.longestPause = .milliseconds(2)
    }
    try await withServices(daemon) {
      _ = await daemon.scan(Reading(input: "a", code: "6901"))
      try await eventually("it failed four times") { try daemon.queue().uploads().first?.attempts ?? 0 >= 4 }
      let counts = try #require(try daemon.status().value["queue"])
      #expect(counts["parked"]?.integer == 0, "two repetitions are not all")
      #expect(try daemon.problemNames().contains("webhook_failing shop"))
      receiver.answer(200)
      try await eventually("it arrives") { receiver.codes == ["6901"] }
      try await eventually("it is forgotten") { try daemon.status().value["problems"]?.elements == [] }
    }
  }

  @Test func `a store that could not be read, and can be again, is no problem any more`() async throws {
    let path = root.path + "/users/ana/documents.log"
    try Data("no store".utf8).write(to: URL(fileURLWithPath: path))
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    try await withServices(daemon) {
      try await eventually("it is reported") { try daemon.problemNames().contains("uploads_stopped ana") }
      try FileManager.default.removeItem(atPath: path)
      _ = await daemon.scan(Reading(input: "a", code: "6901"))
      try await eventually("it arrives") { receiver.codes == ["6901"] }
      #expect(try !daemon.problemNames().contains("uploads_stopped ana"))
    }
  }

  @Test func `a store that can be read again is no problem any more, also if nothing is to be sent`() async throws {
    let path = root.path + "/users/ana/documents.log"
    try Data("no store".utf8).write(to: URL(fileURLWithPath: path))
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    try await withServices(daemon) {
      try await eventually("it is reported") { try daemon.problemNames().contains("uploads_stopped ana") }
      try FileManager.default.removeItem(atPath: path)
      try await eventually("it is over") { try daemon.problemNames().isEmpty }
    }
  }

  @Test func `a user who was removed has no problem`() async throws {
    let daemon = try root.daemon(user: "bob", receiver.environment()) { $0.hook("shop") }
    let path = root.path + "/users/bob/documents.log"
    try Data("no store".utf8).write(to: URL(fileURLWithPath: path))
    try await withServices(daemon) {
      try await eventually("it is reported") { try daemon.problemNames().contains("uploads_stopped bob") }
      try await daemon.signIn("ana")
      _ = try root.directory.remove("bob")
      try await eventually("it is over") { try !daemon.problemNames().contains("uploads_stopped bob") }
    }
  }

  @Test func `without another policy an outage parks nothing, and three bad scans take less than half a minute`() {
    let retry = WebhookOptions(name: "shop", url: "http://x/").retry
    #expect(!retry.countsOutages && retry.longestPause == .seconds(60))
    let pauses = (1...retry.maximumRetries).reduce(Duration.zero) { $0 + retry.firstPause * (1 << ($1 - 1)) }
    #expect(pauses * 3 < .seconds(25), "the rest is for the requests")
  }

  @Test func `an upload for a webhook that is gone is parked, and says why`() async throws {
    do {
      let daemon = try root.daemon(receiver.environment()) { $0.hook("old") }
      _ = await daemon.scan(Reading(input: "a", code: "6901"))
    }
    let daemon = try root.daemon(receiver.environment()) { $0.hook("new") }
    try await withServices(daemon) {
      try await eventually("it is parked") { try daemon.queue().counts().parked == 1 }
      #expect(try daemon.queue().uploads().first?.lastError?.message.contains("old") == true)
      _ = await daemon.scan(Reading(input: "a", code: "6902"))
      try await eventually("the next one arrives") { receiver.codes == ["6902"] }
    }
    // Where there are no webhooks at all, nothing is touched.
    let none = try root.daemon(receiver.environment())
    try await none.queue().retryAll()
    try await withServices(none) { try await Task.sleep(for: .milliseconds(50)) }
    #expect(try none.queue().counts().waiting == 1)
  }

  @Test func `a shutdown waits for what is on its way, but not for ever`() async throws {
    let isOpen = Switch()
    var environment = receiver.environment()
    environment.webhook = { _ in
      WebhookTransport { _ in
        while !isOpen.isOn { try await Task.sleep(for: .milliseconds(1)) }
        return UploadResponse(status: 200)
      }
    }
    for isPatient in [true, false] {
      isOpen.isOn = false
      let daemon = try root.daemon(environment) { options in
        options.hook("shop")
        options.drainTimeout = isPatient ? .seconds(60) : .milliseconds(20)
      }
      try await withServices(daemon) {
        _ = await daemon.scan(Reading(input: "a", code: "6901"))
        try await eventually("it is sent") { try daemon.queue().counts().sending == 1 }
        if isPatient {
          Task {
            try await Task.sleep(for: .milliseconds(30))
            isOpen.isOn = true
          }
        }
      }
      #expect(try root.uploads().map(\.state) == (isPatient ? [] : [.waiting]))
    }
  }

  @Test func `a shutdown does not wait for a store that is damaged, and says so`() async throws {
    let isOpen = Switch()
    var environment = receiver.environment()
    environment.webhook = { _ in
      WebhookTransport { _ in
        while !isOpen.isOn { try await Task.sleep(for: .milliseconds(1)) }
        return UploadResponse(status: 200)
      }
    }
    let log = LogLines()
    var options = DaemonOptions(root: root.path)
    options.user = "ana"
    options.drainTimeout = .seconds(3600)
    options.hook("shop")
    let daemon = try Daemon(options, logger: log.logger, environment: environment)
    try await withServices(daemon) {
      _ = await daemon.scan(Reading(input: "a", code: "6901"))
      try await eventually("it is sent") { try daemon.queue().counts().sending == 1 }
      // In its place, as a disk does it.
      let path = URL(fileURLWithPath: root.path + "/users/ana/documents.log")
      let length = try Data(contentsOf: path).count
      let file = try FileHandle(forUpdating: path)
      try file.write(contentsOf: Data(repeating: 0x5A, count: length))
      try file.close()
      isOpen.isOn = true
    }
    let line = log.all.first { $0.contains("given up") }
    #expect(line?.contains("ana") == true && line?.contains("documents.log") == true, "\(log.all)")
  }

  @Test func `a shutdown does not wait for uploads of a user who is no more`() async throws {
    var environment = receiver.environment()
    environment.webhook = { _ in
      WebhookTransport { _ in
        // A server that never answers.
        try await Task.sleep(for: .seconds(3600))
        return UploadResponse(status: 200)
      }
    }
    var options = DaemonOptions(root: root.path)
    options.user = "ana"
    options.drainTimeout = .seconds(3600)
    options.hook("shop")
    let daemon = try Daemon(options, logger: LogLines().logger, environment: environment)
    try await withServices(daemon) {
      _ = await daemon.scan(Reading(input: "a", code: "6901"))
      try await eventually("it is sent") { try daemon.queue().counts().sending == 1 }
      try FileManager.default.removeItem(atPath: root.path + "/users/ana")
    }
  }

  @Test func `a user who is removed is forgotten, and begins anew`() async throws {
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    try await withServices(daemon) {
      _ = await daemon.scan(Reading(input: "a", code: "6901"))
      try await eventually("it arrives") { receiver.log.count == 1 }
      _ = try daemon.workspace.remove("ana")
      try await daemon.signIn("ana")
      let answer = await daemon.scan(Reading(input: "b", code: "again"))
      #expect(answer.recording == .durable)
      try await eventually("it arrives") { receiver.codes.last == "again" }
    }
  }
}

/// What was logged, with its metadata.
private final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }
  var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

  private struct Handler: LogHandler {
    let lines: LogLines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      lines.lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
  }
}
