import Synchronization

/// What tests put something else in place of.
struct InputEnvironment: Sendable {
  var standardInput: CInt = 0
  var standardOutput: CInt = 1
  /// What was read of it.
  var standardInputRemainder = StandardInputRemainder.ofProcess
  /// Where a device goes that the next input reads on; without one it is closed.
  var shelf: DeviceHandoff?
  /// How an input waits before it opens its source again.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// How long a client may leave an answer lying.
  var patience = Duration.seconds(30)
  /// The same, once the input is to end.
  var patienceAtEnd = Descriptor.patienceAtEnd
  /// How long a serial device may leave an answer lying.
  var devicePatience = Duration.seconds(5)
  /// How long the rest of a keyboard's event may take. Devices deliver whole events; half a one in a FIFO, whose writer died,
  /// would spoil all that follow.
  var eventPatience = Duration.seconds(1)
  /// How long a scanner that is called may take to answer the call.
  var connectTimeout = Duration.seconds(10)
  /// Called when a pause was seen that ends a line.
  var onPause: @Sendable () -> Void = {}
  /// Connections that an input has at once.
  var maximumConnections = ScanInput.maximumConnections
}

/// The line of the standard input that had begun when an input ended.
///
/// The standard input is one for the process and outlives its inputs, which end when a configuration is read anew. What was
/// read of a line belongs to the next one that reads: else the rest of the line would be a code of its own, and another one.
final class StandardInputRemainder: Sendable {
  static let ofProcess = StandardInputRemainder()

  private let beginning = Mutex(LineFramer.Beginning())

  /// Keeps a beginning for the next input.
  func keep(_ beginning: LineFramer.Beginning) { self.beginning.withLock { $0 = beginning } }

  /// What was kept, once.
  func take() -> LineFramer.Beginning {
    beginning.withLock { beginning in
      defer { beginning = LineFramer.Beginning() }
      return beginning
    }
  }
}
