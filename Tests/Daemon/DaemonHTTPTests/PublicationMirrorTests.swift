import Catalog
import Foundation
import PublicationFormat
import PublicationTestSupport
import Testing
import WaitingTestSupport

@testable import DaemonHTTP
@testable import ScanDaemon

/// A daemon that serves the files of a publication to its neighbours.
@Suite(.timeLimit(.minutes(10))) struct PublicationMirrorTests {
  let server: PublicationServer

  init() throws { server = try PublicationServer() }

  /// Runs a daemon that has taken the publication.
  private func running(
    mirrors: [String] = [], isMirror: Bool = true, token: String? = nil, _ body: (TestDaemon) async throws -> Void
  ) async throws {
    try await TestDaemon.run(
      { options, server in
        var publication = PublicationOptions(url: self.server.url)
        publication.rootKey = self.server.key.publicKey
        publication.mirrors = mirrors
        publication.isMirror = isMirror
        options.sync = SyncOptions(publication: publication)
        server.token = token
      }, isFilled: false
    ) { daemon in
      try await eventually("it has synchronised") {
        try JSONBody(daemon.daemon.sync.json.bytes)["lastSuccess"]?.text != nil
      }
      try await body(daemon)
    }
  }

  private func get(
    _ daemon: TestDaemon, _ name: String, method: String = "GET", _ headers: [(String, String)] = []
  ) async throws -> TestAnswer {
    var text = "\(method) /publication/\(name) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    return try await daemon.client.send(Array((text + "\r\n").utf8), isHead: method == "HEAD")
  }

  @Test func `it serves what it has checked, whole and in part, without a token`() async throws {
    try await server.publish(0..<3000, "monday")
    try await server.serving {
      try await running(token: "secret") { daemon in
        for name in ["catalogue.json", "catalogue.json.sig", "keys.json", "keys.json.sig"] {
          let answer = try await get(daemon, name)
          #expect(try answer.status == 200 && answer.body == server.file(name), "\(name)")
          let etag = try #require(answer.headers["etag"])
          #expect(try await get(daemon, name, [("If-None-Match", etag)]).status == 304)
        }
        let base = try server.head().state.base.name
        let bytes = try server.file(base)
        let whole = try await get(daemon, base)
        #expect(whole.status == 200 && whole.body == bytes)
        #expect(whole.headers["cache-control"]?.contains("immutable") == true)
        let part = try await get(daemon, base, [("Range", "bytes=100-299")])
        #expect(part.status == 206 && part.body == Array(bytes[100..<300]))
        #expect(part.headers["content-range"] == "bytes 100-299/\(bytes.count)")
        let end = try await get(daemon, base, [("Range", "bytes=-10")])
        #expect(end.status == 206 && end.body == Array(bytes.suffix(10)))
        let after = try await get(daemon, base, [("Range", "bytes=\(bytes.count)-")])
        #expect(after.status == 416 && after.headers["content-range"] == "bytes */\(bytes.count)")
        #expect(try await get(daemon, base, [("Range", "bytes=5-1")]).status == 200)
        let head = try await get(daemon, base, method: "HEAD")
        #expect(head.status == 200 && head.body.isEmpty && head.headers["content-length"] == "\(bytes.count)")
        #expect(try await get(daemon, base, method: "DELETE").status == 405)
        // Nothing else of the device can be read so.
        for name in ["", "publication-source.json", "../catalogue.log", "objects/../catalogue.json", "objects/x.base"] {
          #expect(try await get(daemon, name).status == 404, "\(name)")
        }
      }
    }
  }

  @Test func `a neighbour takes all rows from the mirror, and none from the publisher`() async throws {
    try await server.publish(0..<3000, "monday")
    try await server.serving {
      try await running { mirror in
        guard case .port(let port) = mirror.client.place else { return }
        _ = server.requests()
        let url = "http://127.0.0.1:\(port)/publication"
        try await running(mirrors: [url], isMirror: false) { neighbour in
          // The publisher is asked for its head alone.
          #expect(server.requests().allSatisfy { !$0.name.hasSuffix(".base") && !$0.name.hasSuffix(".delta") })
          #expect(try neighbour.daemon.catalogue().productCount == 3000)
          let state = try #require(JSONBody(neighbour.daemon.sync.json.bytes)["publication"])
          #expect(state["mirror"]?.text == url && state["sequence"]?.int == 1)
          // News that the mirror has.
          try await server.publish(1..<3000, "monday")
          _ = try await mirror.daemon.sync.syncNow()
          _ = server.requests()
          _ = try await neighbour.daemon.sync.syncNow()
          // The publisher is asked for its head alone.
          #expect(server.requests().allSatisfy { !$0.name.hasSuffix(".base") && !$0.name.hasSuffix(".delta") })
          #expect(try neighbour.daemon.catalogue().productCount == 2999)
          // The mirror is the neighbour of nobody.
          #expect(try await get(neighbour, "catalogue.json").status == 404)
        }
      }
    }
  }

  @Test func `a neighbour that knows a newer head lets the mirror fetch what is new`() async throws {
    try await server.publish(0..<3000, "monday")
    try await server.serving {
      try await running { mirror in
        guard case .port(let port) = mirror.client.place else { return }
        let url = "http://127.0.0.1:\(port)/publication"
        try await running(mirrors: [url], isMirror: false) { neighbour in
          try await server.publish(1..<3000, "monday")
          _ = server.requests()
          _ = try await neighbour.daemon.sync.syncNow()
          // The mirror has fetched it, and the neighbour has it from there.
          #expect(server.requests().count { $0.name.hasSuffix(".delta") } == 1)
          #expect(try neighbour.daemon.catalogue().productCount == 2999)
          let state = try #require(JSONBody(neighbour.daemon.sync.json.bytes)["publication"])
          #expect(state["mirror"]?.text == url && state["sequence"]?.int == 2)
          // Names that no head has are not asked for again and again.
          _ = server.requests()
          for digit in 0..<10 {
            let name = "objects/\(String(repeating: "\(digit)", count: 64)).delta"
            #expect(try await get(mirror, name).status == 404)
          }
          #expect(server.requests().count <= 4)
        }
      }
    }
  }

  @Test func `a file that is not here is fetched once for all who ask`() async throws {
    try await server.publish(0..<3000, "monday")
    try await server.serving {
      try await running { daemon in
        let base = try server.head().state.base
        let directory = try daemon.daemon.workspace.stores().catalogueLocation().directory
        _ = try directory.remove("publication-\(base.file.sha256).base")
        _ = server.requests()
        let bytes = try server.file(base.name)
        try await withThrowingTaskGroup(of: Bool.self) { group in
          for _ in 0..<5 {
            group.addTask { try await get(daemon, base.name).body == bytes }
          }
          for try await isWhole in group { #expect(isWhole) }
        }
        #expect(server.requests().allSatisfy { $0.name == base.name && $0.status == 206 })
        #expect(try await get(daemon, base.name).body == bytes && server.requests() == [])
      }
    }
  }
}
