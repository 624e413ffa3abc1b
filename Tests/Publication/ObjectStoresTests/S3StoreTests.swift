import Platform
import StoreTestSupport
import Synchronization
import Testing

@testable import ObjectStores

@Suite struct S3StoreTests {
  private static let type = ObjectType(mediaType: "application/json", cacheControl: "max-age=60")
  private typealias Server = ScriptedStore

  /// The pauses between attempts.
  private final class Pauses: Sendable {
    let all = Mutex<[Duration]>([])
  }

  private func store(
    _ port: Int, prefix: String = "a/b", pauses: Pauses = Pauses(), token: String? = nil
  ) throws -> S3Store {
    let credentials = S3Credentials(accessKey: "AKID", secret: "s3cr:et", sessionToken: token)
    return try S3Store(
      S3Location(bucket: "shop", prefix: prefix), options: S3Options(endpoint: "http://127.0.0.1:\(port)"),
      environment: [:], credentials: S3CredentialSource(credentials),
      timing: S3Timing(
        sleep: { pause in pauses.all.withLock { $0.append(pause) } }, random: { 1 }, now: { 1_795_860_000 }))
  }

  @Test func `a request is signed with all of its headers, and with nothing that is not sent`() async throws {
    try await Server.run { _, _ in
      Server.answer(200, headers: ["ETag: \"v1\""])
    } _: { server in
      let store = try store(server.port, token: "t0ken")
      #expect(
        try await store.put("head.json", Array("hello".utf8), .ifAbsent, Self.type) == .written(version: "\"v1\""))
      let request = server.requests[0]
      #expect(request.line == "PUT /shop/a/b/head.json HTTP/1.1")
      #expect(request.body == Array("hello".utf8))
      let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
      #expect(request["x-amz-content-sha256"] == hash)
      #expect(request["x-amz-security-token"] == "t0ken")
      #expect(request["If-None-Match"] == "*")
      #expect(request["Content-Type"] == "application/json")
      #expect(request["Cache-Control"] == "max-age=60")
      let authorization = request["Authorization"] ?? ""
      #expect(authorization.hasPrefix("AWS4-HMAC-SHA256 Credential=AKID/"))
      #expect(authorization.contains("/us-east-1/s3/aws4_request"))
      let signed = "SignedHeaders=cache-control;content-type;host;if-none-match;x-amz-content-sha256;x-amz-date;"
      #expect(authorization.contains(signed + "x-amz-security-token"), "\(authorization)")
      #expect(!request.head.contains("s3cr"))
    }
  }

  @Test func `objects are read, looked for and deleted`() async throws {
    try await Server.run { _, request in
      switch request.line {
      case "GET /shop/x HTTP/1.1": Server.answer(200, headers: ["ETag: W/\"v2\""], body: "hello")
      case "DELETE /shop/x HTTP/1.1": Server.answer(204)
      case "HEAD /shop/x HTTP/1.1": "HTTP/1.1 200 X\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"
      case _ where request.method == "HEAD": "HTTP/1.1 404 X\r\nContent-Length: 50\r\nConnection: close\r\n\r\n"
      default: Server.refusal(404, "NoSuchKey")
      }
    } _: { server in
      let store = try store(server.port, prefix: "")
      #expect(
        try await store.get("x", limit: 5) == StoredObject(bytes: Array("hello".utf8), version: "\"v2\""))
      await #expect(throws: ObjectStoreError.tooLarge(store: "s3://shop", name: "x", limit: 4)) {
        try await store.get("x", limit: 4)
      }
      #expect(try await store.get("y", limit: 5) == nil)
      #expect(try await store.exists("x"))
      #expect(try await !store.exists("y"))
      try await store.delete("x")
      try await store.delete("y")
    }
  }

  @Test(
    arguments: [
      (412, "PreconditionFailed", PutCondition.ifAbsent), (412, "PreconditionFailed", .ifVersion("\"v\"")),
      (404, "NoSuchKey", .ifVersion("\"v\"")), (409, "ConditionalRequestConflict", .ifAbsent),
      (409, "ConditionalRequestConflict", .ifVersion("\"v\"")),
    ])
  func `a condition that does not hold is a result`(status: Int, code: String, condition: PutCondition) async throws {
    try await Server.run { _, _ in
      Server.refusal(status, code)
    } _: { server in
      let result = try await store(server.port).put("x", [1], condition, Self.type)
      #expect(result == .preconditionFailed)
      #expect(server.requests.count == (status == 409 ? 5 : 1))
      let sent = server.requests[0]
      if case .ifVersion(let version) = condition { #expect(sent["If-Match"] == version) }
    }
  }

  @Test func `what may pass is repeated, with longer and longer pauses, and no sooner than the server wants`()
    async throws
  {
    let pauses = Pauses()
    try await Server.run { number, _ in
      switch number {
      case 0: nil
      case 1: Server.refusal(503, "SlowDown")
      case 2: Server.refusal(429, "SlowDown", headers: ["Retry-After: 7"])
      case 3: Server.refusal(400, "RequestTimeout", headers: ["Retry-After: 100000"])
      default: Server.answer(200, headers: ["ETag: \"v\""])
      }
    } _: { server in
      let result = try await store(server.port, pauses: pauses).put("x", [1], .none, Self.type)
      #expect(result == .written(version: "\"v\""))
    }
    #expect(pauses.all.withLock { $0 } == [.milliseconds(500), .seconds(1), .seconds(7), .seconds(60)])
  }

  @Test func `after five attempts the last reason is the error`() async throws {
    try await Server.run { _, _ in
      nil
    } _: { server in
      let error = await #expect(throws: ObjectStoreError.self) { try await store(server.port).get("x", limit: 1) }
      #expect(
        error?.description == "s3://shop/a/b: no answer: 127.0.0.1:\(server.port): closed without an answer")
      #expect(error?.exitStatus == .unavailable)
      #expect(server.requests.count == 5)
    }
    try await Server.run { _, _ in
      Server.refusal(503, "SlowDown", "Please reduce &lt;it&gt;\u{7}")
    } _: { server in
      let error = await #expect(throws: ObjectStoreError.self) { try await store(server.port).get("x", limit: 1) }
      let expected = "the server refuses the request for x (status 503, SlowDown: Please reduce <it> )"
      #expect(error?.description == "s3://shop/a/b: " + expected)
      #expect(server.requests.count == 5)
    }
  }

  @Test(arguments: ["mine", "your", "theirs", nil] as [String?])
  func `a write whose answer was lost is recognised by its bytes`(stored: String?) async throws {
    try await Server.run { number, request in
      switch (number, request.method) {
      case (0, _): nil
      case (_, "PUT"): Server.refusal(412, "PreconditionFailed")
      default:
        stored.map { Server.answer(200, headers: ["ETag: \"v\""], body: $0) } ?? Server.refusal(404, "NoSuchKey")
      }
    } _: { server in
      let result = try await store(server.port).put("x", Array("mine".utf8), .ifVersion("\"u\""), Self.type)
      #expect(result == (stored == "mine" ? .written(version: "\"v\"") : .preconditionFailed))
    }
  }

  @Test func `a refusal says which key, which bucket, and what the server says`() async throws {
    let skewed = Server.refusal(403, "RequestTimeTooSkewed", "The difference is too large.")
    for (answer, words, status) in [
      (
        Server.refusal(403, "AccessDenied", "Access Denied"),
        ["s3://shop/a/b", "the key AKID", "x", "status 403, AccessDenied: Access Denied", "s3:PutObject"], .permission
      ),
      (Server.refusal(403, "SignatureDoesNotMatch"), ["AKID", "AWS_SECRET_ACCESS_KEY"], .permission),
      (Server.refusal(403, "InvalidAccessKeyId"), ["AKID", "AWS_ACCESS_KEY_ID"], .permission),
      (Server.refusal(400, "ExpiredToken"), ["AWS_SESSION_TOKEN"], .permission),
      (skewed, ["the clock of this machine is wrong", "set the clock"], .unavailable),
      (
        Server.refusal(404, "NoSuchBucket"), ["there is no bucket 'shop' at 127.0.0.1", "create it"], .unavailable
      ),
      (
        Server.answer(301, headers: ["x-amz-bucket-region: eu-west-3"]),
        ["the region eu-west-3, not in us-east-1", "AWS_REGION=eu-west-3"], .unavailable
      ),
      (
        Server.answer(
          400, body: "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>"),
        ["AWS_REGION=eu-west-1"], .unavailable
      ),
      (Server.answer(302), ["status 302"], .unavailable),
      (Server.answer(418, body: "<html>"), ["status 418"], .unavailable),
    ] as [(String, [String], Platform.ExitStatus)] {
      try await Server.run { _, _ in
        answer
      } _: { server in
        let store = try store(server.port)
        for request in ["PUT", "GET", "DELETE"] {
          let error = await #expect(throws: ObjectStoreError.self) {
            switch request {
            case "PUT": _ = try await store.put("x", [1], .none, Self.type)
            case "GET": _ = try await store.get("x", limit: 1)
            default: try await store.delete("x")
            }
          }
          let text = error?.description ?? ""
          for word in words { #expect(text.contains(word), "\(text)") }
          #expect(!text.contains("s3cr"))
          #expect(error?.exitStatus == status)
        }
      }
    }
  }

  @Test func `the probe tells stores apart, and leaves nothing`() async throws {
    let stored = { @Sendable in Server.answer(200, headers: ["ETag: \"v\""]) }
    let kinds: [(ConditionalWrites, @Sendable (Int, Server.Request) -> String)] = [
      (.honoured, { number, _ in number == 1 || number == 2 ? Server.refusal(412, "PreconditionFailed") : stored() }),
      (.ignored, { _, _ in stored() }),
      (.ignored, { number, _ in number == 1 ? Server.refusal(412, "PreconditionFailed") : stored() }),
      (.refused, { _, _ in Server.refusal(501, "NotImplemented") }),
      (.refused, { _, _ in Server.refusal(400, "NotImplemented") }),
      (.refused, { number, _ in number > 0 ? Server.refusal(412, "PreconditionFailed") : stored() }),
      (.refused, { _, _ in Server.refusal(412, "PreconditionFailed") }),
    ]
    for (expected, script) in kinds {
      try await Server.run { number, request in
        request.method == "DELETE" ? Server.answer(204) : script(number, request)
      } _: { server in
        let found = try await store(server.port).probeConditions()
        #expect(found == expected)
        let requests = server.requests
        #expect(requests[0].line.hasPrefix("PUT /shop/a/b/probe/"))
        #expect(requests.last?.line == requests[0].line.replacing("PUT", with: "DELETE"))
      }
    }
    try await Server.run { _, _ in
      Server.refusal(403, "AccessDenied")
    } _: { server in
      _ = await #expect(throws: ObjectStoreError.self) { try await store(server.port).probeConditions() }
    }
  }

  @Test func `a session that has ended is renewed once`() async throws {
    let folder = try TemporaryDirectory()
    let json = #"{"Version":1,"AccessKeyId":"P","SecretAccessKey":"Q","Expiration":"9999-01-01T00:00:00Z"}"#
    try folder.write(Array("[default]\ncredential_process = echo '\(json)'\n".utf8), to: "credentials")
    let environment = [
      "AWS_SHARED_CREDENTIALS_FILE": folder.path + "/credentials", "PATH": "/usr/bin:/bin", "HOME": folder.path,
    ]
    for (failures, requests) in [(1, 2), (9, 2)] {
      try await Server.run { number, _ in
        number < failures
          ? Server.refusal(400, "ExpiredToken") : Server.answer(200, headers: ["ETag: \"v\""], body: "x")
      } _: { server in
        let store = try S3Store(
          S3Location(bucket: "shop"), options: S3Options(endpoint: "http://127.0.0.1:\(server.port)"),
          environment: environment)
        let found = try? await store.get("x", limit: 1)
        #expect((found == nil) == (failures > 1))
        #expect(server.requests.count == requests)
      }
    }
  }
}
