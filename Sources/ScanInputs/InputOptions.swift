/// An input as it is configured.
public struct InputOptions: Sendable, Equatable {
  /// Its name, in answers, metrics and messages: 1 to 64 letters, digits, `-`, `_` and `.`.
  public var name: String
  /// Where it reads from.
  public var source: InputSource
  /// How its bytes are lines.
  public var line = LineFormat()

  public init(name: String, source: InputSource) {
    self.name = name
    self.source = source
  }
}

/// How bytes are lines, and lines are codes.
///
/// A line ends with one of ``ends``, or where ``idleTimeout`` is set with a pause of that length, whichever comes first. A blank
/// line is not a reading. A separator of GS1 (FNC1, sent as 0x1D) is a part of the code, also as its last character: ``Reading``
/// has it, and a catalogue that reads GS1 ignores it there.
public struct LineFormat: Sendable, Equatable {
  /// The most bytes of a line, without what ends it. What is longer is refused whole. Less than 1 counts as 1.
  public var maximumByteCount = 4096
  /// What ends a line, in any order; a carriage return and a line feed that both do end one line together. Empty where only a
  /// pause does. Of a keyboard, Enter is each of CR, LF and CRLF. A Unix domain socket has JSON lines, which end as usual.
  ///
  /// An end may not be a byte that ``TextEncoding/isInsideCharacters(_:)`` tells of: it would cut characters.
  public var ends: [LineEnd] = [.carriageReturn, .lineFeed]
  /// How characters are bytes. A keyboard sends characters, and a line of JSON is UTF-8, whatever this says.
  public var encoding = TextEncoding.utf8
  /// Text that the reader puts before each code, and that is not a part of it; a line without it is taken as it is. Of a line that
  /// cannot be decoded nothing is removed.
  public var prefix = ""
  /// The same after each code. Ends of lines in both are left aside: lines are cut there.
  public var suffix = ""
  /// A pause that ends a line, for readers that send no end: no byte came for so long. `nil` if no pause does. Longer than the
  /// longest pause within a code, some 20 milliseconds at 9600 baud, and shorter than the pause between two codes.
  public var idleTimeout: Duration?

  public init() {}
}

/// Where an input reads from.
public enum InputSource: Sendable, Equatable {
  /// The standard input: a pipe, a terminal or a file. Answers go to the standard output.
  case standardInput
  /// A serial device or a pty; answers go back on the same line if asked for.
  case serial(SerialOptions)
  /// A keyboard of Linux' evdev, or a FIFO of its events.
  case keyboard(KeyboardOptions)
  /// Lines over TCP from clients that connect, many at once; each answer goes to the connection that asked. Port 0 takes a free
  /// one. Only clients of the networks `allow` may connect; all may if it is empty.
  case tcp(host: String, port: Int, allow: [PeerNetwork] = [])
  /// Lines over TCP from a scanner that listens and expects to be called.
  case tcpClient(TCPClientOptions)
  /// A Unix domain socket at this path, of up to 93 bytes: a request is a line of JSON, `{"code":"…","tag":"…"}`, and so is its
  /// answer.
  case socket(path: String)

  /// The name of the kind, as the configuration has it.
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
  /// The device, best a path below `/dev/serial/by-id`, which stays when the scanner is plugged in elsewhere.
  public var path: String
  /// Bits a second: 1200 to 230,400 as termios has them, on Linux up to 921,600. With another one the input stays closed, and says
  /// so. A pty ignores it.
  public var baud = 9600
  /// Whether answers are written to the device.
  public var answers = false
  /// How long to wait before the device is opened again after it went away.
  public var reopenInterval: Duration = .seconds(1)

  public init(path: String) { self.path = path }
}

/// A scanner that listens on a TCP port.
public struct TCPClientOptions: Sendable, Equatable {
  /// Its name or address.
  public var host: String
  /// Its port, 1 to 65,535.
  public var port: Int
  /// Whether answers are written to the connection. Many scanners take what they get for commands.
  public var answers = false
  /// How long to wait before it is called again after the connection ended. The pause doubles up to 30 seconds while the scanner
  /// cannot be reached.
  public var reopenInterval: Duration = .seconds(1)

  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }
}

/// A scanner that types.
public struct KeyboardOptions: Sendable, Equatable {
  /// The device, best a path below `/dev/input/by-id`, which stays when the scanner is plugged in elsewhere.
  public var path: String
  /// The layout that the scanner assumes.
  public var layout = KeyboardLayout.us
  /// Whether nobody else gets what it types (EVIOCGRAB). A FIFO ignores it.
  public var grabs = true
  /// How long to wait before the device is opened again after it went away.
  public var reopenInterval: Duration = .seconds(1)

  public init(path: String) { self.path = path }
}

/// Which character a key is.
public enum KeyboardLayout: String, Sendable, CaseIterable {
  case us, de, fr
}
