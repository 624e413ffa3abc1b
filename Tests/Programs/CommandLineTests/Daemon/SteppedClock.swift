import Foundation

/// A wall clock that a test sets for other processes: a library that is loaded before others and that adds the seconds of
/// a file to the wall clock, and to no other one. The kernel's clock stays as it is.
final class SteppedClock: Sendable {
  /// What a process needs in its environment to have this clock.
  let environment: [String: String]
  private let file: URL

  /// Compiles the library.
  ///
  /// - Returns: `nil` where there is no compiler of C, or no such way to replace functions.
  init?(in folder: URL) {
    #if os(Linux)
    let source = folder.appendingPathComponent("clock.c")
    let library = folder.appendingPathComponent("clock.so")
    file = folder.appendingPathComponent("clock.seconds")
    environment = ["LD_PRELOAD": library.path, "SHELFMARK_TEST_CLOCK": file.path]
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments = ["cc", "-shared", "-fPIC", "-o", library.path, source.path]
    compiler.standardError = FileHandle.nullDevice
    do {
      try Data(Self.source.utf8).write(to: source)
      try compiler.run()
    } catch { return nil }
    compiler.waitUntilExit()
    if compiler.terminationStatus != 0 { return nil }
    set(ahead: 0)
    #else
    return nil
    #endif
  }

  func set(ahead seconds: Int) { try? Data("\(seconds)".utf8).write(to: file, options: .atomic) }

  private static let source = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/syscall.h>
    #include <sys/time.h>
    #include <time.h>
    #include <unistd.h>
    #include <fcntl.h>

    /* The seconds in the file that SHELFMARK_TEST_CLOCK names are added to the wall clock, and to no other clock. */
    static long offset(void) {
      const char *path = getenv("SHELFMARK_TEST_CLOCK");
      if (!path) return 0;
      int file = open(path, O_RDONLY | O_CLOEXEC);
      if (file < 0) return 0;
      char text[32] = {0};
      if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
      close(file);
      return atol(text);
    }

    int clock_gettime(clockid_t clock, struct timespec *time) {
      int result = (int)syscall(SYS_clock_gettime, clock, time);
      if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += offset();
      return result;
    }

    int gettimeofday(struct timeval *time, void *zone) {
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      if (time) *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
      return 0;
    }

    time_t time(time_t *result) {
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      if (result) *result = now.tv_sec;
      return now.tv_sec;
    }
    """
}
