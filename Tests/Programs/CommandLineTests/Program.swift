import Foundation

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
  /// - Parameters:
  ///   - shell: a script for the shell that runs the program as `"$@"`; for limits and redirections.
  ///   - variables: of the environment, besides those of the tester's that do not steer the program.
  static func process(
    _ arguments: [String], root: String, shell: String? = nil, variables: [String: String] = [:]
  ) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: shell == nil ? path : "/bin/sh")
    process.arguments = shell.map { ["-c", $0, "sh", path] + arguments } ?? arguments
    // Nothing of the tester's own settings reaches the program; a fault ends at once, without a search for symbols.
    var environment = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("CATALOG_") && !$0.key.lowercased().hasSuffix("_proxy")
    }
    environment["CATALOG_ROOT"] = root
    environment["SWIFT_BACKTRACE"] = "enable=no"
    process.environment = environment.merging(variables) { $1 }
    return process
  }

  /// Runs the program to its end.
  static func run(
    _ arguments: [String], root: String, input: Data? = nil, shell: String? = nil, variables: [String: String] = [:]
  ) throws -> ProgramRun {
    let folder = try Folder()
    let process = process(arguments, root: root, shell: shell, variables: variables)
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
