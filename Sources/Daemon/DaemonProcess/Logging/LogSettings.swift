package import Logging
import Synchronization

/// The log settings that all loggers of a process share, and that can change while it runs.
package final class LogSettings: Sendable {
  /// Guards only these values.
  private let state: Mutex<(level: Logger.Level, style: LogStyle)>

  /// Creates settings that any number of log handlers can share.
  package init(level: Logger.Level = .info, style: LogStyle = .text) {
    state = Mutex((level, style))
  }

  /// The minimum level of written events.
  package var level: Logger.Level {
    get { state.withLock { $0.level } }
    set { state.withLock { $0.level = newValue } }
  }

  /// The format of lines.
  package var style: LogStyle {
    get { state.withLock { $0.style } }
    set { state.withLock { $0.style = newValue } }
  }
}
