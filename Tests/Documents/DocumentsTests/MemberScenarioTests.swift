import DocumentFormat
import Foundation
import LogStore
import StoreTestSupport
import Synchronization
import Testing

@testable import Documents

@Suite struct MemberScenarioTests {
  /// Four people of whom two have a remark name for each other.
  private func member(
    _ id: Int, _ name: String, remark: String?, isOnline: Bool, gender: Gender = .female
  ) -> Member {
    var member = Member(id)
    member.user.name = name
    member.user.friendRelation = remark.map { Member.User.Relation(remarkName: $0) }
    member.user.status.isOnline = isOnline
    member.user.gender = gender
    return member
  }

  @Test
  func `nested members queried by remark name and online state, ordered, updated, deleted, back-filled`() throws {
    let documents = TestDocuments()
    var members = try documents.store().collection("members", of: Member.self)
    try members.insert(contentsOf: [
      member(1, "Wang", remark: "boss", isOnline: true), member(2, "Li", remark: nil, isOnline: true, gender: .male),
      member(3, "Zhao", remark: "bob", isOnline: false, gender: .other(7)),
      member(4, "Chen", remark: "boss", isOnline: false), member(5, "Ada", remark: "boss", isOnline: true),
    ])
    // Without an index every member is read; with one, those that are found.
    let bosses: Where<Member> = \.user.friendRelation?.remarkName == "boss" && \.user.status.isOnline == true
    #expect(try members.query(bosses).explain() == .scan)
    #expect(try members.query(bosses).order(by: \.user.name).fetch().map(\.user.name) == ["Ada", "Wang"])

    let progress = Mutex<[Int]>([])
    var options = DocumentStore.Options()
    options.onReindex = { name, done, total in
      progress.withLock { $0.append(name == "members" && total == 5 ? done : -1) }
    }
    members = try documents.store(options).collection("members", indexes: Member.indexes)
    #expect(progress.withLock { $0.last } == 5)
    #expect(try members.query(bosses).explain() != .scan)
    #expect(try members.query(bosses).order(by: \.user.name).fetch().map(\.user.name) == ["Ada", "Wang"])
    let b: Where<Member> = .hasPrefix(\.user.friendRelation?.remarkName, "bo")
    #expect(try members.query(b).explain() != .scan)
    #expect(
      try members.query(b).order(by: \.user.friendRelation?.remarkName).order(by: \.user.name, descending: true)
        .fetch().map(\.id) == [3, 1, 4, 5])
    #expect(try members.query(\.user.gender == Gender.other(7)).fetch().map(\.id) == [3])

    // Going online, and being renamed, moves a member from key to key.
    #expect(try members.update(4) { $0.user.status.isOnline = true }?.user.status.isOnline == true)
    #expect(try members.query(bosses).order(by: \.user.name).fetch().map(\.user.name) == ["Ada", "Chen", "Wang"])
    try members.update(1) { $0.user.friendRelation?.remarkName = "former boss" }
    #expect(try members.query(bosses).order(by: \.user.name).fetch().map(\.user.name) == ["Ada", "Chen"])
    #expect(try members.delete(5))
    #expect(try members.query(bosses).fetch().map(\.user.name) == ["Chen"])
    #expect(try members.query(\.user.friendRelation?.remarkName == nil).fetch().map(\.id) == [2])
    #expect(try documents.contents().documents["members"]?.count == 4)
  }
}
