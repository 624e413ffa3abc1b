import ArgumentParser
import Foundation
import Storage
import TextFormat

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Ends the process. Results that were written are out.
func terminate(_ code: ExitStatus) -> Never { exit(code.rawValue) }

/// Ends the process with a code of the argument parser.
func terminate(_ code: ExitCode) -> Never { exit(code.rawValue) }

/// Standard output and standard error: results go to the one, words to the other.
enum Console {
  /// Whether people look at standard output, and want colour.
  static let isColourful = isTerminal && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
  /// Whether people look at standard output.
  static let isTerminal = isatty(STDOUT_FILENO) == 1
  /// Whether people look at standard error.
  static let isWatched = isatty(STDERR_FILENO) == 1

  /// Columns of the terminal that standard output is; where it is none, those that $COLUMNS says, or 100.
  static let columns: Int = tableColumns ?? 100

  /// Columns that a table may take: those of the terminal, or those that $COLUMNS says, but at least 20; `nil` where
  /// neither is known.
  static let tableColumns: Int? = (terminalColumns(of: STDOUT_FILENO) ?? toldColumns).map { max(20, $0) }

  /// Columns that help may take. The argument parser indents by up to 28 columns and needs room after that, so a
  /// narrower terminal breaks the lines itself.
  static let helpColumns: Int = max(40, toldColumns ?? terminalColumns(of: STDOUT_FILENO) ?? 80)

  /// Columns that a line of progress may take. A line that is longer than a narrow terminal could not be drawn over.
  static let progressColumns: Int = terminalColumns(of: STDERR_FILENO) ?? toldColumns ?? 100

  /// Columns of a terminal, at least 1; `nil` for what is no terminal, or does not say.
  private static func terminalColumns(of descriptor: Int32) -> Int? {
    var size = winsize()
    // The call fills the local structure.
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Columns that $COLUMNS says, 1 to 10,000; `nil` where it says none.
  private static let toldColumns = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
    .flatMap { $0 > 0 ? min($0, 10_000) : nil }

  /// Writes a line to standard error. What it quotes from files, servers and arguments cannot make two of it.
  static func say(_ line: String) { write(Array((line.shown + "\n").utf8), to: STDERR_FILENO) }

  /// Writes text to standard error as it is.
  static func show(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

  /// Writes a line to standard output at once.
  static func print(_ line: String) { write(Array((line + "\n").utf8), to: STDOUT_FILENO) }

  /// Writes bytes to standard output at once.
  static func print(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

  /// Writes all of `bytes`. A failure on standard output ends the process with its reason; one on standard error is passed
  /// over, as there is nobody left to tell.
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
          Failure.exit(Failure(.io, DurableChange.told.map { "\(message); \($0)" } ?? message + advice(code)))
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

  /// What helps where nothing was changed, so that the command may be repeated.
  private static func advice(_ code: Int32) -> String {
    switch code {
    case ENOSPC, EDQUOT: "; free some space and try again"
    case EFBIG: "; raise it (ulimit -f)"
    default: ""
    }
  }

  enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
  }

  /// `text` in a style where people look at it, else as it is.
  static func styled(_ text: String, _ style: Style) -> String {
    isColourful ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }
}

extension String {
  /// The text with a blank for each control character: it neither ends the line nor steers a terminal.
  var onOneLine: String { TerminalText.onOneLine(self) }

  /// The text as people may see it: ``onOneLine``, and every other character that cannot be seen, or turns the direction
  /// of what follows, by number, such as `\u{202E}`.
  var shown: String { TerminalText.shown(self) }
}

/// The system's `write`, which the functions of ``Console`` hide by their names.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}
