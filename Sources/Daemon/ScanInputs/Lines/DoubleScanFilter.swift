/// Detects double scans: repeated readings of one code within a time window.
///
/// The window begins at the last reading, not at the first, so a scanner that is held on a label stays silent for as
/// long as it is held there. Use one filter for each input: the same code at two inputs is two scans.
///
/// Memory is bounded: if more than ``capacity`` codes arrive within a window, the oldest are forgotten and would count
/// as new.
public struct DoubleScanFilter: Sendable {
  /// The minimum number of different codes that are remembered within a window.
  public static let capacity = 512

  /// A code that was read.
  private struct LastReading {
    /// The ID of the first reading.
    let id: String
    /// The time of the last reading.
    var last: Duration
  }

  private var window: Duration
  // Two generations, so that old codes are discarded without a search. When the newer one is older than the window, or
  // full, it becomes the former one, and the former one is dropped. All codes within the window are in one of them. The
  // keys are bytes, because equal strings need not have equal bytes.
  private var recent: [[UInt8]: LastReading] = [:]
  private var former: [[UInt8]: LastReading] = [:]
  /// The time at which the newer generation began.
  private var start: Duration?

  /// Creates a filter.
  ///
  /// - Parameter window: The time within which a code counts as repeated. Zero or less disables the filter.
  public init(window: Duration) { self.window = window }

  /// Whether the window contains any reading at this time.
  public func remembers(at time: Duration) -> Bool {
    [recent, former].contains { $0.values.contains { time - $0.last < window } }
  }

  /// A filter with the same readings and another window.
  public func with(window: Duration) -> DoubleScanFilter {
    var filter = self
    filter.window = window
    return filter
  }

  /// Returns whether the code was read within the window, and records this reading.
  ///
  /// - Parameters:
  ///   - code: The code that was read.
  ///   - time: The time since any fixed moment. It should not go back; if it does, no time has passed.
  public mutating func isRepeat(_ code: String, at time: Duration) -> Bool {
    first(code, id: "", at: time) != nil
  }

  /// Records a reading. Returns the ID of the first reading of this code if it was read within the window; otherwise
  /// returns `nil`, and this reading is the first, with the ID `id`.
  public mutating func first(_ code: String, id: String, at time: Duration) -> String? {
    guard window > .zero else { return nil }
    rotate(at: time)
    let key = Array(code.utf8)
    if var previous = recent[key] ?? former[key], time - previous.last < window {
      previous.last = max(previous.last, time)
      recent[key] = previous
      return previous.id
    }
    recent[key] = LastReading(id: id, last: time)
    return nil
  }

  /// Rotates the generations if the newer one is full or too old.
  private mutating func rotate(at time: Duration) {
    guard let start else {
      self.start = time
      return
    }
    guard time - start >= window || recent.count >= Self.capacity else { return }
    former = recent
    recent = [:]
    self.start = time
  }
}
