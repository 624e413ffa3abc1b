#if PEER_GRDB
import BenchmarkSupport
import GRDB

import struct Foundation.Date

/// A member as a Swift program would declare it for GRDB: what is asked for in columns, and the nested user as JSON.
private struct MemberRecord: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "member"

  static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .secondsSince1970 }
  static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
    .timeIntervalSince1970
  }

  var id: Int
  var groupId: Int
  var role: Int
  var joined: Date
  var remarkName: String?
  var isOnline: Bool
  var city: String
  var lastSeen: Date
  var user: GroupMember.User

  init(_ member: GroupMember) {
    id = member.id
    groupId = member.groupId
    role = member.role
    joined = member.joined
    remarkName = member.user.friendRelation?.remarkName
    isOnline = member.user.status.isOnline
    city = member.user.city
    lastSeen = member.user.status.lastSeen
    user = member.user
  }

  var member: GroupMember { GroupMember(id: id, groupId: groupId, role: role, joined: joined, user: user) }

  static func createTable(_ db: Database) throws {
    try db.create(table: databaseTableName) { table in
      table.primaryKey("id", .integer)
      table.column("groupId", .integer).notNull()
      table.column("role", .integer).notNull()
      table.column("joined", .integer).notNull()
      table.column("remarkName", .text).indexed()
      table.column("isOnline", .boolean).notNull().indexed()
      table.column("city", .text).notNull()
      table.column("lastSeen", .integer).notNull().indexed()
      table.column("user", .jsonText).notNull()
    }
  }
}

/// Members as rows of GRDB.
final class GRDBMembers: MemberStore {
  static let configuration =
    "DatabasePool, WAL, synchronous=FULL, mapped; a Codable record: id as primary key, indexed columns for remark name,"
    + " online state and the last seen time, a column for city, the nested user as JSON"

  private let pool: DatabasePool

  init(_ directory: String) throws { pool = try Self.pool("\(directory)/members.sqlite") }

  fileprivate static func pool(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA mmap_size=2147418112; PRAGMA cache_size=-65536")
    }
    let pool = try DatabasePool(path: path, configuration: configuration)
    // A pool sets NORMAL when it turns to WAL, behind what its configuration says: no commit would be synced.
    try pool.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA synchronous=FULL")
      guard try Int.fetchOne(db, sql: "PRAGMA synchronous") == 2 else {
        throw WrongAnswer("GRDB does not sync its commits")
      }
    }
    return pool
  }

  static func fill(_ directory: String, _ members: some Sequence<GroupMember>) throws {
    let pool = try pool("\(directory)/members.sqlite")
    try pool.write { db in
      try MemberRecord.createTable(db)
      for member in members { try MemberRecord(member).insert(db) }
    }
    try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    try pool.close()
  }

  func close() throws { try pool.close() }

  func insert(_ member: GroupMember) throws { try pool.write { db in try MemberRecord(member).insert(db) } }

  func insert(contentsOf members: [GroupMember]) throws {
    try pool.write { db in
      for member in members { try MemberRecord(member).insert(db) }
    }
  }

  func get(_ id: Int) throws -> GroupMember? {
    try pool.read { db in try MemberRecord.fetchOne(db, key: id) }?.member
  }

  private func fetch(_ request: QueryInterfaceRequest<MemberRecord>) throws -> [GroupMember] {
    try pool.read { db in try request.fetchAll(db) }.map(\.member)
  }

  /// The texts that begin with `prefix`, as a range that the index can find.
  private func beginning(with prefix: String) -> SQLExpression {
    let column = Column("remarkName")
    return column >= prefix && column < prefix + "\u{10FFFF}"
  }

  func members(remark: String) throws -> [GroupMember] {
    try fetch(MemberRecord.filter(Column("remarkName") == remark))
  }

  func members(remarkPrefix: String) throws -> [GroupMember] {
    try fetch(MemberRecord.filter(beginning(with: remarkPrefix)))
  }

  func someMembers(remarkPrefix: String) throws -> [GroupMember] {
    try fetch(MemberRecord.filter(beginning(with: remarkPrefix)).limit(20))
  }

  func onlineMembers(remarkPrefix: String) throws -> [GroupMember] {
    try fetch(MemberRecord.filter(Column("isOnline") == true && beginning(with: remarkPrefix)))
  }

  func members(city: String) throws -> [GroupMember] { try fetch(MemberRecord.filter(Column("city") == city)) }

  func members(device: String) throws -> [GroupMember] {
    try fetch(MemberRecord.filter(sql: "json_extract(user, '$.status.device') = ?", arguments: [device]))
  }

  func onlineCount() throws -> Int {
    try pool.read { db in try MemberRecord.filter(Column("isOnline") == true).fetchCount(db) }
  }

  func counts() throws -> [Bool: Int] {
    let rows = try pool.read { db in
      try Row.fetchAll(db, MemberRecord.select(Column("isOnline"), count(Column("id"))).group(Column("isOnline")))
    }
    return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as Bool, $0[1] as Int) })
  }

  func cityCount(_ city: String) throws -> Int {
    try pool.read { db in try MemberRecord.filter(Column("city") == city).fetchCount(db) }
  }

  func lastSeen() throws -> [GroupMember] { try fetch(MemberRecord.order(Column("lastSeen").desc).limit(20)) }

  func members(seenIn seconds: Range<Int>) throws -> [GroupMember] {
    let column = Column("lastSeen")
    return try fetch(
      MemberRecord.filter(column >= seconds.lowerBound && column < seconds.upperBound).order(column))
  }

  func age(_ id: Int) throws {
    try pool.write { db in
      guard var record = try MemberRecord.fetchOne(db, key: id) else { throw WrongAnswer("no member \(id)") }
      record.user.age += 1
      try record.update(db)
    }
  }

  func setRole(_ role: Int, belowGroup group: Int) throws -> Int {
    try pool.write { db in
      try MemberRecord.filter(Column("groupId") < group).updateAll(db, Column("role").set(to: role))
    }
  }

  static func makeUsers(_ root: String, from directory: String, _ users: [String]) throws -> any MemberUsers {
    try GRDBUsers(root, from: directory, users)
  }
}

/// A database that says who is signed in, and a file for each user.
private final class GRDBUsers: MemberUsers {
  private let root: String
  private let settings: DatabasePool
  private var current: GRDBMembers?

  init(_ root: String, from directory: String, _ users: [String]) throws {
    self.root = root
    settings = try GRDBMembers.pool("\(root)/settings.sqlite")
    try settings.write { db in
      try db.execute(sql: "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    }
    for user in users { _ = try Subprocess.run(["cp", "-r", directory, "\(root)/\(user)"]) }
  }

  func signIn(_ user: String, get id: Int) throws -> GroupMember? {
    try settings.write { db in
      try db.execute(sql: "INSERT OR REPLACE INTO setting VALUES ('user', ?)", arguments: [user])
    }
    try current?.close()
    let members = try GRDBMembers("\(root)/\(user)")
    current = members
    return try members.get(id)
  }

  func close() throws {
    try current?.close()
    try settings.close()
  }
}
#endif
