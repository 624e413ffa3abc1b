import Foundation
import Testing

@testable import DaemonProcess

/// A file for one test.
final class TestFile {
  let path: String

  init(_ text: String) throws { path = try Self.write(Data(text.utf8)) }
  init(_ bytes: [UInt8]) throws { path = try Self.write(Data(bytes)) }

  private static func write(_ data: Data) throws -> String {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("catalogd-\(UUID().uuidString).json").path
    try data.write(to: URL(fileURLWithPath: path))
    return path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A folder for one test.
final class TemporaryFolder {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("catalogd-\(UUID().uuidString)").path

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  /// Writes a file that only its owner may read.
  func write(_ text: String, to name: String) throws {
    let file = path + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Reads a configuration with a root, so that the tests say only what they are about.
func configuration(
  _ arguments: [String] = [], environment: [String: String] = [:], file: String? = nil, standardInput: Bool = false
) throws -> DaemonConfiguration {
  var environment = environment
  environment["HOME"] = environment["HOME"] ?? "/home/test"
  return try DaemonConfiguration(
    ConfigurationSources(arguments: arguments, environment: environment, file: file, hasStandardInput: standardInput))
}

/// What is wrong with a configuration, a line each; `FILE` stands for the file's path.
func faults(
  _ arguments: [String] = [], environment: [String: String] = [:], json: String? = nil
) throws -> [String] {
  let file = try json.map { try TestFile($0) }
  do {
    _ = try configuration(arguments, environment: environment, file: file?.path)
    return []
  } catch let error as ConfigurationFaults {
    return error.faults.map { $0.description.replacing(file?.path ?? "FILE", with: "FILE") }
  }
}
