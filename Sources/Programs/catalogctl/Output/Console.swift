import ArgumentParser
import Essentials
import Platform
import TextFormat

/// Ends the process. All results are already written.
func terminate(_ code: ExitStatus) -> Never { exit(code.rawValue) }

/// Ends the process with an exit code of the argument parser.
func terminate(_ code: ExitCode) -> Never { exit(code.rawValue) }

/// Standard output for results and standard error for messages.
enum Console {
  /// Whether standard output is a terminal, and colour is not disabled.
  static let isColourful = isTerminal && RawText.variable("NO_COLOR") == nil
  /// Whether standard output is a terminal.
  static let isTerminal = isatty(STDOUT_FILENO) == 1
  /// Whether standard error is a terminal.
  static let isWatched = isatty(STDERR_FILENO) == 1

  /// The width of the terminal on standard output; otherwise $COLUMNS, or 100.
  static let columns: Int = tableColumns ?? 100

  /// The maximum width of a table: that of the terminal, or $COLUMNS, but at least 20; `nil` if neither is known.
  static let tableColumns: Int? = (terminalColumns(of: STDOUT_FILENO) ?? toldColumns).map { max(20, $0) }

  /// The maximum width of help. The argument parser indents by up to 28 columns and needs room after that, so a
  /// narrower terminal wraps the lines itself.
  static let helpColumns: Int = max(40, toldColumns ?? terminalColumns(of: STDOUT_FILENO) ?? 80)

  /// The maximum width of a progress line. A line wider than the terminal could not be overwritten.
  static let progressColumns: Int = terminalColumns(of: STDERR_FILENO) ?? toldColumns ?? 100

  /// The width of a terminal, at least 1; `nil` if the descriptor is not a terminal, or the width is unknown.
  private static func terminalColumns(of descriptor: Int32) -> Int? {
    var size = winsize()
    // The call fills the local structure.
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// The value of $COLUMNS, 1 to 10,000; `nil` if it is not set or invalid.
  private static let toldColumns = RawText.variable("COLUMNS").flatMap { Int($0) }
    .flatMap { $0 > 0 ? min($0, 10_000) : nil }

  /// Writes a line to standard error. Quoted text from files, servers and arguments cannot break it into two lines.
  static func say(_ line: String) { write(Array((line.shown + "\n").utf8), to: STDERR_FILENO) }

  /// Writes text to standard error unchanged.
  static func show(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

  /// Writes a line to standard output without buffering.
  static func print(_ line: String) { write(Array((line + "\n").utf8), to: STDOUT_FILENO) }

  /// Writes bytes to standard output without buffering.
  static func print(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

  /// Writes all of `bytes`. An error on standard output ends the process with a message; an error on standard error is
  /// ignored, because it cannot be reported.
  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    if descriptor == STDOUT_FILENO {
      switch ClosedStreams.outputState {
      case .open: break
      case .dropped: return
      case .closed: Failure.exit(Failure(.io, "cannot write the output: standard output is closed"))
      }
    }
    var done = 0
    while done < bytes.count {
      // The buffer has `bytes.count - done` bytes after `done`.
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe systemWrite(descriptor, buffer.baseAddress! + done, bytes.count - done)
      }
      if count >= 0 {
        done += count
      } else if errno != EINTR, errno != EAGAIN {
        let code = errno
        if descriptor == STDOUT_FILENO {
          let message = "cannot write the output: " + reason(code)
          Failure.exit(Failure(.io, DurableChange.reported.map { "\(message); \($0)" } ?? message + advice(code)))
        }
        return
      }
    }
  }

  /// Why a write failed.
  private static func reason(_ code: Int32) -> String {
    switch code {
    case EPIPE: return "broken pipe: the program that read it has ended"
    case ENOSPC, EDQUOT: return "the disk is full"
    case EFBIG: return "it reaches the limit of the size of files"
    // strerror returns a C string that is valid until the next call on this thread.
    default: return unsafe String(cString: strerror(code))
    }
  }

  /// A remedy if nothing was changed, so that the command can be repeated.
  private static func advice(_ code: Int32) -> String {
    switch code {
    case ENOSPC, EDQUOT: "; free some space and try again"
    case EFBIG: "; raise it (ulimit -f)"
    default: ""
    }
  }

  enum Style: String {
    case bold = "1"
    case red = "31"
    case green = "32"
    case yellow = "33"
  }

  /// `text` in a style if standard output shows colour, otherwise unchanged.
  static func styled(_ text: String, _ style: Style) -> String {
    isColourful ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }
}

extension String {
  /// The text with each control character replaced by a blank: it neither ends the line nor controls a terminal.
  var onOneLine: String { TerminalText.onOneLine(self) }

  /// The text, safe to display: like ``onOneLine``, and with every other character that is invisible or changes the
  /// text direction as its number, for example `\u{202E}`.
  var shown: String { TerminalText.shown(self) }
}

/// The system's `write`, which ``Console``'s own functions would shadow.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}
