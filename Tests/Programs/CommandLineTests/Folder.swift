import Foundation

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

  /// Writes a file that its owner alone may read, and returns its path.
  func secret(_ name: String, _ contents: Data) throws -> String {
    let path = try file(name, contents).path
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    return path
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
