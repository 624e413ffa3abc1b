/// The configuration of an input.
public struct InputOptions: Sendable, Equatable {
  /// The name in answers, metrics and messages: 1 to 64 letters, digits, `-`, `_` and `.`.
  public var name: String
  /// The source to read.
  public var source: InputSource
  /// The format of the lines.
  public var line = LineFormat()

  /// Creates an input with the default line format.
  public init(name: String, source: InputSource) {
    self.name = name
    self.source = source
  }
}

/// The rules for splitting bytes into lines and decoding codes.
///
/// A line ends with one of ``ends`` or, if ``idleTimeout`` is set, with a pause of that length, whichever comes first.
/// A blank line is not a reading. A GS1 separator (FNC1, sent as 0x1D) is a part of the code, even as its last
/// character: ``Reading`` contains it, and a catalogue that reads GS1 ignores it there.
public struct LineFormat: Sendable, Equatable {
  /// The maximum length of a line in bytes, without its end. A longer line is refused. Values less than 1 count as 1.
  public var maximumByteCount = 4096
  /// The line ends, in any order. If both carriage return and line feed are line ends, the sequence of both ends one
  /// line. Empty if only a pause ends a line. On a keyboard, Enter counts as CR, LF and CRLF. A Unix domain socket has
  /// JSON lines, which end as usual.
  ///
  /// A line end must not be a byte for which ``TextEncoding/isInsideCharacters(_:)`` returns true, because it would
  /// split characters. On a keyboard, this is so for UTF-8, whatever the encoding.
  public var ends: [LineEnd] = [.carriageReturn, .lineFeed]
  /// The character encoding. On a keyboard it says which character a number means that is typed while Alt is held;
  /// everything else is a character already. It does not apply to JSON lines, which are UTF-8.
  public var encoding = TextEncoding.utf8
  /// Text that the reader sends before each code, and that is removed if present. Nothing is removed from a line that
  /// cannot be decoded.
  public var prefix = ""
  /// Text that the reader sends after each code, and that is removed if present. Line ends in the prefix and suffix are
  /// ignored, because lines are split there.
  public var suffix = ""
  /// The length of a pause without bytes that ends a line, for readers that send no line end; `nil` for none. It must
  /// be longer than the longest pause within a code, about 20 milliseconds at 9600 baud, and shorter than the pause
  /// between two codes.
  public var idleTimeout: Duration?

  /// Creates the default format.
  public init() {}
}

/// The source of an input.
public enum InputSource: Sendable, Equatable {
  /// The standard input: a pipe, a terminal or a file. Answers are written to the standard output.
  case standardInput
  /// A serial device or a pty. Answers are written to the same line if enabled.
  case serial(SerialOptions)
  /// A Linux event device (evdev) of a keyboard, or a FIFO of its events.
  case keyboard(KeyboardOptions)
  /// A TCP server for lines, with many connections; each answer is written to its connection. Port 0 selects a free
  /// port. Only clients from the networks in `allow` may connect; all may if it is empty.
  case tcp(host: String, port: Int, allow: [PeerNetwork] = [])
  /// A TCP client for a scanner that listens for connections.
  case tcpClient(TCPClientOptions)
  /// A Unix domain socket at this path of up to 93 bytes. A request is a line of JSON, `{"code":"…","tag":"…"}`, and so
  /// is its answer.
  case socket(path: String)

  /// The name of the kind in the configuration.
  public var kind: String {
    switch self {
    case .standardInput: "stdin"
    case .serial: "serial"
    case .keyboard: "keyboard"
    case .tcp, .tcpClient: "tcp"
    case .socket: "socket"
    }
  }

  /// Whether answers are written to a device or a stream.
  var hasAnswers: Bool {
    switch self {
    case .standardInput: true
    case .serial(let options): options.answers
    case .keyboard, .tcp, .tcpClient, .socket: false
    }
  }

  /// Whether clients connect to it, many at once.
  public var isServer: Bool {
    switch self {
    case .tcp, .socket: true
    case .standardInput, .serial, .keyboard, .tcpClient: false
    }
  }
}

/// A serial device.
public struct SerialOptions: Sendable, Equatable {
  /// The path of the device. Prefer a path in `/dev/serial/by-id`, which does not change when the scanner is plugged in
  /// elsewhere.
  public var path: String
  /// The speed in bits per second: 1200 to 230,400, as termios supports, and on Linux up to 921,600. With an
  /// unsupported speed the input stays closed and reports the reason. A pty ignores it.
  public var baud = 9600
  /// Whether answers are written to the device.
  public var answers = false
  /// The delay before the device is reopened after it disappeared.
  public var reopenInterval: Duration = .seconds(1)

  /// Creates options for the device at `path`, at 9600 baud and without answers.
  public init(path: String) { self.path = path }
}

/// A scanner that listens on a TCP port.
public struct TCPClientOptions: Sendable, Equatable {
  /// The host name or address.
  public var host: String
  /// The port, 1 to 65,535.
  public var port: Int
  /// Whether answers are written to the connection. Many scanners interpret received data as commands.
  public var answers = false
  /// The delay before the scanner is called again after the connection ended. It doubles up to 30 seconds while the
  /// scanner cannot be reached.
  public var reopenInterval: Duration = .seconds(1)

  /// Creates options for a scanner that listens on a port, 1 to 65,535. Answers are not sent.
  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }
}

/// A scanner that acts as a keyboard.
public struct KeyboardOptions: Sendable, Equatable {
  /// The path of the device. Prefer a path in `/dev/input/by-id`, which does not change when the scanner is plugged in
  /// elsewhere.
  public var path: String
  /// The keyboard layout that the scanner is set to.
  public var layout = KeyboardLayout.us
  /// Keys that stand for characters, such as F8 for the separator of GS1. A key without a character that is not among
  /// them makes its line faulty: see ``Reading/undecodedBytes``.
  public var keys = KeyAssignments()
  /// Whether to grab the device (EVIOCGRAB), so that no other program receives its input. A FIFO ignores it.
  public var grabs = true
  /// The delay before the device is reopened after it disappeared.
  public var reopenInterval: Duration = .seconds(1)

  /// Creates options for the device at `path`, which is grabbed and has the US layout.
  public init(path: String) { self.path = path }
}

/// A keyboard layout.
public enum KeyboardLayout: String, Sendable, CaseIterable {
  case us, de, fr
}
