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

/// How bytes are lines. A line ends with a line feed, a carriage return or both; empty lines are no readings.
public struct LineFormat: Sendable, Equatable {
  /// The most bytes of a line, without what ends it. What is longer is refused whole. Less than 1 counts as 1.
  public var maximumByteCount = 4096
  /// Bytes that the reader puts before each code, and that are no part of it; where they are missing the line is taken as it is.
  public var prefix = ""
  /// The same behind each code. Ends of lines in both are left aside: lines are cut there.
  public var suffix = ""
  /// How long a reader is silent after a line, where it sends nothing that ends one: a pause of this length ends the line too.
  /// Only a serial device has such pauses; `nil` for none.
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
  /// Lines over TCP, many connections at once; each answer goes to the connection that asked. Port 0 takes a free one.
  case tcp(host: String, port: Int)
  /// A Unix domain socket at this path, of up to 93 bytes: a request is a line of JSON, `{"code":"…","tag":"…"}`, and so is its
  /// answer.
  case socket(path: String)

  /// The name of the kind, as the configuration has it.
  public var kind: String {
    switch self {
    case .standardInput: "stdin"
    case .serial: "serial"
    case .keyboard: "keyboard"
    case .tcp: "tcp"
    case .socket: "socket"
    }
  }

  /// Whether it has connections, many at once.
  public var isServer: Bool {
    switch self {
    case .tcp, .socket: true
    case .standardInput, .serial, .keyboard: false
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
