import Documents

import struct Foundation.Date

/// A member of a chat group: a document of three levels.
struct GroupMember: Codable, Identifiable, Equatable, Sendable {
  struct User: Codable, Equatable, Sendable {
    struct Relation: Codable, Equatable, Sendable {
      var remarkName: String
      var isBlocked: Bool
      var since: Date
    }

    struct Status: Codable, Equatable, Sendable {
      var isOnline: Bool
      var lastSeen: Date
      var device: String
    }

    var id: Int
    var name: String
    var avatar: String
    var age: Int
    var gender: Gender
    var city: String
    /// What the signed-in user is to this one; nothing for a stranger.
    var friendRelation: Relation?
    var status: Status
  }

  let id: Int
  var groupId: Int
  var role: Int
  var joined: Date
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

extension GroupMember {
  /// What is asked by value or by its beginning, what is asked by value, and what is asked by range and by order.
  static var indexes: [Index<GroupMember>] {
    [
      Index(\.user.friendRelation?.remarkName, .ordered), Index(\.user.status.isOnline),
      Index(\.user.status.lastSeen, .ordered),
    ]
  }
}
