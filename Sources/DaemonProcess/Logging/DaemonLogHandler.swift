public import Logging

/// A log handler that writes each event as one line, whatever its texts contain.
///
///     let settings = LogSettings(level: .info, style: .json)
///     let output = LogOutput(descriptor: 2)
///     LoggingSystem.bootstrap { DaemonLogHandler(label: $0, settings: settings, write: output.write) }
public struct DaemonLogHandler: LogHandler {
  private let label: String
  private let settings: LogSettings
  private let write: @Sendable ([UInt8]) -> Void
  private let now: @Sendable () -> UnixTime
  /// The level that was set on this copy of a logger.
  private var ownLevel: Logger.Level?

  /// Metadata that is added to all lines of this logger.
  public var metadata: Logger.Metadata = [:]
  /// A provider of further metadata from the context of each log call.
  public var metadataProvider: Logger.MetadataProvider?

  /// - Parameters:
  ///   - write: Writes a line, which includes its line feed. Called from any thread.
  ///   - now: Returns the current time.
  public init(
    label: String, settings: LogSettings, write: @escaping @Sendable ([UInt8]) -> Void,
    now: @escaping @Sendable () -> UnixTime = { .now }
  ) {
    self.label = label
    self.settings = settings
    self.write = write
    self.now = now
  }

  /// The level of this logger: the shared one, unless another was set on this copy.
  public var logLevel: Logger.Level {
    get { ownLevel ?? settings.level }
    set { ownLevel = newValue }
  }

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  public func log(event: LogEvent) {
    var metadata = metadata
    if let provided = metadataProvider?.get() { metadata.merge(provided) { $1 } }
    if let own = event.metadata { metadata.merge(own) { $1 } }
    let line = LogLine(
      time: now(), level: event.level, label: label, message: event.message.description,
      error: event.error.map { "\($0)" }, metadata: metadata)
    write(line.bytes(settings.style))
  }
}
