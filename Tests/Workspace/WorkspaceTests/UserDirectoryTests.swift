import Testing

@testable import Workspace

@Suite struct UserDirectoryTests {
  static let ids = [
    "alice", "Alice", "ALICE", "a.b", ".hidden", "..", ".", "../../etc/passwd", "a/b", "用户 1", "caf\u{E9}",
    "cafe\u{301}",
    "a%2Fb", "a+b", "con", "-rf", "a b", "\u{1}", "a\u{202E}b", String(repeating: "x", count: 180),
    String(repeating: "x", count: 181), String(repeating: "é", count: 127),
    // What goes on below begins a name too.
    String(repeating: "x", count: 180) + ".", String(repeating: "x", count: 180) + "..",
    String(repeating: "x", count: 180) + ".y", String(repeating: "é", count: 30) + "..",
    String(repeating: "+", count: 255),
  ]

  @Test func `no two ids share a directory, even where case or normal forms do not count`() {
    var seen: [String: String] = [:]
    for id in Self.ids {
      let path = UserDirectory.path(of: id).joined(separator: "/").lowercased()
      #expect(seen.updateValue(id, forKey: path) == nil, "\(id) and another one share \(path)")
    }
  }

  @Test(arguments: ids)
  func `a name is one that every file system takes, and leads nowhere else`(id: String) {
    for part in UserDirectory.path(of: id) {
      #expect(!part.isEmpty && part.utf8.count <= 200)
      #expect(part != "." && part != "..")
      #expect(part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") })
      #expect(!part.hasPrefix("."))
    }
  }

  @Test(arguments: ids)
  func `an id can be read back from its directory`(id: String) {
    let parts = UserDirectory.path(of: id)
    #expect(parts.dropLast().allSatisfy { $0.hasSuffix("+") })
    #expect(!parts[parts.count - 1].hasSuffix("+"))
    let name = parts.map { $0.hasSuffix("+") ? String($0.dropLast()) : $0 }.joined()
    #expect(UserDirectory.id(of: name).map { Array($0.utf8) } == Array(id.utf8))
  }

  @Test(arguments: ["", "A", "%", "%4", "%zz", "%61", "a/b", ".a", "%FF"])
  func `a name that no id has is no user`(name: String) {
    #expect(UserDirectory.id(of: name) == nil)
  }
}
