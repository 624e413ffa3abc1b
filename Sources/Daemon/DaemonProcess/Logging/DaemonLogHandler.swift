package import Logging

/// Writes each event as one line, whatever stands in its texts.
///
///     let settings = LogSettings(level: .info, style: .json)
///     let output = LogOutput(descriptor: 2)
///     LoggingSystem.bootstrap { DaemonLogHandler(label: $0, settings: settings, write: output.write) }
package struct DaemonLogHandler: LogHandler {
  private let label: String
  private let settings: LogSettings
  private let write: @Sendable ([UInt8]) -> Void
  private let now: @Sendable () -> UnixTime
  /// The level that was set on this copy of the logger; `nil` for the level of the settings.
  private var ownLevel: Logger.Level?

  /// What all lines of a logger say besides their own.
  package var metadata: Logger.Metadata = [:]
  /// What they say besides by where they were written.
  package var metadataProvider: Logger.MetadataProvider?

  /// Creates a handler for the logger with the given label.
  ///
  /// - Parameters:
  ///   - label: The name of the logger, which is written with each line.
  ///   - settings: The level and the style of all loggers.
  ///   - write: Takes a line with its line feed, from any thread.
  ///   - now: Returns the current time.
  package init(
    label: String, settings: LogSettings, write: @escaping @Sendable ([UInt8]) -> Void,
    now: @escaping @Sendable () -> UnixTime = { .now }
  ) {
    self.label = label
    self.settings = settings
    self.write = write
    self.now = now
  }

  /// The level of all loggers, but for one that was given another.
  package var logLevel: Logger.Level {
    get { ownLevel ?? settings.level }
    set { ownLevel = newValue }
  }

  /// The value that this logger adds to each of its lines under `key`; `nil` for none.
  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes an event as one line. Metadata of the event takes precedence over the provider's, and that over the
  /// logger's.
  package func log(event: LogEvent) {
    var metadata = metadata
    if let provided = metadataProvider?.get() { metadata.merge(provided) { $1 } }
    if let own = event.metadata { metadata.merge(own) { $1 } }
    let line = LogLine(
      time: now(), level: event.level, label: label, message: event.message.description,
      error: event.error.map { "\($0)" }, metadata: metadata)
    write(line.bytes(settings.style))
  }
}
