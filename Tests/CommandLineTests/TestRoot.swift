import Foundation

/// A root of stores in a temporary directory; the root itself is not made.
final class TestRoot: Sendable {
  let folder: Folder
  let path: String

  init() throws {
    folder = try Folder()
    path = folder.path + "/root"
  }

  /// A root where `u` is signed in, with the answers of these files in the catalogue.
  convenience init(answers: [URL]) throws {
    try self.init()
    let run = try run(["login", "u"])
    guard run.code == 0 else { throw CocoaError(.fileWriteUnknown, userInfo: [NSLocalizedDescriptionKey: run.words]) }
    if !answers.isEmpty { _ = try apply(answers) }
  }

  convenience init(_ answer: URL) throws {
    try self.init(answers: [answer])
  }

  var exists: Bool { FileManager.default.fileExists(atPath: path) }

  func run(_ arguments: [String], input: Data? = nil, shell: String? = nil) throws -> ProgramRun {
    try Program.run(arguments, root: path, input: input, shell: shell)
  }

  func run(_ arguments: String..., input: Data? = nil, shell: String? = nil) throws -> ProgramRun {
    try run(arguments, input: input, shell: shell)
  }

  func apply(_ answers: [URL]) throws -> ProgramRun { try run(["apply"] + answers.map(\.path)) }

  /// Writes a bare payload into a file beside the root.
  func payload(_ payload: Payload, _ name: String = "payload.json") throws -> URL {
    try folder.file(name, payload.json)
  }

  func dump() throws -> Data { try run("dump").output }

  /// The last line of `verify`, which has to be clean.
  func digest() throws -> String {
    let run = try run("verify")
    guard run.code == 0, let line = run.lines.last, line.hasPrefix("digest ") else {
      throw CocoaError(.fileReadCorruptFile, userInfo: [NSLocalizedDescriptionKey: run.words])
    }
    return line
  }

  func cursor() throws -> String? { try run("stat", "--json").object()["cursor"] as? String }
}

/// A server's answer in the making.
struct Payload {
  var products: [String] = []
  var relations: [String] = []
  var cursor = "2026-01-01 00:00:00"

  /// Adds a product of the given id, with further fields as JSON.
  mutating func product(_ id: String, _ fields: String = #""barcode":"""#) {
    products.append(#"{"id":"\#(id)",\#(fields)}"#)
  }

  mutating func relation(_ set: String, _ component: String, _ count: Int = 1) {
    relations.append(
      #"{"id":"\#(set)-\#(component)","productId":"\#(set)","subProductId":"\#(component)","groupNum":\#(count)}"#)
  }

  /// Products `p0`, `p1`, … with a barcode and a name each.
  static func products(_ count: Int, cursor: String = "2026-01-01 00:00:00", name: String = "product") -> Payload {
    var payload = Payload()
    payload.cursor = cursor
    for index in 0..<count {
      payload.product("p\(index)", #""barcode":"c\#(index)","name":"\#(name) \#(index)","delFlag":0"#)
    }
    return payload
  }

  /// The payload without an envelope.
  var json: Data {
    Data(
      """
      {"appProductVOList":[\(products.joined(separator: ","))],\
      "appProductRelVOList":[\(relations.joined(separator: ","))],"updateTime":"\(cursor)"}
      """.utf8)
  }
}

/// The files that other targets' tests have among their resources.
enum Fixture {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  static func url(_ name: String) -> URL {
    tests.appendingPathComponent((name.hasPrefix("wire/") ? "CatalogWireTests" : "CatalogTests") + "/Resources/" + name)
  }

  static func json(_ name: String) throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(contentsOf: url(name)))
    return object as? [String: Any] ?? [:]
  }

  /// The rows of a gzip file of lines, as text.
  static func rows(_ name: String) throws -> [String] {
    try tool("gzip -dc \"$1\"", url(name).path).split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// What a line of shell script with one argument prints.
  static func tool(_ script: String, _ argument: String) throws -> Data {
    let folder = try Folder()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", script, "sh", argument]
    process.standardOutput = try FileHandle(forWritingTo: folder.file("output"))
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.fileReadUnknown) }
    return try Data(contentsOf: folder.url("output"))
  }

  /// The catalogue that the scans and sets of the samples refer to, as a payload.
  static let scanCatalogue = Result {
    var payload = Payload()
    payload.products = try rows("scan-catalogue.ndjson.gz")
    payload.relations = try rows("sample-relations.ndjson.gz")
    return payload
  }
}

/// Parts of the contract that several suites hold against it.
enum Contract {
  /// The keys of a product, sorted.
  static let productKeys = [
    "barcode", "brand", "brandId", "category", "categoryId", "createBy", "createTime", "delFlag", "groupNum", "id",
    "isGreeProduct", "isGroupedProduct", "isMarketingProduct", "isSaleProduct", "length", "name", "orgId", "skuCode",
    "tall", "unit", "updateBy", "updateTime", "volume", "weight", "wide",
  ]
  /// The keys of a relation, sorted.
  static let relationKeys = ["groupNum", "id", "orgId", "productId", "subProductId"]
}

extension [String: Any] {
  var sortedKeys: [String] { keys.sorted() }

  func number(_ key: String) -> Int? { (self[key] as? NSNumber)?.intValue }
  func object(_ key: String) -> [String: Any] { self[key] as? [String: Any] ?? [:] }
  func objects(_ key: String) -> [[String: Any]] { self[key] as? [[String: Any]] ?? [] }
  func text(_ key: String) -> String? { self[key] as? String }
}
