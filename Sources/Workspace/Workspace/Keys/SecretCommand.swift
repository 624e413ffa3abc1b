import Platform
import Sealing

/// A command that prints a key, such as one that asks a key management service.
enum SecretCommand {
  /// How long a command may take.
  static let timeout = Duration.seconds(30)
  /// The longest output in bytes. A key takes 65 at most.
  private static let limit = 1024

  /// Runs a command by `sh -c`, without input, and returns the key that it prints, with its lease. Its standard error is that of this
  /// process. The output is kept nowhere, and is in no error.
  ///
  /// - Throws: `KeyError.command`, `.noKeyInside`, `.system`.
  static func answer(of command: String, timeout: Duration = timeout) throws(KeyError) -> KeyAnswer {
    var output = [UInt8](repeating: 0, count: limit)
    defer { SecretBytes.wipe(&output) }
    let count = try run(command, timeout: timeout, into: &output)
    let (keyCount, days) = lease(in: output[..<count])
    guard var key = key(in: output[..<keyCount]) else {
      throw .noKeyInside(
        name: "the key command",
        reason: "it printed no key: 32 bytes, 64 hexadecimal digits, or 32 bytes in base64; a line 'days N', with N"
          + " from 1 to 3650, may follow")
    }
    defer { SecretBytes.wipe(&key) }
    do throws(SealingError) {
      return KeyAnswer(material: .raw(try SecretBytes(copying: key)), lease: days.map { .seconds($0 * 86_400) })
    } catch { throw KeyError(error) }
  }

  /// The longest lease in days.
  private static let longestLease = 3650

  /// The number of bytes before a last line `days N`, with N from 1 to 3650, and that number. Without such a line, all
  /// bytes and `nil`.
  static func lease(in output: ArraySlice<UInt8>) -> (count: Int, days: Int?) {
    // The bytes of a key alone may look like anything.
    if output.count <= 33 { return (output.count, nil) }
    var line = output
    while let last = line.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { line = line.dropLast() }
    guard let end = line.lastIndex(of: UInt8(ascii: "\n")) else { return (output.count, nil) }
    let words = line[(end + 1)...].split(separator: UInt8(ascii: " "))
    guard words.count == 2, words[0].elementsEqual("days".utf8), 1...4 ~= words[1].count else {
      return (output.count, nil)
    }
    var days = 0
    for digit in words[1] {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return (output.count, nil) }
      days = days * 10 + Int(digit - UInt8(ascii: "0"))
    }
    guard 1...longestLease ~= days else { return (output.count, nil) }
    return (end + 1 - output.startIndex, days)
  }

  /// The 32 bytes of a key; `nil` if the output has none. A line feed may follow it.
  static func key(in output: ArraySlice<UInt8>) -> [UInt8]? {
    let isLineEnded = output.last == UInt8(ascii: "\n")
    switch output.count {
    case 32: return Array(output)
    case 33 where isLineEnded: return Array(output.dropLast())
    default: break
    }
    var text = output
    while let last = text.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { text = text.dropLast() }
    return text.count == 64 ? hexadecimal(text) : base64(text)
  }

  // No text is made of a secret: it would stay in memory.

  private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    decoded(digits, bits: 4) { digit in
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
      default: nil
      }
    }
  }

  private static func base64(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    let unpadded = digits.last == UInt8(ascii: "=") ? digits.dropLast() : digits
    guard unpadded.count == 43 else { return nil }
    return decoded(unpadded, bits: 6) { digit in
      switch digit {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
      case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
      default: nil
      }
    }
  }

  /// The 32 bytes that digits of `bits` bits are. Bits after them are zero.
  private static func decoded(
    _ digits: ArraySlice<UInt8>, bits: Int, _ value: (UInt8) -> UInt8?
  ) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 32)
    var bit = 0
    for digit in digits {
      guard let value = value(digit) else {
        SecretBytes.wipe(&bytes)
        return nil
      }
      for shift in (0..<bits).reversed() {
        let isSet = value >> UInt8(shift) & 1
        if bit < 256 {
          bytes[bit / 8] |= isSet << UInt8(7 - bit % 8)
        } else if isSet == 1 {
          SecretBytes.wipe(&bytes)
          return nil
        }
        bit += 1
      }
    }
    return bytes
  }

  // MARK: The process

  /// Runs a command and writes its output into the array.
  ///
  /// - Returns: The number of bytes.
  private static func run(
    _ command: String, timeout: Duration, into output: inout [UInt8]
  ) throws(KeyError) -> Int {
    var ends: [Int32] = [-1, -1]
    // The call fills in both numbers.
    guard unsafe pipe(&ends) == 0 else { throw .command(reason: "cannot be run: \(reason(errno))") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    let process: pid_t
    do throws(KeyError) {
      defer { close(ends[1]) }
      process = try start(command, output: ends[1])
    } catch { throw error }
    let end = ContinuousClock.now + timeout
    let count = read(ends[0], until: end, into: &output)
    // A command that prints without end does not end either.
    let isTooLong = count == output.count
    let isInTime = isTooLong || (count != nil && waits(for: process, until: end))
    if isTooLong || !isInTime { kill(process, SIGKILL) }
    var status: Int32 = 0
    // The process is ours, and was not waited for.
    _ = retrying { unsafe waitpid(process, &status, 0) }
    guard let count, isInTime else {
      throw .command(reason: "took longer than \(timeout / .seconds(1)) seconds, and was ended")
    }
    guard !isTooLong else { throw .command(reason: "printed more than a key") }
    guard status & 0x7F == 0 else { throw .command(reason: "was ended by signal \(status & 0x7F)") }
    let code = status >> 8 & 0xFF
    guard code == 0 else { throw .command(reason: "ended with exit code \(code)") }
    return count
  }

  /// Reads to the end, or until the array is full. `nil` if that takes too long.
  private static func read(
    _ descriptor: Int32, until end: ContinuousClock.Instant, into output: inout [UInt8]
  ) -> Int? {
    var used = 0
    while used < output.count {
      let rest = Int32(clamping: Int(((end - .now) / .milliseconds(1)).rounded(.up)))
      var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      // One structure, which the call fills in.
      let ready = rest > 0 ? unsafe poll(&state, 1, rest) : 0
      if ready < 0, errno == EINTR { continue }
      if ready <= 0 { return nil }
      // The buffer has room from `used` on.
      let count = unsafe output.withUnsafeMutableBytes { buffer in
        retrying { unsafe systemRead(descriptor, buffer.baseAddress! + used, buffer.count - used) }
      }
      if count <= 0 { break }
      used += count
    }
    return used
  }

  /// Whether a process ends in time; it can be waited for afterwards.
  private static func waits(for process: pid_t, until end: ContinuousClock.Instant) -> Bool {
    while true {
      var information = unsafe siginfo_t()
      // The call fills in the structure.
      let result = unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
      if result == 0, unsafe information.si_signo != 0 { return true }
      if result < 0, errno != EINTR { return true }
      if ContinuousClock.now >= end { return false }
      usleep(2_000)
    }
  }

  private static func start(_ command: String, output: Int32) throws(KeyError) -> pid_t {
    #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    var attributes: posix_spawnattr_t?
    #else
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    #endif
    // Both are filled in here, and freed at the end.
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    // A thread that blocks signals would make a command that nobody can end.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var process: pid_t = 0
    let arguments = unsafe ["sh", "-c", command].map { (word: String) in unsafe strdup(word) } + [nil]
    // The copies live until the process has started.
    defer { unsafe arguments.forEach { unsafe free($0) } }
    let code = unsafe posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, environ)
    if code != 0 { throw .command(reason: "cannot be run: \(reason(code))") }
    return process
  }

  private static func reason(_ code: Int32) -> String {
    // The text is valid until the next call on this thread.
    unsafe String(cString: strerror(code))
  }
}

/// The function of the C library, whose name a method has too.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(descriptor, buffer, count)
}
