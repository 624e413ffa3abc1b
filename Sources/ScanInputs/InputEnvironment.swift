/// What tests put something else in place of.
struct InputEnvironment: Sendable {
  var standardInput: CInt = 0
  var standardOutput: CInt = 1
  /// How an input waits before it opens its source again.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// How long a client may leave an answer lying.
  var patience = Duration.seconds(30)
  /// How long a serial device may leave an answer lying.
  var devicePatience = Duration.seconds(5)
  /// How long the rest of a keyboard's event may take. Devices deliver whole events; half a one in a FIFO, whose writer died,
  /// would spoil all that follow.
  var eventPatience = Duration.seconds(1)
  /// Connections that an input has at once; more are closed at once.
  var maximumConnections = 256
}
