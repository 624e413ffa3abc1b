/// A store of members that is measured. Everything answers with whole values of the model.
protocol MemberStore: AnyObject {
  /// Makes a store in `directory` and adds the members in one commit.
  static func fill(_ directory: String, _ members: some Sequence<GroupMember>) throws
  static var configuration: String { get }

  init(_ directory: String) throws
  func close() throws

  func insert(_ member: GroupMember) throws
  /// Adds members in one durable commit.
  func insert(contentsOf members: [GroupMember]) throws
  func get(_ id: Int) throws -> GroupMember?
  func members(remark: String) throws -> [GroupMember]
  func members(remarkPrefix: String) throws -> [GroupMember]
  /// Twenty of them, whichever.
  func someMembers(remarkPrefix: String) throws -> [GroupMember]
  func onlineMembers(remarkPrefix: String) throws -> [GroupMember]
  func members(city: String) throws -> [GroupMember]
  func members(device: String) throws -> [GroupMember]
  func onlineCount() throws -> Int
  /// All members, by whether they are online: how many there are of both.
  func counts() throws -> [Bool: Int]
  func cityCount(_ city: String) throws -> Int
  /// Twenty, the one who was seen last first.
  func lastSeen() throws -> [GroupMember]
  /// Those who were seen at a time in the range, in seconds since 1970, the first one first.
  func members(seenIn seconds: Range<Int>) throws -> [GroupMember]
  /// Makes a member one year older, durably.
  func age(_ id: Int) throws

  /// Gives all members of the groups below a number a role, in one durable commit. Returns how many there are.
  func setRole(_ role: Int, belowGroup group: Int) throws -> Int

  /// A workspace with two users who have a store each, copied from `directory`.
  static func makeUsers(_ root: String, from directory: String, _ users: [String]) throws -> any MemberUsers
}

/// Users with a store each, of whom one is signed in.
protocol MemberUsers: AnyObject {
  /// Signs the user in, durably, closes the store of the one before and opens the user's. Then the first get.
  func signIn(_ user: String, get id: Int) throws -> GroupMember?
  func close() throws
}
