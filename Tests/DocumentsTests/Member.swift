import Foundation

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
