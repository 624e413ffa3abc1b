import CatalogSync
import Foundation
import LogStore
import StoreTestSupport
import Synchronization
import Testing

@testable import Catalog
import CatalogTestSupport

/// When a synchronisation locks the catalogue, and what it does where another process was faster.
@Suite struct SynchronizerTests {
  /// A server that gives each cursor the answer of a script, and lets something happen while it answers.
  private final class Server: CatalogTransport {
    var answer: (String) -> String
    var meanwhile: (String) throws -> Void = { _ in }
    var cursors: [String] = []

    init(_ answer: @escaping (String) -> String) { self.answer = answer }

    nonisolated(nonsending) func fetchAnswer<State: ~Copyable>(
      cursor: String, into makeState: () throws -> State, onChunk: (inout State, Span<UInt8>) throws -> Void
    ) async throws -> State {
      cursors.append(cursor)
      let bytes = Array(answer(cursor).utf8)
      var state = try makeState()
      try onChunk(&state, bytes.span.extracting(..<(bytes.count / 2)))
      try meanwhile(cursor)
      try onChunk(&state, bytes.span.extracting((bytes.count / 2)...))
      return state
    }
  }

  private let folder: TemporaryDirectory
  private let location: StoreLocation

  init() throws {
    folder = try TemporaryDirectory()
    location = StoreLocation.test(folder.directory, name: "catalogue")
  }

  private static func payload(_ ids: [String], cursor: String) -> String {
    let rows = ids.map { #"{"id":"\#($0)","name":"as of \#(cursor)"}"# }
    return #"{"appProductVOList":[\#(rows.joined(separator: ","))],"appProductRelVOList":[],"updateTime":"\#(cursor)"}"#
  }

  private func synchronizer(_ server: Server) -> Synchronizer<Server> {
    var synchronizer = Synchronizer(server)
    synchronizer.options.allowsBarePayload = true
    return synchronizer
  }

  private func snapshot() throws -> CatalogSnapshot { try CatalogReader.open(location)?.snapshot() ?? .empty }

  /// Adds a product as another process would.
  private func commit(_ id: String, cursor: String) throws {
    let writer = try CatalogWriter(location)
    defer { writer.close() }
    var increment = writer.beginIncrement()
    try increment.take([Product(id)], [])
    _ = try increment.commit(cursor: cursor)
  }

  @Test func `another process writes while a full answer arrives`() async throws {
    let server = Server { _ in Self.payload(["a", "b"], cursor: "1") }
    server.meanwhile = { [self] _ in try commit("other", cursor: "0") }
    let report = try await synchronizer(server).run(SyncDestination(location))
    #expect(report.update.mode == .full && report.update.sequence == 2)
    #expect(try snapshot().products.map(\.id) == ["a", "b"])
  }

  @Test func `an answer on its way has no name that stays, and a name that a crash left is removed`() async throws {
    let left = folder.path + "/catalogue.spill-1f"
    try Data("left".utf8).write(to: URL(fileURLWithPath: left))
    let server = Server { _ in Self.payload(["a"], cursor: "1") }
    var names: [String] = []
    server.meanwhile = { [folder] _ in names = try FileManager.default.contentsOfDirectory(atPath: folder.path) }
    _ = try await synchronizer(server).run(SyncDestination(location))
    #expect(names.isEmpty)
    #expect(try !folder.directory.names().contains { $0.contains("spill") })
  }

  @Test func `an increment whose cursor moved meanwhile is asked for again`() async throws {
    try commit("a", cursor: "1")
    let server = Server { Self.payload(["since \($0)"], cursor: "\($0)+") }
    server.meanwhile = { [self] cursor in if cursor == "1" { try commit("b", cursor: "2") } }
    let report = try await synchronizer(server).run(SyncDestination(location))
    #expect(server.cursors == ["1", "2"])
    #expect(report.update.mode == .incremental && report.update.cursor == "2+")
    #expect(try snapshot().products.map(\.id) == ["a", "b", "since 2"])
  }

  @Test func `a commit that leaves the cursor where it was does not matter`() async throws {
    try commit("a", cursor: "1")
    let server = Server { Self.payload(["since \($0)"], cursor: "2") }
    server.meanwhile = { [self] _ in try commit("b", cursor: "1") }
    _ = try await synchronizer(server).run(SyncDestination(location))
    #expect(server.cursors == ["1"])
    #expect(try snapshot().products.map(\.id) == ["a", "b", "since 1"])
  }

  @Test func `a cursor that moves each time ends the synchronisation, and nothing of it is there`() async throws {
    try commit("a", cursor: "1")
    let server = Server { Self.payload(["since \($0)"], cursor: "\($0)+") }
    server.meanwhile = { [self] cursor in try commit("a", cursor: cursor + "1") }
    let error = await #expect(throws: CatalogError.self) {
      try await synchronizer(server).run(SyncDestination(location))
    }
    guard case .cursorMoved(_, tries: 3)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(server.cursors == ["1", "11", "111"])
    #expect(try snapshot().products.map(\.id) == ["a"])
  }

  @Test func `an increment that is too large is given up while it arrives, and a full update follows`() async throws {
    try commit("a", cursor: "1")
    let many = (0..<1000).map { "p\($0)" }
    let server = Server { $0.isEmpty ? Self.payload(["full"], cursor: "9") : Self.payload(many, cursor: "2") }
    let report = try await synchronizer(server).run(SyncDestination(location))
    #expect(server.cursors == ["1", ""] && report.update.mode == .full)
    #expect(try snapshot().products.map(\.id) == ["full"])
  }

  @Test func `what is no answer is refused before its end, and the catalogue is never locked`() async throws {
    for answer in ["<html>", #"{"code":1000,"data":"AAAA"#, Self.payload(["a"], cursor: "1") + "x"] {
      let server = Server { _ in answer + String(repeating: " ", count: 10) }
      let destination = SyncDestination(location) {
        if !answer.hasSuffix("x") { Issue.record("it was locked") }
        return try CatalogWriter(location)
      }
      var synchronizer = synchronizer(server)
      synchronizer.options.allowsBarePayload = answer.hasSuffix("x")
      await #expect(throws: (any Error).self) { try await synchronizer.run(destination) }
      #expect(try snapshot().sequence == 0)
    }
  }

  @Test func `a cancellation ends a synchronisation while its answer is imported, and nothing changed`() async throws {
    let task = Task { [self] in
      let server = Server { _ in Self.payload((0..<20_000).map { "product \($0)" }, cursor: "1") }
      var pieces = 0
      var synchronizer = synchronizer(server)
      synchronizer.onProgress = { progress in
        guard progress.phase == .importing else { return }
        pieces += 1
        // The task lives for the call.
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      }
      await #expect(throws: CancellationError.self) { _ = try await synchronizer.run(SyncDestination(location)) }
      return pieces
    }
    #expect(await task.value == 1)
    #expect(try snapshot().sequence == 0)
    #expect(try !folder.directory.names().contains { $0.hasSuffix(".new") || $0.contains("spill") })
  }

  @Test func `a writer that is busy when the answer is there is told as locked`() async throws {
    let server = Server { _ in Self.payload(["a"], cursor: "1") }
    let other = try CatalogWriter(location)
    let error = await #expect(throws: StoreError.self) {
      try await synchronizer(server).run(SyncDestination(location, lockTimeout: .milliseconds(10)))
    }
    guard case .locked? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    other.close()
    _ = try await synchronizer(server).run(SyncDestination(location))
  }

  @Test func `a full device is told, and gives the room back`() async throws {
    let device = SimulatedDevice()
    let location = StoreLocation.test(
      device.directory, name: "catalogue", environment: FixedEnvironment().environment())
    device.limit(to: 1 << 12)
    let server = Server { _ in Self.payload((0..<1000).map { "p\($0)" }, cursor: "1") }
    let error = await #expect(throws: StoreError.self) {
      try await synchronizer(server).run(SyncDestination(location))
    }
    guard case .io(let cause)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.kind == .noSpace && device.names.isEmpty)
  }
}
