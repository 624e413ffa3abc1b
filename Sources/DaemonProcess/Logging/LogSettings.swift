public import Logging
import Synchronization

/// What all loggers of a process share, and what changes while it runs.
public final class LogSettings: Sendable {
  /// Guards nothing but itself.
  private let state: Mutex<(level: Logger.Level, style: LogStyle)>

  /// Creates settings that any number of log handlers can share.
  public init(level: Logger.Level = .info, style: LogStyle = .text) {
    state = Mutex((level, style))
  }

  /// The level below which nothing is written.
  public var level: Logger.Level {
    get { state.withLock { $0.level } }
    set { state.withLock { $0.level = newValue } }
  }

  /// How lines look.
  public var style: LogStyle {
    get { state.withLock { $0.style } }
    set { state.withLock { $0.style = newValue } }
  }
}
