import Essentials
import Platform

/// A file that holds a secret.
enum SecretFile {
  /// The maximum size in bytes. A secret is a header's value; a longer file must be another one.
  private static let maximumByteCount = 1 << 16

  /// Reads the secret in a file, without surrounding white space.
  ///
  /// - Throws: `Failure`: 66 for a file that cannot be read, 77 for one that others may read or write, 65 for one that
  ///   contains no text.
  static func read(_ path: String) throws -> String {
    let bytes = try bytes(path)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(.data, "\(path): is no text, so it holds no credentials")
    }
    let secret = text.trimmed
    if secret.isEmpty { throw Failure(.data, "\(path): is empty; write the value of the Authorization header into it") }
    return secret
  }

  /// Reads the contents of a file with a secret.
  ///
  /// - Throws: `Failure`: 66 for a file that cannot be read, 77 for one that others may read or write, 65 for one that
  ///   is too long.
  static func bytes(_ path: String) throws -> [UInt8] {
    let file = try InputFile(path)
    if let mode = file.mode, mode & 0o077 != 0 {
      throw Failure(
        .permission,
        "\(path): others may read or change it (mode \(String(mode & 0o777, radix: 8))), and it holds a secret; run"
          + " 'chmod 600 \(path)'")
    }
    var bytes: [UInt8] = []
    while bytes.count <= maximumByteCount, let piece = try file.next() { bytes += piece }
    guard bytes.count <= maximumByteCount else {
      throw Failure(.data, "\(path): has more than \(maximumByteCount) bytes, so it holds no secret")
    }
    return bytes
  }
}
