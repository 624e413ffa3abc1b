import Foundation
import RandomTestSupport

/// A member of a chat group: a document of three levels.
struct Member: Codable, Identifiable, Equatable, Sendable {
  struct User: Codable, Equatable, Sendable {
    struct Relation: Codable, Equatable, Sendable {
      var remarkName: String?
      var isBlocked = false
    }

    struct Status: Codable, Equatable, Sendable {
      var isOnline: Bool
      var lastSeen: Date
    }

    var name: String
    var age: Int
    var gender: Gender
    var tags: [String]
    var friendRelation: Relation?
    var status: Status
    var role = Role.guest
    var score = 0.0
    var joined: Date?
    var devices: [Device] = []
  }

  /// An enumeration of texts.
  enum Role: String, Codable, Sendable, CaseIterable { case guest, member, owner }

  struct Device: Codable, Equatable, Sendable {
    var kind: String
    var build: Int
  }

  let id: Int
  var user: User
}

/// An enumeration that keeps values which it does not know.
enum Gender: RawRepresentable, Codable, Equatable, Sendable {
  case female, male
  case other(Int)

  init(rawValue: Int) {
    switch rawValue {
    case 0: self = .female
    case 1: self = .male
    default: self = .other(rawValue)
    }
  }

  var rawValue: Int {
    switch self {
    case .female: 0
    case .male: 1
    case .other(let value): value
    }
  }
}

extension Member {
  /// Member number `id` of a made-up group.
  init(_ id: Int) {
    self.init(
      id: id,
      user: User(
        name: "name \(id % 100)", age: id % 90, gender: Gender(rawValue: id % 4), tags: ["t\(id % 3)", "u\(id % 5)"],
        friendRelation: id % 2 == 0 ? User.Relation(remarkName: "remark \(id % 10)") : nil,
        status: User.Status(isOnline: id % 3 == 0, lastSeen: Date(timeIntervalSince1970: Double(id)))))
  }
}

extension Member {
  /// A member of whom everything is random, from small pools: values meet each other often.
  init(_ id: Int, _ random: inout SeededGenerator) {
    func pick<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }
    let names = [
      "", "a", "A", "anna", "Anna", "annabel", "bo%b", "b_b", "é", "É", "王小明", "王",
      String(repeating: "long ", count: 9),
    ]
    let dates = [0, 1, 1_700_000_000, 1_700_000_000.25, -5.5].map { Date(timeIntervalSince1970: $0) }
    self.init(
      id: id,
      user: User(
        name: pick(names), age: pick([-1, 0, 1, 23, 24, 40, .max, .min]),
        gender: Gender(rawValue: pick([0, 1, 2, -7])),
        tags: (0..<pick([0, 1, 2, 3])).map { _ in pick(["x", "y", "z", ""]) },
        friendRelation: pick([
          nil, User.Relation(), User.Relation(remarkName: pick(names), isBlocked: pick([true, false])),
        ]),
        status: User.Status(isOnline: pick([true, false]), lastSeen: pick(dates)), role: pick(Member.Role.allCases),
        score: pick([0, -0.0, 1, 0.1, -3.5, .infinity, 24]), joined: pick([nil] + dates.map { $0 }),
        devices: (0..<pick([0, 1, 2])).map { _ in Member.Device(kind: pick(["phone", "desk"]), build: pick([1, 2, 3])) }
      ))
  }
}
