import Bytes
import Foundation
import Platform
import RecordFormat
import StoreTestSupport
import Testing
@testable import Storage

/// Serialized, as the mask of a process belongs to all of its threads.
@Suite(.serialized) struct PosixDirectoryTests {
  private let temporary: TemporaryDirectory

  init() throws { temporary = try TemporaryDirectory() }

  private var directory: PosixDirectory { temporary.directory }

  private func mode(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: temporary.path + "/" + name)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  private func write(_ text: String, to file: any StorageFile, at offset: Int) throws {
    let bytes = Array(text.utf8)
    try file.write(bytes.rawSpan, at: offset)
  }

  private func code(_ body: () throws -> Void) -> Int32? {
    do { try body() } catch let error as StorageError { return error.code } catch { Issue.record(error) }
    return nil
  }

  @Test func `a file gets a name in another directory, which must be free, and its links are counted`() throws {
    let a = try directory.makeSubdirectory("a")
    let b = try directory.makeSubdirectory("b")
    let file = try #require(try a.open("file", .create))
    #expect(try file.linkCount() == 1)
    try b.link("file", of: a, to: "other")
    #expect(try file.linkCount() == 2)
    #expect(try b.identity(of: "other") == file.identity)
    #expect(code { try b.link("file", of: a, to: "other") } == EEXIST)
    #expect(code { try b.link("none", of: a, to: "third") } == ENOENT)
    // A link is a file of its own, and leads nowhere.
    try FileManager.default.createSymbolicLink(atPath: a.path + "/link", withDestinationPath: "file")
    try b.link("link", of: a, to: "third")
    #expect(try b.identity(of: "third") != file.identity)
    #expect(code { _ = try b.open("third", .read) } == ELOOP)
    #expect(code { try b.link("file", of: SimulatedDevice().directory, to: "fourth") } == EXDEV)
    #expect(try b.remove("other"))
    #expect(try file.linkCount() == 1)
  }

  @Test(arguments: [0, 0o022, 0o077, 0o777] as [mode_t])
  func `directories have mode 0700 and files 0600 whatever the mask`(_ mask: mode_t) throws {
    let old = umask(mask)
    defer { umask(old) }
    let made = try PosixDirectory.create(temporary.path + "/a/b/c")
    _ = try made.makeSubdirectory("d")
    _ = try made.open("file", .create)
    let lock = try made.lock("lock")
    #expect(lock != nil)
    for name in ["a", "a/b", "a/b/c", "a/b/c/d"] { #expect(try mode(name) == 0o700) }
    for name in ["a/b/c/file", "a/b/c/lock"] { #expect(try mode(name) == 0o600) }
  }

  @Test func `a directory that exists keeps its mode`() throws {
    let path = temporary.path + "/open"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    _ = try PosixDirectory.create(path)
    _ = try PosixDirectory.create(path + "/deep/..")
    _ = try directory.makeSubdirectory("open")
    #expect(try mode("open") == 0o755)
  }

  @Test func `what does not exist is nil, and what is not a directory an error`() throws {
    #expect(try PosixDirectory.open(temporary.path + "/none") == nil)
    #expect(try directory.subdirectory("none") == nil)
    #expect(try directory.open("none", .read) == nil)
    #expect(try directory.open("none", .write) == nil)
    #expect(try directory.identity(of: "none") == nil)
    #expect(try !directory.remove("none"))
    try temporary.write([1], to: "file")
    #expect(code { _ = try directory.subdirectory("file") } == ENOTDIR)
    // The system calls a link to a directory no directory.
    try FileManager.default.createSymbolicLink(atPath: temporary.path + "/linked", withDestinationPath: "/")
    #expect(code { _ = try directory.subdirectory("linked") } == ELOOP)
    #expect(code { _ = try PosixDirectory.open(temporary.path + "/file") } == ENOTDIR)
    #expect(code { _ = try PosixDirectory.create(temporary.path + "/file/sub") } == ENOTDIR)
    #expect(code { _ = try PosixDirectory.create("") } == ENOENT)
  }

  @Test func `links in a name are not followed`() throws {
    try temporary.write([1, 2, 3], to: "target")
    _ = try directory.makeSubdirectory("sub")
    for (link, target) in [("link", "target"), ("dangling", "new"), ("sublink", "sub")] {
      try FileManager.default.createSymbolicLink(
        atPath: temporary.path + "/" + link, withDestinationPath: temporary.path + "/" + target)
    }
    for mode in [OpenMode.read, .write, .create] {
      #expect(code { _ = try directory.open("link", mode) } == ELOOP)
      #expect(code { _ = try directory.open("dangling", mode) } == ELOOP)
    }
    #expect(code { _ = try directory.lock("link") } == ELOOP)
    #expect(code { _ = try directory.subdirectory("sublink") } != nil)
    #expect(code { _ = try directory.makeSubdirectory("sublink") } != nil)
    #expect(try temporary.contents("target") == [1, 2, 3])
    #expect(!FileManager.default.fileExists(atPath: temporary.path + "/new"))
    // A link that leads to the directory as a whole is the user's choice.
    #expect(try PosixDirectory.open(temporary.path + "/sublink") != nil)
    #expect(try directory.identity(of: "link") != directory.identity(of: "target"))
  }

  @Test func `only regular files are opened`() throws {
    // A C string for the call.
    #expect(unsafe mkfifo(temporary.path + "/fifo", 0o600) == 0)
    _ = try directory.makeSubdirectory("sub")
    for mode in [OpenMode.read, .write, .create] {
      #expect(code { _ = try directory.open("fifo", mode) } == EINVAL)
      #expect(code { _ = try directory.open("sub", mode) } != nil)
    }
    #expect(code { _ = try directory.lock("fifo") } == EINVAL)
    #expect(code { _ = try directory.lock("sub") } != nil)
  }

  @Test func `a lock excludes everyone else until it is released or gone`() throws {
    let other = try #require(try PosixDirectory.open(temporary.path))
    var lock = try directory.lock("lock")
    #expect(lock != nil)
    #expect(try directory.lock("lock") == nil)
    #expect(try other.lock("lock") == nil)
    // Opening and closing the file elsewhere in the process does not drop it, as it would a classic lock.
    _ = try other.open("lock", .write)
    #expect(try other.lock("lock") == nil)
    lock?.release()
    lock?.release()
    var second = try other.lock("lock")
    #expect(second != nil)
    #expect(try directory.lock("lock") == nil)
    lock = nil
    #expect(try directory.lock("lock") == nil)
    _ = second
    second = nil
    #expect(try directory.lock("lock") != nil)
  }

  @Test func `names are listed bytewise`() throws {
    for name in ["b", "a", "ä", "Z", ".hidden", String(repeating: "n", count: 255)] {
      _ = try directory.open(name, .create)
    }
    _ = try directory.makeSubdirectory("sub")
    #expect(
      try directory.names() == [".hidden", "Z", "a", "b", String(repeating: "n", count: 255), "sub", "ä"])
    #expect(try directory.removeDirectory("sub"))
    #expect(try !directory.removeDirectory("sub"))
    #expect(try directory.names().count == 6)
  }

  @Test func `names are given, taken and moved`() throws {
    let file = try #require(try directory.open("a", .create))
    try directory.link("a", to: "b")
    #expect(try directory.identity(of: "b") == file.identity)
    #expect(code { try directory.link("a", to: "b") } == EEXIST)
    #expect(code { try directory.rename("none", to: "b") } == ENOENT)
    let other = try #require(try directory.open("c", .create))
    try directory.rename("c", to: "b")
    #expect(try directory.identity(of: "b") == other.identity)
    #expect(try directory.remove("a"))
    try directory.sync()
    #expect(try directory.names() == ["b"])
    // The file without a name lives on.
    try write("text", to: file, at: 0)
    #expect(try file.size() == 4)
  }

  @Test func `a file is read, written, cut and mapped`() throws {
    let file = try #require(try directory.open("file", .create))
    #expect(try file.size() == 0)
    #expect(try file.read(10, at: 0) == [])
    try write("hello", to: file, at: 3)
    #expect(try file.size() == 8)
    #expect(try file.read(100, at: 0) == [0, 0, 0] + Array("hello".utf8))
    #expect(try file.read(3, at: 3) == Array("hel".utf8))
    #expect(try file.read(3, at: 8) == [])
    #expect(try file.read(3, at: 1 << 40) == [])
    #expect(try file.read(0, at: 0) == [])
    try write("", to: file, at: 100)
    #expect(try file.size() == 8)
    try file.sync()
    // The mapping reaches beyond the end and shows what is written later.
    let mapping = try file.map(1 << 20)
    #expect(mapping.byteCount == 1 << 20)
    #expect(unsafe mapping.bytes(3, 5).copied() == Array("hello".utf8))
    try write("HELLO", to: file, at: 3)
    #expect(unsafe mapping.bytes(3, 5).copied() == Array("HELLO".utf8))
    try file.truncate(to: 4)
    #expect(try file.read(100, at: 0) == [0, 0, 0, UInt8(ascii: "H")])
    try file.truncate(to: 6)
    #expect(try file.read(100, at: 3) == [UInt8(ascii: "H"), 0, 0])
    let again = try #require(try directory.open("file", .read))
    #expect(again.identity == file.identity)
    #expect(code { try write("x", to: again, at: 0) } == EBADF)
    #expect(try #require(try directory.open("file", .create)).size() == 0)
  }

  @Test func `an error says what was tried, where, and what to do`() {
    let error = StorageError(operation: "write", path: "/x/y", code: ENOSPC)
    #expect(error.kind == .noSpace)
    #expect("\(error)".hasPrefix("cannot write /x/y: "))
    #expect("\(error)".hasSuffix("free some space and try again; what was stored before is unharmed"))
    #expect(StorageError(operation: "open", path: "", code: EROFS).kind == .permission)
    #expect(StorageError(operation: "open", path: "", code: EMFILE).kind == .descriptors)
    #expect(StorageError(operation: "open", path: "", code: ENOTDIR).kind == .missing)
    #expect(StorageError(operation: "open", path: "", code: EIO).kind == .other)
  }

  @Test func `a directory that cannot be read to its end is an error, not a shorter one`() {
    func list(_ steps: [(name: String?, code: Int32)]) -> (names: [String], code: Int32) {
      var steps = steps[...]
      return PosixDirectory.all {
        let step = steps.removeFirst()
        errno = step.code
        return step.name
      }
    }
    #expect(list([("a", 0), ("b", EIO), (nil, 0)]) == (["a", "b"], 0))
    #expect(list([("a", 0), (nil, EIO)]) == (["a"], EIO))
    #expect(list([("a", 0), (nil, EINTR), ("b", 0), (nil, 0)]) == (["a", "b"], 0))
  }

  @Test func `what a signal interrupts is called again`() {
    var calls = 0
    let result = retrying { () -> Int32 in
      calls += 1
      errno = calls < 4 ? EINTR : EIO
      return -1
    }
    #expect(result == -1 && calls == 4 && errno == EIO)
  }

  @Test func `only a regular file has bytes`() throws {
    _ = try directory.open("file", .create).map { try write("hello", to: $0, at: 0) }
    try FileManager.default.createSymbolicLink(atPath: temporary.path + "/link", withDestinationPath: "file")
    _ = try directory.makeSubdirectory("directory")
    #expect(try directory.byteCount(of: "file") == 5)
    for name in ["link", "directory", "none"] { #expect(try directory.byteCount(of: name) == nil) }
  }
}
