import Platform
import Storage
import Testing

@Suite struct MemoryDirectoryTests {
  @Test func `files have names, contents and identities, and go with the last who has them`() throws {
    let directory = MemoryDirectory()
    #expect(try directory.open("a", .read) == nil)
    let file = try #require(try directory.open("a", .create))
    try file.write([1, 2, 3], at: 0)
    try directory.link("a", to: "b")
    #expect(try directory.identity(of: "b") == file.identity)
    try directory.rename("a", to: "c")
    #expect(try directory.names() == ["b", "c"])
    #expect(try directory.remove("b"))
    let isThere = try directory.remove("b")
    #expect(!isThere)
    let mapping = try file.map(3)
    #expect(try directory.remove("c"))
    #expect(try directory.names() == [])
    #expect(try file.read(3, at: 0) == [1, 2, 3])
    #expect(mapping.byteCount == 3)
    let error = #expect(throws: StorageError.self) { try directory.rename("c", to: "d") }
    #expect(error?.path == "memory/c")
    #expect(throws: StorageError.self) { try directory.link("c", to: "d") }
  }

  @Test func `a file that is created again is empty`() throws {
    let directory = MemoryDirectory()
    let file = try #require(try directory.open("a", .create))
    try file.write([1, 2, 3], at: 0)
    let again = try #require(try directory.open("a", .create))
    #expect(try again.size() == 0)
  }
}
