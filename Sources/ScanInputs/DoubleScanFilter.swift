/// Tells the second reading of a label from the first one of another label with the same code: by the time between them.
///
/// The window runs from the last reading, not from the first, so a scanner that is held on a label stays silent for as long
/// as it is held there. One filter is for one input: the same code at two inputs is two scans.
///
/// Memory is bounded: of codes that come faster than ``capacity`` in a window, the eldest are forgotten, and would count as
/// new.
public struct DoubleScanFilter: Sendable {
  /// How many different codes of one window are remembered at least.
  public static let capacity = 512

  /// A code that was read.
  private struct Sighting {
    /// What the first reading is called.
    let id: String
    /// When it was read last.
    var last: Duration
  }

  private var window: Duration
  // Two generations, so that what is old goes without a search for it: when the newer one is older than the window, or full,
  // it becomes the former one, and that one is dropped. What was read within the window stands in one of them. The keys are
  // bytes, because equal strings need not have equal bytes.
  private var recent: [[UInt8]: Sighting] = [:]
  private var former: [[UInt8]: Sighting] = [:]
  /// When the newer generation began.
  private var start: Duration?

  /// - Parameter window: What is read again sooner than this is a repeat. Zero, or less, for none.
  public init(window: Duration) { self.window = window }

  /// Whether anything of what was read stands in the window still.
  public func remembers(at time: Duration) -> Bool {
    [recent, former].contains { $0.values.contains { time - $0.last < window } }
  }

  /// What was read so far, in another window.
  public func with(window: Duration) -> DoubleScanFilter {
    var filter = self
    filter.window = window
    return filter
  }

  /// Whether the code was read less than the window ago; it counts as read now.
  ///
  /// The time is since any moment that stays the same, and does not go back. Where it does, no time has passed.
  public mutating func isRepeat(_ code: String, at time: Duration) -> Bool {
    first(code, id: "", at: time) != nil
  }

  /// The same, but the answer is what the first of the readings was called, and `nil` if this is the first. Then it is called
  /// `id`.
  public mutating func first(_ code: String, id: String, at time: Duration) -> String? {
    guard window > .zero else { return nil }
    turn(at: time)
    let key = Array(code.utf8)
    if var known = recent[key] ?? former[key], time - known.last < window {
      known.last = max(known.last, time)
      recent[key] = known
      return known.id
    }
    recent[key] = Sighting(id: id, last: time)
    return nil
  }

  /// Makes room, so that the newer generation may take one more.
  private mutating func turn(at time: Duration) {
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
