import Foundation

/// What a run of the program left behind.
struct ProgramRun {
  /// The exit code, or 128 and the signal's number.
  var code: Int32
  var output: Data
  /// Standard error.
  var words: String

  /// Standard output as text.
  var text: String { String(decoding: output, as: UTF8.self) }
  /// The lines of standard output. A line feed ends each; what else Unicode takes for a line's end does not.
  var lines: [String] {
    var parts = output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if parts.last?.isEmpty == true { parts.removeLast() }
    return parts.map { String(decoding: $0, as: UTF8.self) }
  }
  /// Whether the program ended by its own decision and in its own words.
  var isOrderly: Bool {
    code < 128 && !["Fatal error", "crashed", "Backtrac", "NSCocoa"].contains { words.contains($0) }
  }

  /// Standard output as JSON objects, one a line.
  func objects() throws -> [[String: Any]] {
    try output.split(separator: UInt8(ascii: "\n")).map { line in
      guard let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] else {
        throw CocoaError(.coderReadCorrupt)
      }
      return object
    }
  }

  /// Standard output as the one JSON object that it has to be.
  func object() throws -> [String: Any] {
    let objects = try objects()
    guard objects.count == 1, output.last == UInt8(ascii: "\n") else { throw CocoaError(.coderReadCorrupt) }
    return objects[0]
  }
}

/// The program under test, run as another program would run it.
enum Program {
  /// `$SHELFMARK_CATALOGCTL`, else the product that was built beside the tests.
  static let path: String = {
    if let path = ProcessInfo.processInfo.environment["SHELFMARK_CATALOGCTL"], !path.isEmpty { return path }
    let runner = URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).resolvingSymlinksInPath()
    return runner.deletingLastPathComponent().appendingPathComponent("catalogctl").path
  }()

  /// A process that has not begun.
  ///
  /// - Parameter shell: a script for the shell that runs the program as `"$@"`; for limits and redirections.
  static func process(_ arguments: [String], root: String, shell: String? = nil) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: shell == nil ? path : "/bin/sh")
    process.arguments = shell.map { ["-c", $0, "sh", path] + arguments } ?? arguments
    // Nothing of the tester's own settings reaches the program; a fault ends at once, without a search for symbols.
    var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("CATALOG_") }
    environment["CATALOG_ROOT"] = root
    environment["SWIFT_BACKTRACE"] = "enable=no"
    process.environment = environment
    return process
  }

  /// Runs the program to its end.
  static func run(
    _ arguments: [String], root: String, input: Data? = nil, shell: String? = nil
  ) throws -> ProgramRun {
    let folder = try Folder()
    let process = process(arguments, root: root, shell: shell)
    process.standardInput = try input.map { try FileHandle(forReadingFrom: folder.file("input", $0)) } ?? .nullDevice
    // Files, not pipes: nobody has to read while the program runs.
    process.standardOutput = try FileHandle(forWritingTo: folder.file("output"))
    process.standardError = try FileHandle(forWritingTo: folder.file("words"))
    try process.run()
    process.waitUntilExit()
    return ProgramRun(
      code: (process.terminationReason == .exit ? 0 : 128) + process.terminationStatus,
      output: try Data(contentsOf: folder.url("output")),
      words: String(decoding: try Data(contentsOf: folder.url("words")), as: UTF8.self))
  }
}

/// A temporary directory that goes with its last reference.
final class Folder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/shelfmark-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func url(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }

  /// Writes a file, or writes it over.
  func file(_ name: String, _ contents: Data = Data()) throws -> URL {
    try contents.write(to: url(name))
    return url(name)
  }

  /// Every path below, relative, with its mode; links are not followed.
  func modes() throws -> [String: Int] {
    var modes: [String: Int] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
      let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
      modes[name] = (attributes[.posixPermissions] as? NSNumber)?.intValue
    }
    return modes
  }
}

/// A program that runs on while the test talks to it.
final class Conversation {
  let process: Process
  private let input = Pipe()
  private let output = Pipe()
  private var rest = Data()

  init(_ arguments: [String], root: String) throws {
    process = Program.process(arguments, root: root)
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  deinit { if process.isRunning { process.terminate() } }

  func say(_ text: String) throws { try input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }

  /// Ends the program's standard input.
  func hangUp() throws { try input.fileHandleForWriting.close() }

  /// The next line of standard output; `nil` at its end.
  func line() -> String? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest = rest[(end + 1)...] }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      let piece = output.fileHandleForReading.availableData
      if piece.isEmpty { return nil }
      rest += piece
    }
  }

  /// The exit code, or 128 and the signal's number.
  func end() -> Int32 {
    process.waitUntilExit()
    return (process.terminationReason == .exit ? 0 : 128) + process.terminationStatus
  }
}
