import Platform

/// Messages for people outside the log.
enum DaemonConsole {
  /// Writes a line to standard error. An error is ignored, because it cannot be reported.
  static func say(_ line: String) { try? write("catalogd: \(line)\n", to: 2) }

  /// Writes text to standard output.
  ///
  /// - Returns: The exit code.
  static func print(_ text: String) -> Int32 {
    do {
      try write(text, to: 1)
      return 0
    } catch {
      say("cannot write to the standard output: \(error.reason)")
      return ExitStatus.io.rawValue
    }
  }

  private static func write(_ text: String, to descriptor: Int32) throws(StorageError) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      // The bytes are lent for the call.
      let count = retrying { unsafe rest.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) } }
      if count < 0 { throw StorageError(operation: "write", path: "the standard output", code: errno) }
      rest = rest.dropFirst(count)
    }
  }
}

/// The function of the C library, whose name the method has too.
private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, buffer, count)
}
