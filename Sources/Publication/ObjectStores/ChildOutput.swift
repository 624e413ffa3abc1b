import Platform

/// What a command prints.
enum ChildOutput {
  /// How a command ended.
  enum Result: Equatable {
    case ended(status: Int32, output: [UInt8])
    case signalled(Int32)
    /// It was killed, because it printed too much.
    case tooLong
    /// It was killed, because it took too long.
    case timedOut
  }

  /// Runs a command, which is looked for in `PATH`, without input. It shares this process's standard error. Blocks.
  ///
  /// - Throws: `StorageError` if it cannot be run.
  static func read(
    _ words: [String], environment: [String: String], limit: Int, timeout: Duration
  ) throws(StorageError) -> Result {
    var ends: [Int32] = [-1, -1]
    // The call fills in both numbers.
    guard unsafe pipe(&ends) == 0 else { throw StorageError(operation: "open", path: "a pipe", code: errno) }
    // A command that another thread starts before this keeps the pipe open; the timeout bounds that.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    let process = try start(words, environment: environment, output: ends[1])
    close(ends[1])
    var output: [UInt8] = []
    let end = ContinuousClock.now + timeout
    var cause: Result?
    while cause == nil {
      let rest = Int32(clamping: Int(((end - .now) / .milliseconds(1)).rounded(.up)))
      var poll = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
      // One structure, which the call fills in.
      let count = rest > 0 ? unsafe systemPoll(&poll, rest) : 0
      if count < 0, errno == EINTR { continue }
      if count <= 0 {
        cause = .timedOut
        break
      }
      var code: Int32 = 0
      // The system writes at most as many bytes as there is room for.
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
        let result = retrying { unsafe systemRead(ends[0], buffer.baseAddress, buffer.count) }
        code = result < 0 ? errno : 0
        count = max(0, result)
      }
      if bytes.isEmpty || code != 0 { break }
      output += bytes
      if output.count > limit { cause = .tooLong }
    }
    if cause == nil, !waits(for: process, until: end) { cause = .timedOut }
    var status: Int32 = 0
    if cause != nil { kill(process, SIGKILL) }
    // The process is ours, and was not waited for.
    _ = retrying { unsafe waitpid(process, &status, 0) }
    if let cause { return cause }
    let signal = status & 0x7F
    return signal == 0 ? .ended(status: status >> 8 & 0xFF, output: output) : .signalled(signal)
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
      usleep(5_000)
    }
  }

  private static func start(
    _ words: [String], environment: [String: String], output: Int32
  ) throws(StorageError) -> pid_t {
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
    // The threads of the dispatcher block signals, by which a person ends a command.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var process: pid_t = 0
    let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    let variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    // The copies live until the process has started.
    defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
    let code = unsafe posix_spawnp(&process, words[0], &actions, &attributes, arguments, variables)
    if code != 0 { throw StorageError(operation: "run", path: words[0], code: code) }
    return process
  }
}

// The functions of the C library, whose names the variables and methods have too.

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(descriptor, buffer, count)
}

private func systemPoll(_ descriptor: UnsafeMutablePointer<pollfd>, _ milliseconds: Int32) -> Int32 {
  unsafe poll(descriptor, 1, milliseconds)
}
