import Catalog
import Foundation
import LogStore
import Logging
import MetricsTestKit
import ScanInputs
import Storage
import Synchronization
import Testing
import UploadQueue
import WaitingTestSupport
import Workspace

@testable import ScanDaemon

/// Problems begin and end with their causes.
@Suite struct CauseTests {
  private let root = TestRoot()
  private let receiver = Receiver()
  private let clock = TestClock()
  private let server = CatalogueServer()

  private func daemon(
    user: String? = "ana", _ change: (inout DaemonEnvironment, inout DaemonOptions) -> Void = { _, _ in }
  ) throws -> Daemon {
    var environment = receiver.environment(clock.environment)
    server.serve(&environment)
    var options = DaemonOptions(root: root.path)
    change(&environment, &options)
    return try root.daemon(user: user, environment) { $0 = options.with($0.root, user: user) }
  }

  // MARK: Compaction

  @Test func `a compaction that failed is tried again soon, and its problem ends with its cause`() async throws {
    try root.fill("ana")
    let daemon = try daemon()
    let documents = try #require(try daemon.userDocuments())
    for number in 0..<70 {
      let miss = Miss(
        id: "x", count: number, first: 0, last: 0, input: String(repeating: "\(number % 10)", count: 100_000))
      try documents.misses.upsert(miss)
    }
    // A new generation cannot be made there.
    let obstacle = root.path + "/users/ana/documents.new"
    try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
    let task = Task { try await daemon.compaction.run() }
    defer { task.cancel() }
    for (pause, next) in [(600, 5), (5, 10), (10, 20), (20, 40), (40, 80), (80, 160), (160, 300), (300, 300)] {
      try await eventually("it waits") { clock.sleeperCount == 1 }
      clock.advance(by: .seconds(pause))
      try await eventually("it waits again") { clock.sleeperCount == 1 }
      #expect(clock.pauses.last == .seconds(next))
      #expect(daemon.problems.has(.compactionFailing))
    }
    try FileManager.default.removeItem(atPath: obstacle)
    clock.advance(by: .seconds(300))
    try await eventually("the problem has ended") { !daemon.problems.has(.compactionFailing) }
    try await eventually("it waits as usual") { clock.sleeperCount == 1 }
    #expect(clock.pauses.last == .seconds(600))
  }

  // MARK: No catalogue

  @Test(arguments: [nil, "ana"])
  func `without a catalogue a scan says so, is no miss, and nobody is ready`(_ user: String?) async throws {
    let daemon = try daemon(user: user)
    #expect(!daemon.isReady && daemon.unreadiness == "there is no catalogue")
    let answer = await daemon.scan(Reading(input: "a", code: "6901"))
    let value = try answer.json.value
    #expect(value["match"]?.text == "none" && value["reason"]?.text == "no catalogue")
    #expect(value["recorded"] == .bool(false) && value["problem"] == nil)
    #expect(try daemon.look("6901").json.value["reason"]?.text == "no catalogue")
    await daemon.recorder.flush()
    #expect(try daemon.misses(limit: 5).isEmpty)
    #expect(try daemon.problemNames() == ["catalogue_never_synchronised"])
    #expect(try daemon.status().value["ready"] == .bool(false))
  }

  @Test func `a catalogue that arrives ends that without a scan`() async throws {
    let daemon = try daemon()
    daemon.causes.check()
    #expect(daemon.problems.has(.catalogueNeverSynchronised))
    try root.fill("ana")
    daemon.causes.check()
    #expect(!daemon.problems.has(.catalogueNeverSynchronised) && daemon.isReady)
    #expect(try daemon.look("6901").json.value["reason"] == nil)
    // It has been asked now.
    #expect(try daemon.look("nothing").json.value["reason"]?.text == "not in the catalogue")
    #expect(try await daemon.scan(Reading(input: "a", code: "nothing")).json.value["match"]?.text == "none")
    await daemon.recorder.flush()
    #expect(try daemon.misses(limit: 5).map(\.id) == ["nothing"])
  }

  @Test func `a catalogue that was synchronised and is empty is one`() async throws {
    let writer = try CatalogWriter(root.directory.makeCatalogue(of: "ana"), lockTimeout: .seconds(5))
    _ = try writer.beginFullUpdate(.open).commit(cursor: "monday")
    writer.close()
    let daemon = try daemon()
    #expect(daemon.isReady)
    let answer = await daemon.scan(Reading(input: "a", code: "6901"))
    #expect(try answer.json.value["reason"]?.text == "not in the catalogue")
  }

  @Test func `the catalogue of nobody answers where nobody is signed in`() async throws {
    let daemon = try daemon(user: nil)
    let writer = try daemon.workspace.defaultStores.catalogueWriter()
    _ = try writer.beginFullUpdate(.open).commit(cursor: "monday")
    writer.close()
    #expect(daemon.isReady)
    #expect(try daemon.problemNames().isEmpty)
  }

  // MARK: Synchronisation

  @Test func `a server without a user to ask for is a problem until somebody signs in`() async throws {
    let daemon = try daemon(user: nil) { $1.sync = SyncOptions(url: "http://127.0.0.1:1/") }
    #expect(try daemon.problemNames() == ["catalogue_never_synchronised", "sync_no_user"])
    try await daemon.signIn("ana")
    #expect(try daemon.problemNames() == ["catalogue_never_synchronised"])
    _ = try await daemon.sync.syncNow()
    #expect(try daemon.problemNames().isEmpty)
  }

  @Test func `a synchronisation that never ends is a problem after a minute, and one that fails until another user`()
    async throws
  {
    let daemon = try daemon { $1.sync = SyncOptions(url: "http://127.0.0.1:1/") }
    daemon.causes.check()
    clock.advance(by: .seconds(59))
    #expect(try daemon.problemNames() == ["catalogue_never_synchronised"])
    clock.advance(by: .seconds(1))
    #expect(try daemon.problemNames() == ["catalogue_never_synchronised", "sync_never_ran"])
    server.isDown = true
    await #expect(throws: Unreachable.self) { try await daemon.sync.syncNow() }
    #expect(try daemon.problemNames() == ["catalogue_never_synchronised", "sync_failing"])
    try await daemon.signIn("bob")
    #expect(try daemon.problemNames() == ["catalogue_never_synchronised"])
  }

  // MARK: Inputs

  @Test func `an input that is not open is a problem until it is, or has come to its end`() throws {
    try root.fill("ana")
    let kit = TestMetrics()
    let daemon = try daemon { environment, _ in environment.metrics = kit }
    func up() throws -> Double? { try kit.expectRecorder("shelfmark_input_up", [("input", "gun")]).lastValue }
    daemon.note(.closed(reason: "no such device", reopens: true), input: "gun")
    #expect(try daemon.problemNames() == ["input_closed gun"])
    #expect(try daemon.status().value["problems"]?.elements?.first?["message"]?.text == "no such device")
    #expect(try up() == 0)
    daemon.note(.opened("/dev/gun"), input: "gun")
    #expect(try daemon.problemNames().isEmpty)
    #expect(try up() == 1)
    daemon.note(.closed(reason: "end of input", reopens: false), input: "gun")
    #expect(try daemon.problemNames().isEmpty)
    #expect(try up() == 0)
  }

  @Test func `connections beyond a limit are a problem for a minute, and those of strangers are none`() throws {
    try root.fill("ana")
    let kit = TestMetrics()
    let daemon = try daemon { environment, _ in environment.metrics = kit }
    daemon.note(.refused(.notAllowed(peer: "10.0.0.9")), input: "line")
    #expect(try daemon.problemNames().isEmpty)
    daemon.note(.connections(256, limit: 256), input: "line")
    daemon.note(.refused(.limit(256, peer: "10.0.0.9")), input: "line")
    #expect(try daemon.problemNames() == ["connections_refused line"])
    #expect(try kit.expectRecorder("shelfmark_input_connections", [("input", "line")]).lastValue == 256)
    clock.advance(by: .seconds(60))
    #expect(try daemon.problemNames().isEmpty)
  }

  // MARK: Documents

  @Test func `documents that cannot be read are a problem until they can be`() throws {
    try root.fill("ana")
    let daemon = try daemon()
    let place = root.path + "/users/ana/documents.log"
    try Data(repeating: 7, count: 20_000).write(to: URL(fileURLWithPath: place))
    daemon.causes.check()
    #expect(daemon.problems.has(.documentsUnreadable))
    try FileManager.default.removeItem(atPath: place)
    daemon.causes.check()
    #expect(!daemon.problems.has(.documentsUnreadable))
  }

  @Test func `a disk that takes something again ends the problem without a scan`() async throws {
    try root.fill("ana")
    let isFull = Switch()
    let daemon = try daemon { environment, options in
      environment.beforeCommit = { if isFull.isOn { throw Unreachable() } }
      options.hook("shop")
    }
    isFull.isOn = true
    #expect(await daemon.scan(Reading(input: "a", code: "6901")).isFailed)
    await daemon.recorder.probe()
    #expect(daemon.problems.has(.recordingFailing))
    isFull.isOn = false
    await daemon.recorder.probe()
    #expect(try daemon.problemNames().isEmpty)
    #expect(try root.codes().isEmpty, "the probe is no scan")
  }

  @Test func `a queue that has room again ends the problem without a scan`() async throws {
    try root.fill("ana")
    let daemon = try daemon { environment, options in
      environment.queue.maximumCount = 1
      options.hook("shop")
    }
    for code in ["6901", "6902"] { _ = await daemon.scan(Reading(input: "a", code: code)) }
    #expect(try daemon.problemNames() == ["uploads_refused"])
    _ = try await daemon.queue().clear()
    daemon.causes.check()
    #expect(!daemon.problems.has(.uploadsRefused))
  }

  // MARK: Damage

  /// Damages the catalogue so that it cannot be opened. The file stays as long as it is: it may be mapped.
  private func damage() throws {
    let place = URL(fileURLWithPath: root.path + "/users/ana/catalogue.log")
    let file = try FileHandle(forWritingTo: place)
    defer { try? file.close() }
    try file.write(contentsOf: Data(repeating: 7, count: 8192))
  }

  @Test func `an input that opens and closes all the time fills no log`() throws {
    let lines = LineLog()
    var options = DaemonOptions(root: root.path)
    options.watchesNetwork = false
    var environment = DaemonEnvironment()
    environment.time = clock.environment
    let daemon = try Daemon(options, logger: Logger(label: "test") { _ in lines }, environment: environment)
    for _ in 0..<100 {
      daemon.note(.closed(reason: "unplugged", reopens: true), input: "gun")
      daemon.note(.opened("/dev/gun"), input: "gun")
      clock.advance(by: .milliseconds(100))
    }
    #expect(lines.all.count { $0.hasSuffix("input closed") || $0.hasSuffix("input opened") } == 4)
    #expect(lines.all.count { $0.contains("input_closed gun") } == 2, "it begins, and it ends")
    clock.advance(by: .seconds(60))
    daemon.note(.closed(reason: "unplugged", reopens: true), input: "gun")
    #expect(lines.all.last?.hasSuffix("input closed") == true)
  }

  @Test func `gauges of inputs go with their daemon`() async throws {
    try root.fill("ana")
    let kit = TestMetrics()
    let daemon = try daemon { environment, _ in
      environment.metrics = kit
      environment.time = .live
    }
    try await withServices(daemon) { daemon.note(.opened("/dev/gun"), input: "gun") }
    #expect(throws: (any Error).self) { try kit.expectRecorder("shelfmark_input_up", [("input", "gun")]) }
  }

  @Test func `a damaged catalogue is set aside and fetched anew, and what was scanned meanwhile is sent twice`()
    async throws
  {
    try root.fill("ana")
    server.change(0..<10)
    let isOpen = Switch()
    server.hold { while !isOpen.isOn { await Task.yield() } }
    let daemon = try daemon { environment, options in
      environment.time = .live
      options.sync = SyncOptions(url: "http://127.0.0.1:1/")
      options.rematches = true
      options.hook("shop")
    }
    // It is open, and shows a commit that the new file has a number of as well.
    #expect(try daemon.look("6901").match.kind == .exact)
    try damage()
    let events = daemon.events.events(after: nil)
    let first = await daemon.scan(Reading(input: "a", code: "6901", tag: "t"))
    let unknown = await daemon.scan(Reading(input: "a", code: "nothing"))
    for answer in [first, unknown] {
      let value = try answer.json.value
      #expect(value["match"]?.text == "unreadable" && value["recorded"] == .bool(true))
      #expect(value["reason"]?.text?.hasPrefix("the catalogue cannot be read: ") == true)
    }
    #expect(try daemon.problemNames() == ["catalogue_unreadable"])
    try await withServices(daemon) {
      try await eventually("they are sent as unreadable") { receiver.codes == ["6901", "nothing"] }
      isOpen.isOn = true
      try await eventually("they are sent again") { receiver.codes == ["6901", "nothing", "6901", "nothing"] }
      #expect(daemon.isReady && !daemon.problems.has(.catalogueUnreadable))
    }
    #expect(server.cursors.first == "", "a full update")
    #expect(try root.directory.files(of: "ana").contains { $0.role == .damaged })
    #expect(try daemon.misses(limit: 5).map(\.id) == ["nothing"])
    #expect(try daemon.userDocuments()?.pending.count() == 0)
    var reported: [(String, String?)] = []
    var lines: [[UInt8]] = []
    for await event in events {
      guard event.kind == .scan else { continue }
      lines.append(event.data)
      reported.append((event.value["match"]?.text ?? "", event.value["rematches"]?.text))
      if reported.count == 4 { break }
    }
    #expect(reported.map(\.0) == ["unreadable", "unreadable", "exact", "none"])
    #expect(receiver.log.map { $0.json?.bytes } == lines, "a second event is sent byte for byte as well")
    #expect(reported.map(\.1) == [nil, nil, first.id, unknown.id])
  }

  @Test func `a backup that is copied over the open catalogue answers, and is no problem`() async throws {
    try MappingGuard.install()
    try root.fill("ana", cursor: "monday")
    let place = URL(fileURLWithPath: root.path + "/users/ana/catalogue.log")
    let backup = try Data(contentsOf: place)
    try root.fill("ana", cursor: "tuesday")
    let daemon = try daemon()
    #expect(try daemon.look("6901").match.kind == .exact && daemon.catalogue().cursor == "tuesday")
    // As `cp` does it: the file keeps its name and its inode.
    let file = try FileHandle(forWritingTo: place)
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: backup)
    try file.close()
    #expect(await daemon.scan(Reading(input: "a", code: "6901")).match.kind == .exact)
    try await eventually("the backup is shown") { try daemon.catalogue().cursor == "monday" }
    #expect(try daemon.look("6902").match.kind == .exact)
    daemon.causes.check()
    #expect(try daemon.problemNames().isEmpty)
  }

  @Test func `a device that damages each new file makes no server send everything again and again`() async throws {
    try root.fill("ana", cursor: "0")
    server.change(0..<10)
    let passed = Mutex(Duration.zero)
    let daemon = try daemon { environment, options in
      environment.uptime = { passed.withLock { $0 } }
      options.sync = SyncOptions(url: "http://127.0.0.1:1/")
    }
    func sync() async throws -> String? {
      daemon.sync.replaceCatalogue()
      _ = try await daemon.sync.syncNow()
      return server.cursors.last
    }
    #expect(try await sync() == "", "everything")
    #expect(try await sync() != "", "what is new")
    passed.withLock { $0 = CatalogueSync.replacementPause }
    #expect(try await sync() == "")
  }

  @Test func `a lookup that runs into damage is tried again until it is answered`() async throws {
    try root.fill("ana")
    let daemon = try daemon()
    daemon.health.failed(Reading(input: "a", code: "6901"), StoreError.damaged(path: "a", offset: 1, what: "b"))
    #expect(daemon.problems.has(.catalogueUnreadable))
    daemon.causes.check()
    #expect(!daemon.problems.has(.catalogueUnreadable))
  }

  @Test func `without rematch nothing is sent twice, and without a server nothing is replaced`() async throws {
    try root.fill("ana")
    let place = URL(fileURLWithPath: root.path + "/users/ana/catalogue.log")
    let good = try Data(contentsOf: place)
    try damage()
    let daemon = try daemon { _, options in options.hook("shop") }
    _ = await daemon.scan(Reading(input: "a", code: "6901"))
    daemon.causes.check()
    #expect(try root.codes() == ["6901"])
    try good.write(to: place)
    await daemon.rematcher.lookUpAll()
    #expect(try root.codes() == ["6901"])
    #expect(try daemon.problemNames().isEmpty)
  }

  @Test func `webhooks for matches alone and for misses alone get what nobody could look up`() async throws {
    try root.fill("ana")
    try damage()
    let daemon = try daemon { _, options in
      options.hook("found", "missed")
      options.webhooks[0].sendsMisses = false
      options.webhooks[1].sendsMatches = false
    }
    _ = await daemon.scan(Reading(input: "a", code: "6901"))
    #expect(try root.uploads().map(\.kind) == ["found", "missed"])
  }

  // MARK: A second daemon

  @Test func `a root directory that another process has locked is refused, with its name`() throws {
    let directory = try PosixDirectory.create(root.path)
    let lock = try #require(try directory.lock(RootLock.name))
    let text = "process 4711 (other)\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: root.path + "/" + RootLock.name), options: [])
    #expect(throws: DaemonError.rootInUse(path: root.path, holder: "process 4711 (other)")) { try self.daemon() }
    lock.release()
    // What it wrote keeps nobody away.
    let daemon = try daemon()
    #expect(daemon.lock != nil)
    // Another one in this process goes on in its place.
    _ = try self.daemon()
    #expect(try directory.lock(RootLock.name) == nil)
  }

  @Test func `the lock goes with the last daemon`() throws {
    do { _ = try daemon() }
    let directory = try PosixDirectory.create(root.path)
    #expect(try directory.lock(RootLock.name) != nil)
  }

  @Test(arguments: [true, false]) func `a file that is no lock of a daemon keeps its bytes`(isLinked: Bool) throws {
    try root.fill("ana")
    let text = isLinked ? "" : String(repeating: "process one\n", count: 50)
    let (file, target) = (root.path + "/" + RootLock.name, root.path + "/target")
    try Data(text.utf8).write(to: URL(fileURLWithPath: isLinked ? target : file))
    if isLinked { try FileManager.default.linkItem(atPath: target, toPath: file) }
    do {
      let daemon = try daemon()
      #expect(try daemon.problemNames().isEmpty)
      #expect(try PosixDirectory.create(root.path).lock(RootLock.name) == nil)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data(text.utf8))
  }

  @Test func `one that was refused is a problem for a minute`() throws {
    try root.fill("ana")
    let daemon = try daemon()
    let file = try #require(try PosixDirectory.create(root.path).open(RootLock.name, .write))
    try file.write(Array("process 12 (catalogd)".utf8), at: RootLock.lineByteCount)
    #expect(try daemon.problemNames() == ["second_daemon"])
    clock.advance(by: .seconds(60))
    #expect(try daemon.problemNames().isEmpty)
    try file.write(Array("process 13 (catalogd)".utf8), at: RootLock.lineByteCount)
    #expect(try daemon.problemNames() == ["second_daemon"])
  }

  @Test func `a root directory that was moved is reported until it is back`() throws {
    try root.fill("ana")
    let daemon = try daemon()
    let aside = root.path + ".aside"
    try FileManager.default.moveItem(atPath: root.path, toPath: aside)
    #expect(try daemon.problemNames().contains("root_replaced"))
    try FileManager.default.createDirectory(atPath: root.path, withIntermediateDirectories: false)
    #expect(try daemon.problemNames().contains("root_replaced"))
    try FileManager.default.removeItem(atPath: root.path)
    try FileManager.default.moveItem(atPath: aside, toPath: root.path)
    #expect(try daemon.problemNames().isEmpty)
  }

  @Test func `a queue that somebody paused is reported until it is resumed`() async throws {
    try root.fill("ana")
    let daemon = try daemon()
    let queue = try daemon.queue()
    try await queue.pause()
    #expect(try daemon.problemNames() == ["queue_paused"])
    try await queue.resume()
    #expect(try daemon.problemNames().isEmpty)
  }

  @Test func `a lock file that was removed is made again, and another daemon that took it is reported`() throws {
    try root.fill("ana")
    let daemon = try daemon()
    let place = root.path + "/" + RootLock.name
    try FileManager.default.removeItem(atPath: place)
    #expect(try daemon.problemNames().isEmpty)
    #expect(FileManager.default.fileExists(atPath: place))
    try FileManager.default.removeItem(atPath: place)
    let lock = try PosixDirectory.create(root.path).lock(RootLock.name)
    #expect(lock != nil)
    #expect(try daemon.problemNames() == ["second_daemon"])
  }
}

extension DaemonOptions {
  /// The same options for another root directory.
  fileprivate func with(_ root: String, user: String?) -> DaemonOptions {
    var options = self
    options.root = root
    options.user = user
    options.watchesNetwork = false
    options.drainTimeout = .seconds(2)
    return options
  }
}
