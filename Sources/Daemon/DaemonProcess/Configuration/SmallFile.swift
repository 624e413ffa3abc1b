import Essentials
import Platform
import TextFormat

/// A reader of small files.
enum SmallFile {
  struct Problem: Error, CustomStringConvertible {
    let description: String
    /// Whether the system denies reading the file, as opposed to a problem with its contents.
    let isUnreadable: Bool
  }

  /// - Parameter isPrivate: Whether to refuse a file that others may read or change.
  static func read(_ path: String, limit: Int, isPrivate: Bool = false) -> Result<[UInt8], Problem> {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      return .failure(Problem(description: "this is no path", isUnreadable: true))
    }
    do {
      // A pipe is a valid file as well. The limit bounds reading from an endless device.
      let file = try SequentialFile(path)
      if isPrivate, let problem = publicity(file.descriptor, path) { return .failure(problem) }
      let bytes = try file.readAll(limit: limit + 1)
      guard bytes.count <= limit else {
        return .failure(Problem(description: "the file has more than \(limit) bytes", isUnreadable: false))
      }
      return .success(bytes)
    } catch {
      return .failure(Problem(description: "the file cannot be read: \(error.reason)", isUnreadable: true))
    }
  }

  /// Why a file is not private enough for a secret; `nil` if only its owner may read it. A file that systemd passes to
  /// a service (`LoadCredential`) has an access control list, which looks like group permissions.
  private static func publicity(_ descriptor: Int32, _ path: String) -> Problem? {
    var status = stat()
    // The call fills the local structure.
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let directory = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"] ?? ""
    let isCredential = !directory.isEmpty && path.hasPrefix(directory + "/")
    let mode = status.st_mode & (isCredential ? 0o037 : 0o077)
    if mode == 0 { return nil }
    let shown = String(status.st_mode & 0o777, radix: 8)
    return Problem(
      description: "others may read or change the file (mode \(shown)), and it holds a secret; run 'chmod 600' on it",
      isUnreadable: false)
  }

  /// The secret in a file: its text without surrounding white space.
  static func secret(_ path: String) -> Result<String, Problem> {
    read(path, limit: 65_536).flatMap { bytes in
      guard let text = String(validating: bytes, as: UTF8.self) else {
        return .failure(Problem(description: "the file is no text", isUnreadable: false))
      }
      let secret = text.trimmed
      guard !secret.isEmpty else {
        return .failure(Problem(description: "the file holds nothing", isUnreadable: false))
      }
      return .success(secret)
    }
  }
}
