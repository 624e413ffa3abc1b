import Essentials
import Platform

/// The root directory of a configuration that is only checked.
enum RootDirectory {
  /// What keeps a directory from being used or created, for people; `nil` if nothing is known to. Creates nothing.
  @Sendable static func obstacle(_ root: String) -> String? {
    var path = root
    while true {
      var status = stat()
      // The structure and the path live during the call.
      if unsafe stat(path, &status) == 0 {
        guard status.st_mode & S_IFMT == S_IFDIR else {
          return path == root ? "is no directory" : "cannot be created: \(path) is no directory"
        }
        // An existing root may belong to the daemon's user, and not to the one who checks.
        if path == root { return nil }
        // The path is a C string for the call.
        if unsafe access(path, W_OK | X_OK) == 0 { return nil }
        return "cannot be created in \(path): \(reason(errno))"
      }
      let code = errno
      let parent = parent(of: path)
      guard code == ENOENT, parent != path else { return "cannot be created: \(reason(code))" }
      path = parent.isEmpty ? "." : parent
    }
  }

  /// The path of the directory that a path is in; empty for a relative path without one.
  private static func parent(of path: String) -> String {
    var rest = path[...]
    while rest.count > 1, rest.hasSuffix("/") { rest.removeLast() }
    guard let slash = rest.lastIndex(of: "/") else { return "" }
    return slash == rest.startIndex ? "/" : String(rest[..<slash])
  }

  private static func reason(_ code: CInt) -> String {
    // A C string that is valid until the next call on this thread.
    unsafe String(cString: strerror(code))
  }
}
