#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A program that ran to its end.
package struct Subprocess {
  package var output: [UInt8]
  /// Seconds from start to end.
  package var wall: Double
  /// Seconds of processor time, those of its own children included.
  package var processor: Double

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Runs a program that is looked for in PATH, and takes what it writes to standard output.
  ///
  /// - Throws: ``Failure`` if it does not end with 0.
  package static func run(_ arguments: [String]) throws -> Subprocess {
    var ends: [Int32] = [0, 0]
    // The call fills both elements.
    guard unsafe pipe(&ends) == 0 else { throw SystemError("pipe", arguments[0]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    let start = Elapsed.now()
    let process: pid_t
    do {
      defer { close(ends[1]) }
      process = try spawn(arguments, output: ends[1])
    }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      // The buffer is alive during the call.
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(ends[0], $0.baseAddress!, $0.count) }
      if count <= 0 { break }
      output += buffer[..<count]
    }
    var status: Int32 = 0
    var usage = rusage()
    // The call fills the local structures.
    unsafe wait4(process, &status, 0, &usage)
    guard status == 0 else { throw Failure(description: "\(arguments.joined(separator: " ")): status \(status)") }
    return Subprocess(
      output: output, wall: (Elapsed.now().wall - start.wall) / 1e9,
      processor: seconds(usage.ru_utime) + seconds(usage.ru_stime))
  }

  /// The argument that tells this program that it is a child of itself.
  package static let childMarker = "--child"

  /// Runs this program again for a job in a process of its own, and returns the line that it prints.
  package static func child(_ arguments: [String]) throws -> String {
    let process = try run(["/proc/self/exe", childMarker] + arguments)
    return String(decoding: process.output.prefix { $0 != 0x0A }, as: UTF8.self)
  }

  private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

  private static func spawn(_ arguments: [String], output: Int32) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    // The structures and copied strings live until the call has returned.
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { unsafe pointers.forEach { unsafe free($0) } }
    var process: pid_t = 0
    let code = unsafe posix_spawnp(&process, arguments[0], &actions, nil, pointers, environ)
    guard code == 0 else { throw Failure(description: "\(arguments[0]) cannot be started: error \(code)") }
    return process
  }
}
