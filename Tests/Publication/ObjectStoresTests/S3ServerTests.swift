import Foundation
import Synchronization
import Testing

@testable import ObjectStores

private let environment = ProcessInfo.processInfo.environment

/// The client against real servers, which `scripts/s3-test` starts.
@Suite(
  .enabled(if: environment["SHELFMARK_S3_ENDPOINTS"] != nil, "scripts/s3-test starts the servers"))
struct S3ServerTests {
  struct Server: Sendable, CustomTestStringConvertible {
    var name: String
    var url: String

    var testDescription: String { name }
    /// What this server makes of conditions.
    var conditions: ConditionalWrites { name == "rclone" ? .ignored : .honoured }
    /// moto takes every signature.
    var checksSignatures: Bool { name != "moto" }
  }

  static let servers: [Server] = (environment["SHELFMARK_S3_ENDPOINTS"] ?? "").split(separator: " ").map { entry in
    let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
    return Server(name: parts[0], url: parts[1])
  }
  private static let type = ObjectType(mediaType: "application/json", cacheControl: "max-age=60")

  /// A store with a prefix of its own.
  private func store(
    _ server: Server, bucket: String = "bucket", style: S3Style? = nil, region: String? = nil,
    credentials: S3Credentials? = nil
  ) throws -> S3Store {
    var url = server.url
    // libcurl knows that all names below this one are this machine's.
    if style == .virtualHost { url = url.replacing("127.0.0.1", with: "localhost") }
    return try S3Store(
      S3Location(bucket: bucket, prefix: "run/\(UUID().uuidString)"),
      options: S3Options(region: region, endpoint: url, style: style), environment: environment,
      credentials: credentials.map { S3CredentialSource($0) })
  }

  @Test(arguments: servers)
  func `an object is written, read, replaced and deleted`(server: Server) async throws {
    let store = try store(server)
    #expect(try await store.get("objects/a.base", limit: 10) == nil)
    #expect(try await !store.exists("objects/a.base"))
    let first = try await store.put("objects/a.base", Array("hello".utf8), .none, Self.type)
    guard case .written(let version) = first else {
      Issue.record("not written")
      return
    }
    #expect(
      try await store.get("objects/a.base", limit: 5) == StoredObject(bytes: Array("hello".utf8), version: version))
    #expect(try await store.exists("objects/a.base"))
    let second = try await store.put("objects/a.base", Array("world".utf8), .none, Self.type)
    #expect(second != first)
    #expect(try await store.get("objects/a.base", limit: 5)?.bytes == Array("world".utf8))
    await #expect(throws: ObjectStoreError.tooLarge(store: store.description, name: "objects/a.base", limit: 4)) {
      try await store.get("objects/a.base", limit: 4)
    }
    try await store.delete("objects/a.base")
    try await store.delete("objects/a.base")
    #expect(try await !store.exists("objects/a.base"))
  }

  @Test(arguments: servers)
  func `an object may be large, or empty`(server: Server) async throws {
    let store = try store(server)
    let large = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
    for bytes in [large, []] {
      _ = try await store.put("object", bytes, .none, Self.type)
      #expect(try await store.get("object", limit: bytes.count)?.bytes == bytes)
    }
    try await store.delete("object")
  }

  @Test(arguments: servers)
  func `the probe finds out whether conditions are kept, and leaves nothing`(server: Server) async throws {
    #expect(try await store(server).probeConditions() == server.conditions)
  }

  @Test(arguments: servers.filter { $0.conditions == .honoured })
  func `where conditions are kept, they decide whether something is written`(server: Server) async throws {
    let store = try store(server)
    func put(_ byte: UInt8, _ condition: PutCondition) async throws -> PutResult {
      try await store.put("head", [byte], condition, Self.type)
    }
    #expect(try await put(0, .ifVersion("\"00000000000000000000000000000000\"")) == .preconditionFailed)
    guard case .written(let first) = try await put(1, .ifAbsent) else {
      Issue.record("not written")
      return
    }
    #expect(try await put(2, .ifAbsent) == .preconditionFailed)
    guard case .written(let second) = try await put(3, .ifVersion(first)) else {
      Issue.record("not written")
      return
    }
    #expect(try await put(4, .ifVersion(first)) == .preconditionFailed)
    #expect(try await store.get("head", limit: 1) == StoredObject(bytes: [3], version: second))
  }

  @Test(arguments: servers.filter { $0.name == "botocore" })
  func `of several writers, exactly one wins`(server: Server) async throws {
    let store = try store(server)
    var condition = PutCondition.ifAbsent
    for turn in 0..<3 {
      let given = condition
      let results = try await withThrowingTaskGroup(of: PutResult.self) { group in
        for writer in 0..<4 {
          group.addTask { try await store.put("head", [UInt8(turn), UInt8(writer)], given, Self.type) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let winners = results.filter { $0 != .preconditionFailed }
      #expect(winners.count == 1)
      guard case .written(let version)? = winners.first else { return }
      condition = .ifVersion(version)
    }
  }

  @Test(arguments: servers.filter { $0.name == "botocore" })
  func `libcurl signs as botocore does: methods, headers, regions, session tokens, hosts`(server: Server) async throws {
    let key = try #require(environment["AWS_ACCESS_KEY_ID"])
    let secret = try #require(environment["AWS_SECRET_ACCESS_KEY"])
    for region in [nil, "eu-central-1", "auto"] {
      for style in S3Style.allCases {
        for token in [nil, "FwoGZXIvYXdzEBY//////////wEaDExample+Token=="] {
          let credentials = S3Credentials(accessKey: key, secret: secret, sessionToken: token)
          let store = try store(server, style: style, region: region, credentials: credentials)
          let types = [Self.type, ObjectType(mediaType: "text/plain; charset=utf-8", cacheControl: "")]
          for (index, type) in types.enumerated() {
            let name = "a/b-c_d.\(index)"
            #expect(try await store.put(name, [1, 2, 3], .ifAbsent, type) != .preconditionFailed)
            let stored = try await store.get(name, limit: 3)
            #expect(try await store.put(name, [], .ifVersion(stored?.version ?? ""), type) != .preconditionFailed)
            #expect(try await store.exists(name))
            try await store.delete(name)
            #expect(try await !store.exists(name))
          }
        }
      }
    }
  }

  @Test(arguments: servers.filter(\.checksSignatures))
  func `a wrong secret and an unknown key are refused, by the key's name`(server: Server) async throws {
    let key = try #require(environment["AWS_ACCESS_KEY_ID"])
    for credentials in [
      S3Credentials(accessKey: key, secret: "wrong"), S3Credentials(accessKey: "unknown", secret: "wrong"),
    ] {
      let store = try store(server, credentials: credentials)
      let error = await #expect(throws: ObjectStoreError.self) { try await store.put("x", [1], .none, Self.type) }
      #expect(
        error?.description.contains("refuses the key \(credentials.accessKey)") == true, "\(String(describing: error))")
      #expect(error?.exitStatus == .permission)
    }
  }

  @Test(arguments: servers)
  func `a bucket that is not there is named`(server: Server) async throws {
    let store = try store(server, bucket: "no-such-bucket")
    for attempt in ["PUT", "GET"] {
      let error = await #expect(throws: ObjectStoreError.self) {
        if attempt == "PUT" { _ = try await store.put("x", [1], .none, Self.type) }
        _ = try await store.get("x", limit: 1)
      }
      #expect(
        error?.description.contains("there is no bucket 'no-such-bucket'") == true, "\(String(describing: error))")
    }
  }

  @Test(arguments: servers)
  func `a server that does not speak TLS is told apart from one that does not answer`(server: Server) async throws {
    let url = server.url.replacing("http:", with: "https:")
    let pauses = Mutex(0)
    let store = try S3Store(
      S3Location(bucket: "bucket"), options: S3Options(endpoint: url), environment: environment, credentials: nil,
      timing: S3Timing(sleep: { _ in pauses.withLock { $0 += 1 } }, random: { 1 }, now: { 0 }))
    let error = await #expect(throws: ObjectStoreError.self) { try await store.get("x", limit: 1) }
    #expect(error?.description.contains("an http URL may be meant") == true, "\(String(describing: error))")
    #expect(pauses.withLock { $0 } == 0)
  }
}
