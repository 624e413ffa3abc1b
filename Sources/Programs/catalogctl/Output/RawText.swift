import Platform
import TextFormat

/// A check of arguments and environment variables, which the system passes as bytes that need not be valid UTF-8.
///
/// Swift replaces invalid UTF-8 by U+FFFD, so two different ids would become one, and a path would lead elsewhere.
enum RawText {
  /// Environment variables whose values are names, paths or credentials.
  private static let variables = ["CATALOG_ROOT", "XDG_DATA_HOME", "HOME", "CATALOG_AUTHORIZATION"]

  /// - Throws: `Failure` with exit code 64 for the first argument or variable that is not UTF-8.
  static func check() throws {
    for index in 1..<max(1, Int(CommandLine.argc)) {
      // The system passes `argc` strings, which live as long as the process and are not modified.
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { break }
      if let shown = unsafe notText(argument) { throw fault("argument \(index), \(shown),") }
    }
    for variable in variables {
      // The value is valid until the environment changes, which does not happen here.
      guard let value = unsafe getenv(variable) else { continue }
      if unsafe notText(value) != nil { throw fault("$\(variable)") }
    }
  }

  /// The value of an environment variable; `nil` if it is not set.
  ///
  /// This reads one variable, where Foundation makes a dictionary of all of them.
  static func variable(_ name: String) -> String? {
    // The value is valid until the environment changes, which does not happen here.
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  private static func fault(_ what: String) -> Failure {
    Failure(.usage, "\(what) is not valid UTF-8: ids, codes and paths are text; check the encoding of the caller")
  }

  /// A C string that is not UTF-8 in printable form, with non-ASCII bytes as `\xNN`; `nil` if it is UTF-8.
  private static func notText(_ string: UnsafeMutablePointer<CChar>) -> String? {
    // A C string, read up to its terminating zero.
    if unsafe String(validatingCString: string) != nil { return nil }
    var bytes = unsafe UnsafeBufferPointer(start: string, count: strlen(string)).map { UInt8(bitPattern: $0) }
    let isLong = bytes.count > 60
    if isLong { bytes.removeLast(bytes.count - 60) }
    let shown = TerminalText.escaped(bytes: bytes[...], escapesBackslash: false)
    return "\"" + shown + (isLong ? "…" : "") + "\""
  }
}
