import Testing

@testable import DaemonHTTP

/// Query parameters and members of bodies that a route does not have.
@Suite(.timeLimit(.minutes(10))) struct UnknownNamesTests {
  /// A target of a path of the document.
  private func target(_ path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).map { $0.hasPrefix("{") ? "x" : $0 }
      .joined(separator: "/")
  }

  @Test func `every route refuses a parameter that it does not have, and one that is given twice`() async throws {
    try await TestDaemon.run { test in
      for (path, item) in test.checker.document["paths"]?.entries ?? [:] {
        for (method, operation) in item.entries {
          let unknown = try await test.exchange(method.uppercased(), target(path) + "?limmit=1", expecting: 400)
          #expect(unknown.text.contains("there is no parameter \\\"limmit\\\""), "\(method) \(path): \(unknown.text)")
          for parameter in operation["parameters"]?.elements ?? [] where parameter["in"]?.text == "query" {
            let name = parameter["name"]?.text ?? ""
            let twice = try await test.exchange(
              method.uppercased(), target(path) + "?\(name)=1&\(name)=1", expecting: 400)
            #expect(twice.text.contains("the parameter \(name) is given twice"), "\(method) \(path): \(twice.text)")
          }
        }
      }
      // What a route is, is said only to those who may use it.
      try await test.exchange("GET", "/v1/nothing?limmit=1", expecting: 404)
      try await test.exchange("PUT", "/v1/status?limmit=1", expecting: 405)
      #expect(try await test.exchange("HEAD", "/v1/status?x", expecting: 400).body.isEmpty)
    }
  }

  @Test func `the parameters and members of a route are those of the document`() async throws {
    try await TestDaemon.run { test in
      for route in DaemonAPI(daemon: test.daemon, metrics: nil, accessControl: try DaemonServer.accessControl(.init()))
        .routes
      {
        let operation = test.checker.operation(route.method.rawValue, route.path)
        let described = operation?["parameters"]?.elements.filter { $0["in"]?.text == "query" } ?? []
        #expect(Set(described.compactMap { $0["name"]?.text }) == Set(route.parameters), "\(route.path)")
        let body = operation?["requestBody"]?["content"]?["application/json"]?["schema"]?["$ref"]?.text
        #expect((body != nil) == (route.body != .none), "\(route.path)")
        guard let schema = body.flatMap({ test.checker.document.at($0) }), let members = route.members else { continue }
        for form in schema["oneOf"]?.elements ?? [schema] {
          #expect(form["additionalProperties"] == .bool(false), "\(route.path)")
          #expect(form["properties"]?.entries.keys.sorted() == members.sorted(), "\(route.path)")
        }
      }
    }
  }

  @Test func `a member that a body does not have is refused by its name`() async throws {
    try await TestDaemon.run { test in
      for (path, body, message) in [
        ("/v1/queue/retry", #"{"state":["parked"]}"#, "no member \\\"state\\\"; there is states"),
        ("/v1/sync", #"{"full":null,"fulll":true}"#, "no member \\\"fulll\\\"; there is full"),
        ("/v1/sessions", #"{"nam":"x"}"#, "no member \\\"nam\\\"; there are name, input"),
        ("/v1/sessions/x/scans", #"{"code":"1","tag":"2"}"#, "no member \\\"tag\\\"; there are code, codes"),
        ("/v1/session", #"{"user":"ana","":null}"#, "no member \\\"\\\"; there is user"),
      ] {
        let refused = try await test.exchange("POST", path, body, expecting: 400)
        #expect(refused.errorCode == "badRequest" && refused.text.contains(message), "\(path): \(refused.text)")
        #expect(test.checker.faults("POST", path, requestBody: Array(body.utf8)) != [], "\(path)")
      }
      let user = try await test.exchange("GET", "/v1/session").json["user"]
      #expect(user == .text("ana"))
      try await test.exchange("POST", "/v1/scans", #"{"code":"1","operator":"7"}"#)
    }
  }
}
