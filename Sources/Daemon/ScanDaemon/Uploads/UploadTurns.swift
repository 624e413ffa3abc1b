/// The users whose uploads are sent now, those that wait for a turn, and those whose uploads wait for a time.
///
/// A *turn* is one run of a worker for a user. Users get their turns in the order in which they were added; after a turn
/// a user goes to the end.
///
/// Invariant: a user is in at most one of the three. The cost of each call does not grow with the number of users, except
/// that of ``takeDue(uptime:)``, which is called at most once a second.
struct UploadTurns {
  typealias Key = UserDocumentsTable.Key

  /// A turn that begins.
  struct Turn: Sendable {
    /// The user; `nil` for the default documents.
    let user: String?
  }

  /// The least time between two walks through the users that wait for a time.
  static let leastPause: Duration = .seconds(1)

  private var serving: Set<Key> = []
  /// Users that were added while they were served.
  private var again: Set<Key> = []
  /// Users that wait for a turn, from `first` on.
  private var ready: [String?] = []
  private var first = 0
  private var isReady: Set<Key> = []
  /// Users that wait for a time of the clock that only goes forward.
  private var later: [Key: (user: String?, time: Duration)] = [:]
  /// No user in `later` is due before this.
  private var earliest: Duration?

  /// The number of users that have a worker.
  var servingCount: Int { serving.count }
  /// The number of users that wait for a turn.
  var readyCount: Int { ready.count - first }
  /// The number of users that wait for a time.
  var laterCount: Int { later.count }

  func isServing(_ user: String?) -> Bool { serving.contains(Key(user)) }

  /// Adds a user with uploads at the end of those that wait for a turn, unless it waits for one already. A user that is
  /// served now gets another turn.
  ///
  /// - Returns: Whether the user waits for a turn now and did not before.
  @discardableResult
  mutating func add(_ user: String?) -> Bool {
    let key = Key(user)
    if serving.contains(key) {
      again.insert(key)
      return false
    }
    later[key] = nil
    guard isReady.insert(key).inserted else { return false }
    ready.append(user)
    return true
  }

  /// Begins the turn of a user out of turn.
  ///
  /// - Returns: Whether the user was not served yet.
  mutating func begin(_ user: String?) -> Bool {
    let key = Key(user)
    later[key] = nil
    return serving.insert(key).inserted
  }

  /// Begins the turn of the next user; `nil` if none waits, or `limit` users are served.
  mutating func next(limit: Int) -> Turn? {
    while serving.count < limit, first < ready.count {
      let user = ready[first]
      first += 1
      // Half of the array at most is waste.
      if first > 32, first * 2 > ready.count {
        ready.removeFirst(first)
        first = 0
      }
      let key = Key(user)
      // A user that began out of turn may be here still.
      if isReady.remove(key) != nil, serving.insert(key).inserted { return Turn(user: user) }
    }
    return nil
  }

  /// Ends a turn.
  ///
  /// - Parameter time: When the user may have another turn, by the clock that only goes forward; `nil` if it needs none
  ///   until it is added again.
  mutating func end(_ user: String?, until time: Duration?) {
    let key = Key(user)
    serving.remove(key)
    if again.remove(key) != nil {
      add(user)
    } else if let time {
      later[key] = (user, time)
      earliest = min(earliest ?? time, time)
    }
  }

  /// Moves the users whose time has come to the end of those that wait for a turn.
  ///
  /// - Complexity: O(*n*) in the users that wait for a time, if the earliest time has come.
  mutating func takeDue(uptime: Duration) {
    guard let earliest, earliest <= uptime else { return }
    let waiting = later.values
    later = [:]
    self.earliest = nil
    for (user, time) in waiting {
      if time <= uptime { add(user) } else { end(user, until: time) }
    }
  }

  /// How long until ``takeDue(uptime:)`` may find a user; `nil` if no user waits for a time.
  func pause(uptime: Duration) -> Duration? {
    if later.isEmpty { return nil }
    return earliest.map { max($0 - uptime, Self.leastPause) }
  }
}
