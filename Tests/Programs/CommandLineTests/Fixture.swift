import Foundation

/// The files that other targets' tests have among their resources.
enum Fixture {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func url(_ name: String) -> URL {
    let owner = name.hasPrefix("wire/") ? "Server/ServerAnswersTests" : "Catalogue/CatalogTests"
    return tests.appendingPathComponent(owner + "/Resources/" + name)
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
