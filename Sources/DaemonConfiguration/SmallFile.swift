import Foundation

/// A file that is read whole.
enum SmallFile {
  struct Problem: Error, CustomStringConvertible {
    let description: String
    /// Whether the system does not let it be read, as opposed to what stands in it.
    let isUnreadable: Bool
  }

  static func read(_ path: String, limit: Int) -> Result<[UInt8], Problem> {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      return .failure(Problem(description: "this is no path", isUnreadable: true))
    }
    do {
      // Pipes are files, too; a device that never ends is cut by the limit.
      let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      defer { try? handle.close() }
      let data = try handle.read(upToCount: limit + 1) ?? Data()
      guard data.count <= limit else {
        return .failure(Problem(description: "the file has more than \(limit) bytes", isUnreadable: false))
      }
      return .success(Array(data))
    } catch {
      return .failure(Problem(description: "the file cannot be read: \(reason(error))", isUnreadable: true))
    }
  }

  private static func reason(_ error: any Error) -> String {
    let error = error as NSError
    if let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError { return reason(cause) }
    guard error.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
    // The C library's text for a number, which lives until the next call of this thread, and is copied.
    return unsafe String(cString: strerror(Int32(error.code)))
  }

  /// A secret in a file: its text without the white space around it.
  static func secret(_ path: String) -> Result<String, Problem> {
    read(path, limit: 65_536).flatMap { bytes in
      guard let text = String(validating: bytes, as: UTF8.self) else {
        return .failure(Problem(description: "the file is no text", isUnreadable: false))
      }
      let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
      guard !secret.isEmpty else {
        return .failure(Problem(description: "the file holds nothing", isUnreadable: false))
      }
      return .success(secret)
    }
  }
}
