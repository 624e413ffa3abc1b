import Bytes
import CStorage
import Platform

/// The process that holds a lock, as it describes itself in the lock file.
///
/// The operating system does not tell who holds the lock of an open file, and it knows no process of another container.
/// So the holder writes one line into the lock file after it has taken the lock:
///
///     process 4242 (catalogd) on till-7, PID namespace 4026531836
///
/// The line is only read by a process that did not get the lock.
package struct LockHolder: Equatable, Sendable {
  /// The process id, in its own PID namespace.
  package var process: Int32
  /// The name of the program.
  package var program: String
  /// The name of the host, which for a container is usually its id.
  package var host: String
  /// The number of the PID namespace; 0 on systems without them.
  package var namespace: UInt64

  /// The greatest length of a line, including its line feed.
  package static let lineLimit = 256

  /// This process.
  package static var current: LockHolder {
    let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? ""
    return LockHolder(
      process: getpid(), program: plain(program, 64) ?? "a program", host: plain(hostName, 64) ?? "an unnamed host",
      namespace: shelfmark_process_namespace())
  }

  /// The line in the lock file, without its line feed.
  package var line: String { "\(self), PID namespace \(namespace)" }

  package init(process: Int32, program: String, host: String, namespace: UInt64) {
    self.process = process
    self.program = program
    self.host = host
    self.namespace = namespace
  }

  /// Reads the first line of a lock file; `nil` if it is not such a line.
  package init?(_ bytes: [UInt8]) {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")), bytes[..<end].allSatisfy({ 0x20..<0x7F ~= $0 }) else {
      return nil
    }
    var rest = Substring(String(decoding: bytes[..<end], as: UTF8.self))
    func take(_ prefix: String, upTo mark: String) -> Substring? {
      guard rest.hasPrefix(prefix) else { return nil }
      rest = rest.dropFirst(prefix.count)
      var found = rest.startIndex
      while found < rest.endIndex, !rest[found...].hasPrefix(mark) { found = rest.index(after: found) }
      if found == rest.endIndex { return nil }
      defer { rest = rest[found...] }
      return rest[..<found]
    }
    guard let process = take("process ", upTo: " (").flatMap({ Int32($0) }), process > 0,
      let program = take(" (", upTo: ") on "), let host = take(") on ", upTo: ", PID namespace "),
      let namespace = UInt64(rest.dropFirst(", PID namespace ".count))
    else { return nil }
    self.init(process: process, program: String(program), host: String(host), namespace: namespace)
  }

  /// Whether the process has certainly ended: it belongs to this PID namespace of this host, and no process has its
  /// number. Then somebody else holds the lock who wrote no line, such as a program of an earlier version.
  package var hasEnded: Bool {
    let own = Self.current
    guard namespace == own.namespace, host == own.host else { return false }
    return kill(process, 0) != 0 && errno == ESRCH
  }

  private static var hostName: String {
    var bytes = [CChar](repeating: 0, count: 256)
    // The call fills in at most the given number of bytes, including a zero.
    let result = unsafe bytes.withUnsafeMutableBufferPointer { unsafe gethostname($0.baseAddress!, $0.count - 1) }
    return result == 0 ? String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
  }

  /// Returns a name as the line can have it: printable ASCII without brackets and commas; `nil` if nothing is left.
  private static func plain(_ name: String, _ limit: Int) -> String? {
    let bytes = name.utf8.map { byte in
      0x21..<0x7F ~= byte && !"(),".utf8.contains(byte) ? byte : UInt8(ascii: "_")
    }
    return bytes.isEmpty ? nil : String(decoding: bytes.prefix(limit), as: UTF8.self)
  }
}

extension LockHolder: CustomStringConvertible {
  /// The process, its program and its host, for people.
  package var description: String { "process \(process) (\(program)) on \(host)" }
}
