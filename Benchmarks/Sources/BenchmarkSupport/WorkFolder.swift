#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The directory that a run works in.
package struct WorkFolder {
  package let path: String
  package let isKept: Bool

  /// - Parameters:
  ///   - name: begins the name of a directory that goes with the run.
  ///   - kept: a directory that stays; it is made if it is missing.
  package init(_ name: String, keeping kept: String?) throws {
    if let kept {
      _ = unsafe mkdir(kept, 0o700)
      path = kept
      isKept = true
    } else {
      path = "\(Self.temporary)/\(name).\(getpid())"
      guard unsafe mkdir(path, 0o700) == 0 else { throw SystemError("create directory", path) }
      isKept = false
    }
  }

  private static var temporary: String {
    // The text is copied at once.
    unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
  }

  /// A new directory inside that was not there before.
  package func scratch(_ name: String) throws -> String {
    let path = "\(path)/\(name).\(getpid())"
    _ = try Subprocess.run(["rm", "-rf", path])
    guard unsafe mkdir(path, 0o700) == 0 else { throw SystemError("create directory", path) }
    return path
  }

  package func remove() {
    if !isKept { _ = try? Subprocess.run(["rm", "-rf", path]) }
  }
}
