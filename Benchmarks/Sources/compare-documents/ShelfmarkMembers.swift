import BenchmarkSupport
import DocumentFormat
import Documents
import LogStore
import Workspace

import struct Foundation.Date

/// Members as documents.
final class ShelfmarkMembers: MemberStore {
  static let configuration =
    "DocumentCollection<GroupMember>, ordered indexes on user.friendRelation.remarkName and user.status.lastSeen, index on"
    + " user.status.isOnline"

  private let collection: DocumentCollection<GroupMember>

  init(_ directory: String) throws {
    collection = try Self.open(directory)
  }

  init(_ directory: String, options: DocumentStore.Options) throws {
    collection = try Self.open(directory, options)
  }

  private static func open(
    _ directory: String, _ options: DocumentStore.Options = DocumentStore.Options()
  ) throws -> DocumentCollection<GroupMember> {
    // Making a directory syncs the one above it, even if there is nothing to make.
    let location =
      try StoreLocation.existing(directory, name: "documents") ?? StoreLocation.creating(directory, name: "documents")
    let store = try DocumentStore.open(location, options: options)
    return try store.collection("members", of: GroupMember.self, indexes: GroupMember.indexes)
  }

  static func fill(_ directory: String, _ members: some Sequence<GroupMember>) throws {
    try open(directory).insert(contentsOf: members)
  }

  func close() throws {}

  func insert(_ member: GroupMember) throws { try collection.insert(member) }
  func insert(contentsOf members: [GroupMember]) throws { try collection.insert(contentsOf: members) }
  func get(_ id: Int) throws -> GroupMember? { try collection.get(id) }

  func members(remark: String) throws -> [GroupMember] {
    try collection.query(\.user.friendRelation?.remarkName == remark).fetch()
  }

  func members(remarkPrefix: String) throws -> [GroupMember] {
    try collection.query(.hasPrefix(\.user.friendRelation?.remarkName, remarkPrefix)).fetch()
  }

  func someMembers(remarkPrefix: String) throws -> [GroupMember] {
    try collection.query(.hasPrefix(\.user.friendRelation?.remarkName, remarkPrefix)).limit(20).fetch()
  }

  func onlineMembers(remarkPrefix: String) throws -> [GroupMember] {
    try collection.query(
      \.user.status.isOnline == true && .hasPrefix(\.user.friendRelation?.remarkName, remarkPrefix)
    ).fetch()
  }

  func members(city: String) throws -> [GroupMember] { try collection.query(\.user.city == city).fetch() }
  func members(device: String) throws -> [GroupMember] { try collection.query(\.user.status.device == device).fetch() }
  func onlineCount() throws -> Int { try collection.query(\.user.status.isOnline == true).count() }
  func counts() throws -> [Bool: Int] {
    let groups = try collection.query().grouped(by: \.user.status.isOnline).count()
    return Dictionary(uniqueKeysWithValues: groups.map { ($0.key, $0.value) })
  }
  func cityCount(_ city: String) throws -> Int { try collection.query(\.user.city == city).count() }

  func lastSeen() throws -> [GroupMember] {
    try collection.query().order(by: \.user.status.lastSeen, descending: true).limit(20).fetch()
  }

  func members(seenIn seconds: Range<Int>) throws -> [GroupMember] {
    let from = Date(timeIntervalSince1970: Double(seconds.lowerBound))
    let end = Date(timeIntervalSince1970: Double(seconds.upperBound))
    return try collection.query(\.user.status.lastSeen >= from && \.user.status.lastSeen < end)
      .order(by: \.user.status.lastSeen).fetch()
  }

  func age(_ id: Int) throws {
    guard try collection.update(id, { $0.user.age += 1 }) != nil else { throw WrongAnswer("no member \(id)") }
  }

  func setRole(_ role: Int, belowGroup group: Int) throws -> Int {
    try collection.query(\.groupId < group).update(set: [\.role: role])
  }

  static func makeUsers(_ root: String, from directory: String, _ users: [String]) throws -> any MemberUsers {
    try ShelfmarkUsers(root, from: directory, users)
  }
}

/// A workspace whose users have copies of the same documents.
private final class ShelfmarkUsers: MemberUsers {
  private let workspace: Workspace

  init(_ root: String, from directory: String, _ users: [String]) throws {
    workspace = try Workspace.open(root)
    for user in users {
      try workspace.signIn(user)
      _ = try Subprocess.run(["cp", "\(directory)/documents.log", "\(root)/users/\(user)/documents.log"])
    }
  }

  func signIn(_ user: String, get id: Int) throws -> GroupMember? {
    try workspace.signIn(user)
    let store = try workspace.stores().documents()
    return try store.collection("members", of: GroupMember.self, indexes: GroupMember.indexes).get(id)
  }

  func close() throws { workspace.close() }
}
