import Foundation
import LogStore
import RemoteLists
import Testing

/// `cache list`, `show` and `clear`.
@Suite struct CacheCommandTests {
  private struct Post: Codable, Identifiable, Sendable {
    let id: String
    var text: String
    var likes: Int
  }

  /// A root where `u` is signed in and has pages of the lists `inbox` and, expired, 7.
  private func root() async throws -> TestRoot {
    let root = try TestRoot(answers: [])
    let store = PageStore(try StoreLocation.creating(root.path + "/users/u", name: "cache"))
    let inbox = PageCache("inbox", in: store, pageSize: 2) { page, _ in
      page == 1
        ? [Post(id: "c", text: "two\nlines", likes: 3), Post(id: "b", text: "用户", likes: 2)]
        : [Post(id: "b", text: "newer", likes: 9)]
    }
    for page in 1...2 { #expect(try await inbox.load(page: page).notStored == nil) }
    let seven = PageCache(7, in: store, pageSize: 10, lifetime: .zero) { _, _ in [Post(id: "x", text: "x", likes: 0)] }
    #expect(try await seven.load().notStored == nil)
    return root
  }

  private func files(_ root: TestRoot) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
  }

  @Test func `CATALOG_TRACE says what each operation on the cache cost`() async throws {
    let root = try await root()
    for arguments in [["list"], ["show", "inbox"], ["clear", "inbox"], ["clear"]] {
      let run = try root.run(["cache"] + arguments, variables: ["CATALOG_TRACE": "all"])
      #expect(run.code == 0 && run.words.contains("lists"), "\(arguments): \(run.words)")
      let wrong = try root.run(["cache"] + arguments, variables: ["CATALOG_TRACE": "loud"])
      #expect(wrong.code == 64 && wrong.words.contains("CATALOG_TRACE"), "\(arguments)")
    }
  }

  @Test func `lists are a line each, and show prints the merged items`() async throws {
    let root = try await root()
    let before = try files(root)
    let run = try root.run("cache", "list", "--json")
    let lists = try run.objects()
    #expect(run.code == 0 && run.words.isEmpty && lists.map { $0.text("id") } == ["7", "inbox"])
    #expect(lists[1].sortedKeys == ["age", "bytes", "id", "items", "pageSize", "pages", "stale"])
    #expect(lists[1].number("pages") == 2 && lists[1].number("items") == 3 && lists[1].number("pageSize") == 2)
    #expect(lists.map { $0["stale"] as? Bool } == [true, false])
    #expect((lists[1]["age"] as? Double).map { (0..<3600).contains($0) } == true)
    let table = try root.run("cache", "list")
    #expect(table.lines.count == 3 && table.lines[0].hasPrefix("LIST") && table.lines[2].hasPrefix("inbox"))
    let items = try root.run("cache", "show", "inbox", "--json").objects()
    #expect(items.map { $0.text("id") } == ["c", "b"] && items[1].text("text") == "newer")
    #expect(items[0].sortedKeys == ["id", "likes", "text"] && items[0].number("likes") == 3)
    let text = try root.run("cache", "show", "inbox")
    #expect(text.lines.count == 2 && text.lines[0].hasPrefix("c  text: two"))
    #expect(try root.run("cache", "show", "7", "--page-size", "10").lines.count == 1)
    #expect(try root.run("cache", "show", "7", "--page-size", "11").code == 1)
    let none = try root.run("cache", "show", "nothing")
    #expect(none.code == 1 && none.output.isEmpty && none.words.contains("cache list"))
    #expect(try files(root) == before)
  }

  @Test func `clear says what it removed`() async throws {
    let root = try await root()
    let one = try root.run("cache", "clear", "inbox", "--json").object()
    #expect(one.sortedKeys == ["bytes", "lists", "pages"] && one.number("lists") == 1 && one.number("pages") == 2)
    #expect(try root.run("cache", "clear", "inbox").code == 1)
    #expect(try root.run("cache", "list", "--json").objects().map { $0.text("id") } == ["7"])
    let all = try root.run("cache", "clear")
    #expect(all.code == 0 && all.output.isEmpty && all.words.contains("1 page of 1 list"))
    #expect(try root.run("cache", "list", "--json").output.isEmpty)
    #expect(try root.run("cache", "clear", "--json").object().number("pages") == 0)
    #expect(try root.run("cache", "clear", "--page-size", "3").code == 64)
    // What else the user has is untouched.
    #expect(try root.run("verify").code == 0)
  }

  @Test func `clear removes several lists in one commit, and says which are not cached`() async throws {
    let root = try await root()
    let store = PageStore(try StoreLocation.creating(root.path + "/users/u", name: "cache"))
    let top = PageCache("top", in: store, pageSize: 2) { _, _ in [Post(id: "t", text: "", likes: 0)] }
    #expect(try await top.load().notStored == nil)
    let both = try root.run("cache", "clear", "inbox", "top", "top", "--json")
    #expect(try both.code == 0 && both.words.isEmpty && both.object().number("lists") == 2)
    #expect(try both.object().number("pages") == 3)
    #expect(try root.run("cache", "list", "--json").objects().map { $0.text("id") } == ["7"])
    // What is cached is removed, and what is not is named.
    let escape = "\u{1B}[2J"
    let some = try root.run("cache", "clear", "inbox", "7", "", "inbox", escape)
    #expect(some.code == 1 && some.output.isEmpty && some.words.contains("1 page of 1 list"), "\(some.words)")
    #expect(some.words.contains(#"not cached: "inbox", "", "#) && !some.words.contains("\u{1B}"), "\(some.words)")
    let none = try root.run("cache", "clear", "inbox", "7", "--json")
    #expect(none.code == 1 && none.output.isEmpty && none.words.contains(#""inbox", "7""#), "\(none.words)")
    #expect(try root.run("cache", "list", "--json").output.isEmpty)
    for command in ["clear", "show"] {
      for size in ["0", "-1", "x", "99999999999999999999"] {
        #expect(try root.run("cache", command, "inbox", "--page-size=\(size)").code == 64, "\(size)")
      }
      let other = try root.run("cache", command, "inbox", "--page-size", "11")
      #expect(other.code == 1 && other.words.contains("a page size of 11"), "\(other.words)")
    }
  }

  @Test func `a list without rows is stale after thirty seconds`() async throws {
    let root = try TestRoot(answers: [])
    var options = PageStore.Options()
    options.now = { Date() - 31 }
    let store = PageStore(try StoreLocation.creating(root.path + "/users/u", name: "cache"), options: options)
    for (key, posts) in [("empty", [Post]()), ("full", [Post(id: "x", text: "x", likes: 0)])] {
      let list = PageCache(key, in: store, pageSize: 2) { _, _ in posts }
      #expect(try await list.load().notStored == nil)
    }
    let lists = try root.run("cache", "list", "--json").objects()
    #expect(lists.map { $0.text("id") } == ["empty", "full"] && lists.map { $0["stale"] as? Bool } == [true, false])
    #expect(lists.map { $0.number("items") } == [0, 1])
  }

  @Test func `the default store has a cache of its own, which belongs to nobody`() async throws {
    let empty = try TestRoot()
    for arguments in [["list"], ["list", "--json"], ["clear"]] {
      let run = try empty.run(["cache"] + arguments + ["--default"])
      #expect(run.code == 0 && run.output.isEmpty, "\(run.words)")
    }
    for arguments in [["show", "device"], ["clear", "device"]] {
      #expect(try empty.run(["cache"] + arguments + ["--default"]).code == 1)
    }
    for arguments in [["list"], ["show", "x"], ["clear"], ["clear", "x"]] {
      let run = try empty.run(["cache"] + arguments + ["--default", "--user", "u"])
      #expect(run.code == 64 && run.words.contains("--user or --default"), "\(run.words)")
    }
    #expect(!empty.exists)

    let root = try await root()
    let store = PageStore(try StoreLocation.creating(root.path + "/default", name: "cache"))
    for key in ["device", "shop"] {
      let list = PageCache(key, in: store, pageSize: 2) { _, _ in [Post(id: key, text: "default", likes: 1)] }
      #expect(try await list.load().notStored == nil)
    }
    #expect(try root.run("logout").code == 0)
    #expect(try root.run("cache", "list").code == 64)
    let lists = try root.run("cache", "list", "--default", "--json").objects()
    #expect(lists.map { $0.text("id") } == ["device", "shop"])
    let items = try root.run("cache", "show", "device", "--default", "--json").objects()
    #expect(items.map { $0.text("id") } == ["device"])
    #expect(try root.run("cache", "show", "inbox", "--default").code == 1)
    #expect(try root.run("cache", "clear", "device", "shop", "--default", "--json").object().number("lists") == 2)
    #expect(try root.run("cache", "list", "--default", "--json").output.isEmpty)
    #expect(try root.run("cache", "list", "--user", "u", "--json").objects().count == 2)
  }

  @Test func `a user without a cache reads as an empty one, and nothing is made`() throws {
    let root = try TestRoot()
    #expect(try root.run("cache", "list").code == 64)
    for command in [["list"], ["list", "--json"]] {
      let run = try root.run(["cache"] + command + ["--user", "nobody"])
      #expect(run.code == 0 && run.output.isEmpty && run.words.isEmpty)
    }
    #expect(try root.run("cache", "show", "inbox", "--user", "nobody").code == 1)
    #expect(try root.run("cache", "clear", "inbox", "--user", "nobody").code == 1)
    #expect(try root.run("cache", "clear", "--json", "--user", "nobody").object().number("lists") == 0)
    #expect(!root.exists)
    _ = try root.run("login", "u")
    let before = try files(root)
    #expect(try root.run("cache", "list").output.isEmpty)
    #expect(try root.run("cache", "clear").code == 0)
    #expect(try files(root) == before)
  }

  @Test func `a damaged cache is told, and set aside by clear`() async throws {
    let root = try await root()
    let cache = URL(fileURLWithPath: root.path + "/users/u/cache.log")
    try Data("no store".utf8).write(to: cache)
    for command in [["list"], ["list", "--json"], ["show", "inbox"]] {
      let run = try root.run(["cache"] + command)
      #expect(run.code == 65 && run.output.isEmpty && run.words.contains("cache.log"), "\(run.words)")
    }
    #expect(try Data(contentsOf: cache) == Data("no store".utf8))
    let run = try root.run("cache", "clear", "--json")
    #expect(run.code == 0 && run.words.contains("cache.damaged-1"), "\(run.words)")
    #expect(try root.run("cache", "list").code == 0)
    #expect(try files(root).contains { $0.hasSuffix("cache.damaged-1") })
  }
}
