import Foundation
import Storage

/// A directory that goes with its last reference, and everything in it.
package final class TemporaryDirectory: Sendable {
  package let path: String
  package let directory: PosixDirectory

  package init() throws {
    path = FileManager.default.temporaryDirectory.path + "/shelfmark-\(UUID().uuidString)"
    directory = try PosixDirectory.create(path)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The bytes of a file.
  package func contents(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
  }

  /// Writes a file, or writes it over.
  package func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name))
  }
}
