import Testing

@testable import ScanDaemon

@Suite struct UploadTurnsTests {
  var turns = UploadTurns()

  private mutating func takeAll(limit: Int = 100) -> [String?] {
    var users: [String?] = []
    while let turn = turns.next(limit: limit) { users.append(turn.user) }
    return users
  }

  @Test mutating func `users get their turns in the order in which they were added, each once`() {
    for user in ["a", "b", nil, "a", "c", "b", nil] { turns.add(user) }
    #expect(turns.readyCount == 4)
    let users1 = takeAll()
    #expect(users1 == ["a", "b", nil, "c"])
    #expect(turns.servingCount == 4 && turns.readyCount == 0)
  }

  @Test mutating func `no more users are served than the limit, and one that ends makes room`() {
    for number in 0..<5 { turns.add("\(number)") }
    let users2 = takeAll(limit: 2)
    #expect(users2 == ["0", "1"])
    turns.end("0", until: nil)
    let users3 = takeAll(limit: 2)
    #expect(users3 == ["2"])
    #expect(turns.servingCount == 2)
  }

  @Test mutating func `a user that is added during its turn goes to the end`() {
    for user in ["a", "b", "c"] { turns.add(user) }
    let users4 = takeAll(limit: 1)
    #expect(users4 == ["a"])
    let isNew = turns.add("a")
    #expect(!isNew)
    turns.end("a", until: .seconds(100))
    #expect(turns.laterCount == 0, "there is something new to send")
    let users5 = takeAll()
    #expect(users5 == ["b", "c", "a"])
  }

  @Test mutating func `a user that began out of turn has no second one`() {
    turns.add("a")
    turns.add("b")
    let begins = [turns.begin("b"), turns.begin("b")]
    #expect(begins == [true, false])
    let users6 = takeAll()
    #expect(users6 == ["a"])
    turns.end("b", until: nil)
    let users7 = takeAll()
    #expect(users7 == [])
    turns.add("b")
    let users8 = takeAll()
    #expect(users8 == ["b"])
  }

  @Test mutating func `users wait for their times, and are not forgotten`() {
    for user in ["soon", "never", "late"] { turns.add(user) }
    _ = takeAll()
    turns.end("soon", until: .seconds(5))
    turns.end("late", until: .seconds(50))
    turns.end("never", until: nil)
    #expect(turns.laterCount == 2 && turns.servingCount == 0)
    #expect(turns.pause(uptime: .seconds(1)) == .seconds(4))
    turns.takeDue(uptime: .seconds(4.9))
    let users9 = takeAll()
    #expect(users9 == [])
    turns.takeDue(uptime: .seconds(5))
    let users10 = takeAll()
    #expect(users10 == ["soon"])
    turns.takeDue(uptime: .seconds(49))
    #expect(turns.laterCount == 1)
    let users11 = takeAll()
    #expect(users11 == [])
    #expect(turns.pause(uptime: .seconds(49.9)) == UploadTurns.leastPause)
    turns.takeDue(uptime: .seconds(50))
    let users12 = takeAll()
    #expect(users12 == ["late"])
    #expect(turns.pause(uptime: .zero) == nil)
  }

  @Test mutating func `what is new ends a wait`() {
    turns.add("a")
    _ = takeAll()
    turns.end("a", until: .seconds(1_000_000))
    let isNew = turns.add("a")
    let users = takeAll()
    #expect(isNew && users == ["a"])
  }

  /// The users that are spelled with other code points are others.
  @Test mutating func `users are told apart byte by byte`() {
    turns.add("\u{E9}")
    turns.add("e\u{301}")
    let count = takeAll().count
    #expect(count == 2)
  }

  @Test mutating func `ten thousand users have ten thousand turns, and the list keeps no waste`() {
    for round in 0..<3 {
      for number in 0..<10_000 { turns.add("\(number)") }
      var count = 0
      while let turn = turns.next(limit: 16) {
        count += 1
        turns.end(turn.user, until: nil)
      }
      #expect(count == 10_000, "round \(round)")
      turns.add("last")
      let last = turns.next(limit: 16)
      #expect(last?.user == "last")
      turns.end("last", until: nil)
    }
  }
}
