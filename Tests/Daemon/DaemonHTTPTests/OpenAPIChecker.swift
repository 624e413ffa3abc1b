import Catalog
import Foundation
import ScanDaemon
import ScanInputs
import Testing

@testable import DaemonHTTP

/// Holds what a server says against its document.
struct OpenAPIChecker {
  let document: JSONBody
  private let schema: JSONSchema

  /// - Parameter options: of the server whose document it is.
  init(_ options: DaemonServer.Options = DaemonServer.Options()) throws {
    let security = OpenAPIDocument.Security(try DaemonServer.accessControl(options))
    document = try JSONBody(OpenAPIDocument.bytes(security), nestingLimit: 64, valueLimit: .max)
    schema = JSONSchema(document: document)
  }

  /// All operations, as `GET /v1/status`.
  var operations: [String] {
    document["paths"]?.entries.flatMap { path, item in item.entries.keys.map { "\($0.uppercased()) \(path)" } }.sorted()
      ?? []
  }

  /// The operation that a request asks for.
  func operation(_ method: String, _ target: String) -> JSONBody? {
    let segments = target.prefix { $0 != "?" }.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    func fits(_ path: String) -> Bool {
      let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
      return parts.count == segments.count && zip(parts, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
    let found = document["paths"]?.entries.filter { fits($0.key) }.sorted { $0.key < $1.key } ?? []
    // A path's text goes before its parameters: "{" is behind all letters.
    return found.first?.value[method == "HEAD" ? "get" : method.lowercased()]
  }

  /// What is wrong with an answer; empty if it is as the document says.
  func faults(
    _ method: String, _ target: String, status: Int, contentType: String?, body: [UInt8]
  ) -> [String] {
    var response = document.at("#/components/responses/Error")
    if let operation = operation(method, target) {
      response = operation["responses"]?["\(status)"] ?? operation["responses"]?["default"]
      if operation["responses"]?["\(status)"] == nil, status < 400 {
        return ["status \(status) is not in the document"]
      }
    } else if status < 400, method != "OPTIONS" {
      return ["the operation is not in the document"]
    }
    if case .text(let reference)? = response?["$ref"] { response = document.at(reference) }
    guard let response else { return ["there is no response in the document"] }
    if method == "HEAD" || method == "OPTIONS" { return body.isEmpty ? [] : ["\(method) has a body"] }
    guard let content = response["content"] else { return body.isEmpty ? [] : ["there is a body"] }
    let type = contentType.map { String($0.prefix { $0 != ";" }) } ?? ""
    guard let rule = content[type]?["schema"] else { return ["the type \(type) is not in the document"] }
    if type != "application/json" { return [] }
    do {
      return schema.faults(try JSONBody(body, nestingLimit: 64, valueLimit: .max), rule)
    } catch {
      return ["the body is no JSON: \(error)"]
    }
  }

  /// What is wrong with a request's body.
  func faults(_ method: String, _ target: String, requestBody: [UInt8]) -> [String] {
    guard let rule = operation(method, target)?["requestBody"]?["content"]?["application/json"]?["schema"] else {
      return []
    }
    guard let body = try? JSONBody(requestBody) else { return ["the body is no JSON"] }
    return schema.faults(body, rule)
  }

  /// Every example with its schema, and where it stands.
  var examples: [(place: String, example: JSONBody, schema: JSONBody)] {
    var found: [(String, JSONBody, JSONBody)] = []
    func visit(_ value: JSONBody, _ place: String) {
      if let example = value["example"], let schema = value["schema"] { found.append((place, example, schema)) }
      for (name, member) in value.entries where name != "example" { visit(member, "\(place)/\(name)") }
      for (index, element) in value.elements.enumerated() { visit(element, "\(place)/\(index)") }
    }
    visit(document, "")
    for (name, schema) in document.at("#/components/schemas")?.entries ?? [:] {
      if let example = schema["example"] { found.append((name, example, schema)) }
    }
    return found
  }

  func faults(_ example: JSONBody, _ rule: JSONBody) -> [String] { schema.faults(example, rule) }

  /// Every reference in the document.
  var references: Set<String> {
    var found: Set<String> = []
    func visit(_ value: JSONBody) {
      if let reference = value["$ref"]?.text { found.insert(reference) }
      for member in value.entries.values { visit(member) }
      for element in value.elements { visit(element) }
    }
    visit(document)
    return found
  }
}

@Suite struct OpenAPIDocumentTests {
  let checker: OpenAPIChecker

  init() throws { checker = try OpenAPIChecker() }

  @Test func `it is OpenAPI 3.1`() {
    #expect(checker.document["openapi"]?.text == "3.1.0")
    // Wherever the daemon listens.
    #expect(checker.document["servers"]?[0]?["url"]?.text == ".")
    #expect(checker.operations.count > 30)
  }

  @Test func `a token is demanded where one is asked for, and nowhere else`() throws {
    for (host, token, demands) in [
      ("127.0.0.1", nil, []), ("127.0.0.1", "s3cret", ["/v1/status", "/openapi.json"]),
      ("0.0.0.0", "s3cret", ["/v1/status", "/openapi.json", "/metrics"]),
    ] as [(String, String?, Set<String>)] {
      var options = DaemonServer.Options()
      options.address = .host(host, port: 0)
      options.token = token
      let document = try OpenAPIChecker(options).document
      let demand = JSONBody.array([.object(["token": .array([])])])
      #expect(document["security"] == (token == nil ? nil : demand))
      #expect((document.at("#/components/securitySchemes/token") != nil) == (token != nil))
      for path in ["/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/status"] {
        let own = document["paths"]?[path]?["get"]?["security"]
        let asks = (own ?? document["security"] ?? .array([])) != .array([])
        #expect(asks == demands.contains(path), "\(host) \(path)")
        if token == nil { #expect(own == nil, "\(path)") }
      }
    }
  }

  @Test func `webhooks are described, and what they carry`() throws {
    let post = try #require(checker.document["webhooks"]?["scan"]?["post"])
    let names = post["parameters"]?.elements.compactMap { $0["name"]?.text } ?? []
    for name in ["Idempotency-Key", "webhook-id", "webhook-timestamp", "webhook-signature", "User-Agent"] {
      #expect(names.contains(name))
    }
    let rule = try #require(post["requestBody"]?["content"]?["application/json"]?["schema"])
    for reading in [Reading(input: "gate", code: "6901"), Reading(input: "gate", undecoded: [0x36, 0xFF])] {
      let answer = ScanAnswer(
        id: "a", time: Date(), reading: reading, match: try CatalogSnapshot.empty.match(reading.code),
        catalogue: CatalogueAge(user: nil, cursor: "", sequence: 0, currentAt: nil), recording: .durable)
      #expect(checker.faults(try JSONBody(answer.json.bytes), rule) == [])
    }
  }

  @Test func `batches are described, and what their receiver may answer`() throws {
    let post = try #require(checker.document["webhooks"]?["scans"]?["post"])
    let scans = try ["6901", "6902"].map { code in
      let answer = ScanAnswer(
        id: code, time: Date(), reading: Reading(input: "gate", code: code),
        match: try CatalogSnapshot.empty.match(code),
        catalogue: CatalogueAge(user: nil, cursor: "", sequence: 0, currentAt: nil), recording: .durable)
      return String(decoding: answer.json.bytes, as: UTF8.self)
    }
    let content = try #require(post["requestBody"]?["content"])
    let array = try JSONBody(Array("[\(scans.joined(separator: ","))]".utf8))
    let lines = JSONBody.text(scans.map { $0 + "\n" }.joined())
    for (type, right, wrong) in [
      ("application/json", array, lines), ("application/x-ndjson", lines, array),
      ("application/json", array, .array([])), ("application/x-ndjson", lines, .text(scans.joined(separator: "\n"))),
    ] {
      let rule = try #require(content[type]?["schema"])
      #expect(checker.faults(right, rule) == [] && checker.faults(wrong, rule) != [])
    }
    let key = try #require(
      post["parameters"]?.elements.first { $0["name"]?.text == "Idempotency-Key" }?["schema"])
    #expect(checker.faults(.text("batch-" + String(repeating: "0f", count: 16)), key) == [])
    #expect(checker.faults(.text("6901"), key) != [])
    let result = try #require(post["responses"]?["207"]?["content"]?["application/json"]?["schema"])
    for (body, isRight) in [
      (#"{"failed":[]}"#, true), (#"{"failed":[{"id":"6901","status":422,"message":"m"},{"index":1}],"n":1}"#, true),
      (#"{"results":[{"index":0,"status":204},{"id":"6902"}]}"#, true), ("{}", false), ("[]", false),
      (#"{"failed":{}}"#, false), (#"{"failed":[{"status":422}]}"#, false), (#"{"failed":[{"index":-1}]}"#, false),
    ] {
      #expect((checker.faults(try JSONBody(Array(body.utf8)), result) == []) == isRight, "\(body)")
    }
  }

  @Test func `the codes of problems are those of the daemon`() {
    let codes = checker.document.at("#/components/schemas/Problem/properties/code/enum")?.elements.compactMap(\.text)
    #expect(codes == ProblemCode.allCases.map(\.rawValue))
  }

  @Test func `every reference leads somewhere, and every schema is used`() {
    for reference in checker.references { #expect(checker.document.at(reference) != nil, "\(reference)") }
    for name in checker.document.at("#/components/schemas")?.entries.keys.sorted() ?? [] {
      #expect(checker.references.contains("#/components/schemas/\(name)"), "\(name)")
    }
  }

  @Test func `every example is what its schema says`() {
    #expect(checker.examples.count > 30)
    for (place, example, schema) in checker.examples { #expect(checker.faults(example, schema) == [], "\(place)") }
  }

  @Test func `operations have names of their own`() {
    var names: [String] = []
    for item in checker.document["paths"]?.entries.values ?? [:].values {
      for operation in item.entries.values { names.append(operation["operationId"]?.text ?? "") }
    }
    #expect(Set(names).count == names.count)
    #expect(!names.contains(""))
  }

  @Test func `the parameters of a path are those that it names`() {
    for (path, item) in checker.document["paths"]?.entries ?? [:] {
      let named = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { $0.dropFirst().dropLast() }
      for (method, operation) in item.entries {
        let described = operation["parameters"]?.elements.filter { $0["in"]?.text == "path" } ?? []
        #expect(described.compactMap { $0["name"]?.text } == named.map(String.init), "\(method) \(path)")
      }
    }
  }

  @Test func `every integer of a request has a greatest value`() {
    // Without one the document permits numbers beyond 64 bits, which the daemon refuses.
    func visit(_ schema: JSONBody, _ place: String) {
      if let reference = schema["$ref"]?.text { return visit(checker.document.at(reference) ?? .null, reference) }
      if schema["type"]?.text == "integer" { #expect(schema["maximum"] != nil, "\(place)") }
      for (name, member) in schema.entries { visit(member, "\(place)/\(name)") }
      for (index, element) in schema.elements.enumerated() { visit(element, "\(place)/\(index)") }
    }
    for (path, item) in checker.document["paths"]?.entries ?? [:] {
      for (method, operation) in item.entries {
        for part in ["parameters", "requestBody"] {
          if let requested = operation[part] { visit(requested, "\(method) \(path)") }
        }
      }
    }
    let offset = checker.document["paths"]?["/v1/products"]?["get"]?["parameters"]?.elements.first {
      $0["name"]?.text == "offset"
    }
    #expect(offset?["schema"]?["maximum"]?.int == QueryParameters.offsetLimit)
  }

  @Test func `the checker refuses what does not fit`() {
    func faults(_ status: Int, _ body: String, _ type: String? = "application/json") -> [String] {
      checker.faults("GET", "/v1/session", status: status, contentType: type, body: Array(body.utf8))
    }
    #expect(faults(200, #"{"user":null}"#) == [])
    #expect(faults(200, #"{"user":"a"}"#) == [])
    #expect(faults(200, #"{"user":1}"#) != [])
    #expect(faults(200, #"{}"#) != [])
    #expect(faults(200, #"{"user":"a","more":1}"#) != [])
    #expect(faults(201, #"{"user":"a"}"#) != [])
    #expect(faults(200, #"{"user":"a"}"#, "text/plain") != [])
    #expect(faults(418, #"{"error":{"code":"a","message":"b"}}"#) == [])
    #expect(faults(418, #"{"error":{}}"#) != [])
  }
}
