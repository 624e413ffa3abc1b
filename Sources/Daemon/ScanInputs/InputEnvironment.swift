import Synchronization

/// The dependencies of an input that tests replace.
struct InputEnvironment: Sendable {
  var standardInput: CInt = 0
  var standardOutput: CInt = 1
  /// The incomplete line of the standard input.
  var standardInputRemainder = StandardInputRemainder.ofProcess
  /// Takes the device of an input that ends, for its successor; `nil` to close the device.
  var deviceHandoff: DeviceHandoff?
  /// Waits before a source is reopened.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// The longest time that a client may not read its answers.
  var answerTimeout = Duration.seconds(30)
  /// The same limit, once the input must end.
  var timeoutAtEnd = Descriptor.timeoutAtEnd
  /// The longest time that a serial device may not accept an answer.
  var deviceTimeout = Duration.seconds(5)
  /// The longest time until the rest of a keyboard event arrives. Devices deliver complete events; half an event in a
  /// FIFO, whose writer crashed, would corrupt all that follow.
  var eventTimeout = Duration.seconds(1)
  /// The timeout for connecting to a scanner in server mode.
  var connectTimeout = Duration.seconds(10)
  /// A callback that is called when a pause ended a line.
  var onPause: @Sendable () -> Void = {}
  /// The maximum number of concurrent connections of an input.
  var maximumConnections = ScanInput.maximumConnections
}

/// The incomplete line of the standard input at the end of an input.
///
/// The standard input belongs to the process and outlives its inputs, which end when the configuration is reloaded. The
/// next input that reads it must continue the line; otherwise the rest of the line would be a different code.
final class StandardInputRemainder: Sendable {
  static let ofProcess = StandardInputRemainder()

  private let beginning = Mutex(LineFramer.Beginning())

  /// Stores an incomplete line for the next input.
  func keep(_ beginning: LineFramer.Beginning) { self.beginning.withLock { $0 = beginning } }

  /// Returns the stored line, once.
  func take() -> LineFramer.Beginning {
    beginning.withLock { beginning in
      defer { beginning = LineFramer.Beginning() }
      return beginning
    }
  }
}
