import Logging

/// A log on standard error for people: what files, servers and databases say in it cannot end a line or control the
/// terminal.
struct TerminalLogHandler: LogHandler {
  private var handler: StreamLogHandler

  init(label: String) { handler = StreamLogHandler.standardError(label: label) }

  var logLevel: Logger.Level {
    get { handler.logLevel }
    set { handler.logLevel = newValue }
  }

  var metadata: Logger.Metadata {
    get { handler.metadata }
    set { handler.metadata = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { handler[metadataKey: key] }
    set { handler[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) {
    var event = event
    event.message = "\(event.message.description.shown)"
    event.metadata = event.metadata.map(Self.shown)
    handler.log(event: event)
  }

  private static func shown(_ metadata: Logger.Metadata) -> Logger.Metadata {
    Logger.Metadata(metadata.map { ($0.key.shown, shown($0.value)) }) { first, _ in first }
  }

  private static func shown(_ value: Logger.Metadata.Value) -> Logger.Metadata.Value {
    switch value {
    case .string(let text): .string(text.shown)
    case .stringConvertible(let value): .string("\(value)".shown)
    case .array(let values): .array(values.map(shown))
    case .dictionary(let metadata): .dictionary(shown(metadata))
    }
  }
}
