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

  func run(
    _ arguments: [String], input: Data? = nil, shell: String? = nil, variables: [String: String] = [:]
  ) throws -> ProgramRun {
    try Program.run(arguments, root: path, input: input, shell: shell, variables: variables)
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
