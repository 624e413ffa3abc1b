import BenchmarkSupport

/// What a store answered.
enum Answer {
  case one(GroupMember?)
  case many([GroupMember])
  case count(Int)
}

/// One kind of question, with keys to ask for and what has to come back.
struct Question {
  let title: String
  /// How many different keys there are.
  let keyCount: Int
  let ask: (any MemberStore, Int) throws -> Answer
  let expected: (Int) -> Expected

  /// Whether a store may ask several threads, so that the processor time of one says nothing.
  var usesThreads: Bool { title.hasPrefix("scan") }

  enum Expected {
    case ids([Int])
    /// The same, in this order.
    case ordered([Int])
    /// So many of those whose remark begins with the text.
    case some(Int, prefix: String)
    case count(Int)
  }

  /// A number that an answer has to give: it is made of what each member found says.
  static func sum(_ answer: Answer) -> UInt64 {
    switch answer {
    case .one(let member): member.map(touch) ?? 0
    case .many(let members): members.reduce(0) { $0 &+ touch($1) }
    case .count(let count): UInt64(count)
    }
  }

  func expectedSum(_ key: Int, _ generator: MemberGenerator) -> UInt64? {
    switch expected(key) {
    case .ids(let ids), .ordered(let ids): ids.reduce(0) { $0 &+ Self.touch(generator.member($1)) }
    case .some: nil
    case .count(let count): UInt64(count)
    }
  }

  private static func touch(_ member: GroupMember) -> UInt64 {
    UInt64(member.id) &* 1_000_003 &+ UInt64(member.user.age) &+ UInt64(member.user.city.utf8.count)
      &+ UInt64(member.user.friendRelation?.remarkName.utf8.count ?? 0)
  }

  /// Compares every field of an answer.
  func check(_ store: any MemberStore, _ key: Int, _ generator: MemberGenerator) throws {
    let answer = try ask(store, key)
    let isRight =
      switch (answer, expected(key)) {
      case (.one(let member), .ids(let ids)): member == ids.first.map(generator.member)
      case (.many(let members), .ids(let ids)):
        members.sorted { $0.id < $1.id } == ids.sorted().map(generator.member)
      case (.many(let members), .ordered(let ids)): members == ids.map(generator.member)
      case (.many(let members), .some(let count, let prefix)):
        members.count == count
          && members.allSatisfy {
            $0.user.friendRelation?.remarkName.hasPrefix(prefix) == true && $0 == generator.member($0.id)
          }
      case (.count(let count), .count(let expected)): count == expected
      default: false
      }
    guard isRight else {
      throw WrongAnswer("\(type(of: store)): \(title), key \(key): \(answer)".prefix(500).description)
    }
  }
}

extension MemberAnswers {
  /// A number that tells which count belongs to which group.
  private static func sum(of counts: [Bool: Int]) -> Int {
    (counts[true] ?? 0) * 1_000_003 + (counts[false] ?? 0) + (counts.count == 2 ? 0 : 7)
  }

  /// All questions, the keys chosen by the seed.
  func questions() -> [Question] {
    var random = KeyRandom(generator.seed &+ 77)
    let ids = (0..<min(generator.count, 200_000)).map { _ in random.below(generator.count) }
    let missing = ids.map { generator.count + 1_000_000 + $0 }
    // Remarks that somebody has.
    let remarks = ids.prefix(20_000).compactMap(generator.remarkNumber).map(MemberGenerator.remark)
    let prefixes = remarks.map { String($0.prefix(10)) }
    let shortPrefixes = remarks.map { String($0.prefix(3)) }
    // About a thousand members each.
    let width = MemberGenerator.seenSeconds / max(1, generator.count / 1000)
    let ranges = (0..<256).map { _ in
      let first = MemberGenerator.firstSeen + random.below(max(1, MemberGenerator.seenSeconds - width))
      return first..<first + width
    }
    let cities = (0..<256).map { _ in random.below(MemberGenerator.placeCount) }
    return [
      Question(title: "get by id", keyCount: ids.count, ask: { .one(try $0.get(ids[$1])) }) { .ids([ids[$0]]) },
      Question(title: "get by id, none there", keyCount: ids.count, ask: { .one(try $0.get(missing[$1])) }) { _ in
        .ids([])
      },
      Question(
        title: "remark name equals", keyCount: remarks.count, ask: { .many(try $0.members(remark: remarks[$1])) }
      ) { .ids(self.ids(remarkPrefix: remarks[$0])) },
      Question(
        title: "remark name begins with 10 letters", keyCount: prefixes.count,
        ask: { .many(try $0.members(remarkPrefix: prefixes[$1])) }
      ) { .ids(self.ids(remarkPrefix: prefixes[$0])) },
      Question(
        title: "remark name begins with 3 letters, 20 of them", keyCount: prefixes.count,
        ask: { .many(try $0.someMembers(remarkPrefix: shortPrefixes[$1])) }
      ) {
        .some(min(20, self.ids(remarkPrefix: shortPrefixes[$0]).count), prefix: shortPrefixes[$0])
      },
      Question(
        title: "online, and remark name begins with 10 letters", keyCount: prefixes.count,
        ask: { .many(try $0.onlineMembers(remarkPrefix: prefixes[$1])) }
      ) { .ids(self.ids(remarkPrefix: prefixes[$0]).filter(generator.isOnline)) },
      Question(title: "count of those online", keyCount: 1, ask: { store, _ in .count(try store.onlineCount()) }) { _ in
        .count(onlineCount)
      },
      Question(
        title: "all grouped by online state, with counts", keyCount: 1,
        ask: { store, _ in .count(Self.sum(of: try store.counts())) }
      ) { _ in .count(Self.sum(of: [true: onlineCount, false: generator.count - onlineCount])) },
      Question(
        title: "scan: a field that is a column without index", keyCount: cities.count,
        ask: { .many(try $0.members(city: MemberGenerator.city(cities[$1]))) }
      ) { .ids(self.ids(city: cities[$0])) },
      Question(
        title: "scan: a field inside the JSON", keyCount: cities.count,
        ask: { .many(try $0.members(device: MemberGenerator.device(cities[$1]))) }
      ) { .ids(self.ids(device: cities[$0])) },
      Question(
        title: "scan: count of a city", keyCount: cities.count,
        ask: { .count(try $0.cityCount(MemberGenerator.city(cities[$1]))) }
      ) { .count(self.ids(city: cities[$0]).count) },
      Question(
        title: "last seen in a range, about 1,000 of them in its order", keyCount: ranges.count,
        ask: { .many(try $0.members(seenIn: ranges[$1])) }
      ) { .ordered(self.ids(seenIn: ranges[$0])) },
      Question(
        title: "all ordered by last seen, 20 of them", keyCount: 1, ask: { store, _ in .many(try store.lastSeen()) }
      ) { _ in .ordered(lastSeen) },
    ]
  }
}
