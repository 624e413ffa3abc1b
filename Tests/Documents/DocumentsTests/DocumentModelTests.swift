import DocumentFormat
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Documents

/// Random operations by two stores on one file, as two processes have them, against dictionaries.
@Suite struct DocumentModelTests {
  private struct Stop: Error {}

  /// Two stores, what they should show, and old snapshots with what they showed.
  private struct Machine {
    var documents = TestDocuments()
    var stores: [DocumentStore] = []
    var model = DocumentContents()
    var members: [String: [Int: Member]] = [:]
    var held: [(snapshot: DocumentSnapshot, contents: DocumentContents)] = []
    static let names = ["a", "b"]
    static let indexSets: [[Index<Member>]] = [
      [], [Index(\.user.tags)], Member.indexes, [Index(\.user.name, prefixes: true), Index(\.user.age)],
    ]

    init(_ random: inout SeededGenerator) throws { try open(&random) }

    mutating func open(_ random: inout SeededGenerator) throws {
      var options = DocumentStore.Options()
      if Bool.random(using: &random) { options.compaction = CompactionPolicy(share: 0.5, floor: 0) }
      stores = try [documents.store(options), documents.store()]
    }

    mutating func put(_ member: Member, _ name: String) throws {
      members[name, default: [:]][member.id] = member
      try model.put(member, name)
    }

    mutating func delete(_ id: Int, _ name: String) throws {
      members[name]?[id] = nil
      try model.delete(id, name)
    }

    /// One operation. Returns what it was.
    mutating func step(_ random: inout SeededGenerator) throws -> String {
      let store = stores.randomElement(using: &random)!
      let name = Self.names.randomElement(using: &random)!
      // The indexes are left as they are.
      let collection = DocumentCollection<Member>(store, try DocumentTable(name), [])
      let id = Int.random(in: 0..<12, using: &random)
      let old = members[name]?[id]
      switch Int.random(in: 0..<22, using: &random) {
      case 0...2:
        let member = Member(id, &random)
        do {
          try collection.insert(member)
          guard old == nil else { throw Oddity("an id is taken twice") }
          try put(member, name)
        } catch let DocumentStoreError.exists(_, taken) {
          guard old != nil, taken == "\(id)" else { throw Oddity("\(taken) is not taken") }
        }
        return "insert"
      case 3...5:
        let member = Member(id, &random)
        try collection.upsert(member)
        try put(member, name)
        return "upsert"
      case 6...8:
        let tags = ["x\(Int.random(in: 0..<3, using: &random))"]
        let changed = try collection.update(id) { $0.user.tags = tags }
        guard (changed == nil) == (old == nil) else { throw Oddity("update") }
        if let changed { try put(changed, name) }
        return "update"
      case 9, 10:
        guard try collection.delete(id) == (old != nil) else { throw Oddity("delete") }
        try delete(id, name)
        return "delete"
      case 11:
        guard try collection.deleteAll() == members[name]?.count ?? 0 else { throw Oddity("deleteAll") }
        members[name] = nil
        model.deleteAll(name)
        return "deleteAll"
      case 12, 13:
        let new = (0..<Int.random(in: 0...30, using: &random)).map { Member(100 * model.documents.count + $0, &random) }
          .filter { members[name]?[$0.id] == nil }
        try collection.insert(contentsOf: new)
        for member in new { try put(member, name) }
        return "batch"
      case 14, 15: return try transaction(store, &random)
      case 16:
        let indexes = Self.indexSets.randomElement(using: &random)!
        _ = try store.collection(name, indexes: indexes)
        let paths = try indexes.map { try $0.description.get() }
        model.indexes[name] = paths.isEmpty ? nil : paths.map { "\($0.path)" + ($0.hasPrefixes ? "*" : "") }.sorted()
        return "indexes"
      case 17:
        try store.compact()
        return "compact"
      case 18:
        try open(&random)
        return "open"
      case 19:
        // Power fails, and both processes begin again.
        let crashed = documents.device.crashed(.random(&random), &random)
        documents = TestDocuments(crashed, seed: random.next())
        held = []
        try open(&random)
        return "crash"
      case 20:
        held.append((try store.snapshot(), model))
        if held.count > 5 { held.removeFirst() }
        return "hold"
      default:
        for (snapshot, contents) in held where try DocumentContents(snapshot) != contents {
          throw Oddity("commit \(snapshot.sequence) has changed")
        }
        return "look"
      }
    }

    /// Several changes at once, which in some cases are taken back.
    private mutating func transaction(_ store: DocumentStore, _ random: inout SeededGenerator) throws -> String {
      let before = (model, members)
      let isStopped = Int.random(in: 0..<4, using: &random) == 0
      do {
        try store.transaction { transaction in
          for _ in 0..<Int.random(in: 0...12, using: &random) {
            let name = Self.names.randomElement(using: &random)!
            let collection = DocumentCollection<Member>(store, try DocumentTable(name), [])
            let id = Int.random(in: 0..<12, using: &random)
            guard try transaction.get(id, from: collection) == members[name]?[id] else { throw Oddity("get") }
            if Bool.random(using: &random) {
              let member = Member(id, &random)
              try transaction.upsert(member, into: collection)
              try put(member, name)
            } else {
              try transaction.delete(id, from: collection)
              try delete(id, name)
            }
          }
          if isStopped { throw Stop() }
        }
      } catch is Stop {
        (model, members) = before
      }
      return "transaction"
    }

    /// Both stores show what they should, to every question.
    func check(_ random: inout SeededGenerator) throws {
      for store in stores {
        let found = try DocumentContents(store.snapshot())
        guard found == model else { throw Oddity("it shows \(found), and should show \(model)") }
        for name in Self.names {
          let collection = DocumentCollection<Member>(store, try DocumentTable(name), [])
          let all = (members[name] ?? [:]).values.sorted { $0.id < $1.id }
          let one = Member(0, &random)
          let questions: [(Where<Member>, (Member) -> Bool)] = [
            (.contains(\.user.tags, "x"), { $0.user.tags.contains("x") }),
            (\.user.age == one.user.age, { $0.user.age == one.user.age }),
            (.hasPrefix(\.user.name, "an"), { $0.user.name.utf8.starts(with: "an".utf8) }),
            (\.user.status.isOnline == true, { $0.user.status.isOnline }),
          ]
          for (filter, holds) in questions {
            let ids = try collection.query(filter).order(by: \.id).fetch().map(\.id)
            guard ids == all.filter(holds).map(\.id) else { throw Oddity("\(try filter.condition()): \(ids)") }
          }
        }
      }
    }
  }

  @Test func `whatever two stores do in turn, both show what dictionaries would`() throws {
    var random = SeededGenerator(for: "DocumentModelTests")
    var operations = 0
    for round in 0..<(6 * depth) {
      var machine = try Machine(&random)
      var done: [String] = []
      for number in 0..<60 {
        do {
          done.append(try machine.step(&random))
          if number % 3 == 0 { try machine.check(&random) }
        } catch {
          Issue.record("round \(round), \(done.suffix(20).joined(separator: ", ")): \("\(error)".prefix(1000))")
          return
        }
        operations += 1
      }
      try machine.check(&random)
      #expect(try Verification.run(machine.documents.location)?.findings.isEmpty ?? true)
    }
    print("DocumentModelTests: \(operations) operations")
  }
}
