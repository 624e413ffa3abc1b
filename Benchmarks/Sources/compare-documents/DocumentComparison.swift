import BenchmarkSupport
import StoreMetrics
import Documents

/// Goes through the stages: filling, questions, opening, switching users, durable changes.
struct DocumentComparison {
  let options: DocumentsOptions
  let folder: WorkFolder
  let types: [any MemberStore.Type]
  let generator: MemberGenerator
  private(set) var figures: [DocumentFigure] = []

  init(_ options: DocumentsOptions, _ folder: WorkFolder, _ types: [any MemberStore.Type]) {
    self.options = options
    self.folder = folder
    self.types = types
    generator = MemberGenerator(count: options.documentCount, seed: options.seed)
  }

  mutating func run() throws {
    let directories = try fill()
    if options.changesOnly { return try change(directories) }
    complain("answers")
    let answers = MemberAnswers(generator)
    if let question = options.question {
      return try ask(directories, answers.questions().filter { $0.title.contains(question) })
    }
    try trace(directories)
    try open(directories)
    try ask(directories, answers.questions())
    try switchUsers(directories)
    try change(directories)
  }

  private mutating func add(_ title: String, _ clock: String, _ values: [[Double]], _ unit: DocumentFigure.Unit) {
    figures.append(DocumentFigure(title: title, unit: unit, clock: clock, values: values))
  }

  private var none: [[Double]] { types.map { _ in [] } }

  // MARK: Filling

  /// Returns where the filled stores are.
  private mutating func fill() throws -> [String] {
    var directories: [String] = types.map { _ in "" }
    var wall = none
    var processor = none
    let count = Double(options.documentCount)
    let generator = generator
    for round in 0..<options.fills {
      complain("filling, \(round + 1) of \(options.fills)")
      let (_, making) = Elapsed.of { (0..<generator.count).reduce(0) { $0 &+ generator.member($1).user.age } }
      for (place, type) in types.enumerated() {
        let directory = try folder.scratch("store\(place)")
        let members = (0..<generator.count).lazy.map { generator.member($0) }
        let (_, elapsed) = try Elapsed.of { try type.fill(directory, members) }
        wall[place].append((elapsed.wall - making.wall) / count)
        processor[place].append((elapsed.processor - making.processor) / count)
        directories[place] = directory
      }
    }
    add("batch insert, one document", "wall", wall, .nanoseconds)
    add("batch insert, one document", "thread", processor, .nanoseconds)
    add("file", "", try directories.map { [try Self.byteCount($0)] }, .bytes)
    return directories
  }

  private static func byteCount(_ directory: String) throws -> Double {
    let output = try Subprocess.run(["du", "-s", "--block-size=1", directory]).output
    return Double(String(decoding: output.prefix { $0 != 0x09 }, as: UTF8.self)) ?? 0
  }

  // MARK: Reading

  /// What it costs to be told of every get: by nobody, by a hook that does nothing, and by metrics that go nowhere.
  private mutating func trace(_ directories: [String]) throws {
    guard let place = types.firstIndex(where: { $0 is ShelfmarkMembers.Type }) else { return }
    complain("tracing")
    var idle = DocumentStore.Options()
    idle.trace = Tracer { _ in }
    var metrics = DocumentStore.Options()
    metrics.trace = DocumentMetrics.tracer()
    let stores = try [DocumentStore.Options(), idle, metrics].map {
      try ShelfmarkMembers(directories[place], options: $0)
    }
    var random = KeyRandom(options.seed)
    let ids = (0..<5000).map { _ in random.below(generator.count) }
    var times: [[Double]] = stores.map { _ in [] }
    for round in 0...options.rounds {
      for (number, store) in stores.enumerated() {
        let (found, elapsed) = try Elapsed.of { try ids.reduce(0) { try store.get($1) == nil ? $0 : $0 + 1 } }
        guard found == ids.count else { throw WrongAnswer("a get with a tracer") }
        if round > 0 { times[number].append(elapsed.processor / Double(ids.count)) }
      }
    }
    for (title, times) in zip(["no tracer", "a tracer that does nothing", "DocumentMetrics, to nowhere"], times) {
      var values = none
      values[place] = times
      add("get by id, \(title)", "thread", values, .nanoseconds)
    }
  }

  private mutating func open(_ directories: [String]) throws {
    complain("opening")
    var times = none
    var random = KeyRandom(options.seed)
    for _ in 0..<options.rounds * 3 {
      let id = random.below(generator.count)
      for (place, type) in types.enumerated() {
        let start = Elapsed.wallNow()
        let store = try type.init(directories[place])
        let member = try store.get(id)
        times[place].append(Elapsed.wallNow() - start)
        guard member == generator.member(id) else { throw WrongAnswer("\(type): the first get") }
        try store.close()
      }
    }
    add("open to the first get", "wall", times, .nanoseconds)
  }

  private mutating func ask(_ directories: [String], _ questions: [Question]) throws {
    var stores: [any MemberStore] = []
    for (place, type) in types.enumerated() { stores.append(try type.init(directories[place])) }
    for question in questions {
      complain(question.title)
      var sizes: [Int] = []
      for store in stores {
        for key in 0..<min(question.keyCount, options.isQuick ? 20 : 50) {
          try question.check(store, key, generator)
          if key >= 2, question.title.hasPrefix("scan"), generator.count > 100_000 { break }
        }
        sizes.append(try blockSize(question, store))
      }
      var times = none
      for round in 0..<options.rounds {
        for (place, store) in stores.enumerated() {
          times[place].append(try block(question, store, from: round * sizes[place], count: sizes[place]))
        }
      }
      add(question.title, question.usesThreads ? "wall" : "thread", times, .nanoseconds)
    }
    for store in stores { try store.close() }
  }

  /// How many questions fill a block; also the visit that comes before the rounds.
  private func blockSize(_ question: Question, _ store: any MemberStore) throws -> Int {
    let start = Elapsed.now().processor
    var count = 0
    while count == 0 || Elapsed.now().processor - start < options.blockMilliseconds * 1e6 {
      _ = Question.sum(try question.ask(store, count % question.keyCount))
      count += 1
    }
    return count
  }

  /// Nanoseconds of one question.
  private func block(_ question: Question, _ store: any MemberStore, from first: Int, count: Int) throws -> Double {
    var expected: UInt64? = 0
    for key in first..<first + count {
      guard let sum = question.expectedSum(key % question.keyCount, generator) else {
        expected = nil
        break
      }
      expected = expected.map { $0 &+ sum }
    }
    let (sum, elapsed) = try Elapsed.of {
      var sum: UInt64 = 0
      for key in first..<first + count { sum &+= Question.sum(try question.ask(store, key % question.keyCount)) }
      return sum
    }
    guard expected == nil || sum == expected else { throw WrongAnswer("\(type(of: store)): \(question.title)") }
    return (question.usesThreads ? elapsed.wall : elapsed.processor) / Double(count)
  }

  // MARK: Writing

  private mutating func switchUsers(_ directories: [String]) throws {
    complain("switching users")
    let names = ["ann", "ben"]
    var users: [any MemberUsers] = []
    for (place, type) in types.enumerated() {
      let root = try folder.scratch("users\(place)")
      users.append(try type.makeUsers(root, from: directories[place], names))
    }
    var times = none
    var random = KeyRandom(options.seed)
    for round in 0..<options.rounds * 2 + 2 {
      let id = random.below(generator.count)
      for (place, users) in users.enumerated() {
        let start = Elapsed.wallNow()
        let member = try users.signIn(names[round % 2], get: id)
        // The first two open for the first time.
        if round >= 2 { times[place].append(Elapsed.wallNow() - start) }
        guard member == generator.member(id) else { throw WrongAnswer("\(types[place]): the get after a switch") }
      }
    }
    for users in users { try users.close() }
    add("switch to another user, to the first get", "wall", times, .nanoseconds)
  }

  private mutating func change(_ directories: [String]) throws {
    complain("durable changes")
    var stores: [any MemberStore] = []
    for (place, type) in types.enumerated() { stores.append(try type.init(directories[place])) }
    var inserts = none
    var updates = none
    var random = KeyRandom(options.seed &+ 5)
    for number in 0..<100 {
      let new = generator.member(generator.count + number)
      let old = random.below(generator.count)
      for (place, store) in stores.enumerated() {
        inserts[place].append(try Elapsed.of { try store.insert(new) }.1.wall)
        guard let before = try store.get(old)?.user.age else { throw WrongAnswer("\(types[place]): no member \(old)") }
        updates[place].append(try Elapsed.of { try store.age(old) }.1.wall)
        guard try store.get(new.id) == new, try store.get(old)?.user.age == before + 1 else {
          throw WrongAnswer("\(types[place]): a change is not there")
        }
      }
    }
    var batches = none
    for round in 0..<max(5, options.rounds) {
      let first = generator.count + 1000 * (round + 1)
      let new = (first..<first + 1000).map(generator.member)
      for (place, store) in stores.enumerated() {
        batches[place].append(try Elapsed.of { try store.insert(contentsOf: new) }.1.wall)
        guard try store.get(first + 999) == new.last else { throw WrongAnswer("\(types[place]): a batch is not there") }
      }
    }
    var roles = none
    // Groups have 500 members.
    let group = max(1, generator.count / 50_000)
    for round in 0..<options.rounds {
      for (place, store) in stores.enumerated() {
        let (count, elapsed) = try Elapsed.of { try store.setRole(10 + round, belowGroup: group) }
        guard count == min(generator.count, group * 500) else { throw WrongAnswer("\(types[place]): \(count) roles") }
        roles[place].append(elapsed.wall)
      }
    }
    for store in stores { try store.close() }
    add("durable change of a field in 1 % by a condition", "wall", roles, .nanoseconds)
    add("durable insert of 1,000", "wall", batches, .nanoseconds)
    add("durable insert of one", "wall", inserts, .nanoseconds)
    add("durable update of one", "wall", updates, .nanoseconds)
  }
}
