import CStorage
import Foundation
import Platform
import StoreTestSupport
import Testing

@testable import Storage

/// To whom the entries belong that root creates in the directory of another user. Serialized, as the mask of a process
/// belongs to all of its threads.
@Suite(.serialized, .enabled(if: geteuid() == 0, "only the superuser gives files away"))
struct EntryOwnerTests {
  private let temporary: TemporaryDirectory
  private let service: PosixDirectory

  init() throws {
    temporary = try TemporaryDirectory()
    service = try temporary.directory.makeSubdirectory("service")
    try Self.give(service.path)
  }

  private static func give(_ path: String) throws {
    // A C string for the call.
    try #require(unsafe chown(path, 4711, 4712) == 0)
  }

  private func status(_ name: String) throws -> (user: UInt32, group: UInt32, mode: UInt32) {
    var status = stat()
    // The call fills in the local structure.
    try #require(unsafe lstat(temporary.path + "/" + name, &status) == 0, "\(name)")
    return (status.st_uid, status.st_gid, UInt32(status.st_mode) & 0o7777)
  }

  @Test(arguments: [0, 0o022, 0o077, 0o777] as [mode_t])
  func `every new entry belongs to the owner of its directory, whatever the mask`(_ mask: mode_t) throws {
    let old = umask(mask)
    defer { umask(old) }
    let made = try PosixDirectory.create(service.path + "/a/b")
    _ = try made.makeSubdirectory("c")
    let file = try #require(try made.open("file", .create))
    try file.write([1, 2, 3], at: 0)
    #expect(try file.read(3, at: 0) == [1, 2, 3])
    let lock = try made.lock("lock")
    #expect(lock != nil)
    try made.rename("file", to: "renamed")
    for name in ["a", "a/b", "a/b/c"] { #expect(try status("service/" + name) == (4711, 4712, 0o700), "\(name)") }
    for name in ["renamed", "lock"] { #expect(try status("service/a/b/" + name) == (4711, 4712, 0o600), "\(name)") }
    // In a directory of root's own, all of it is root's.
    _ = try temporary.directory.open("file", .create)
    #expect(try status("file").user == 0)
  }

  @Test func `what is there is neither given away nor written through a link`() throws {
    try temporary.write([1, 2, 3], to: "secret")
    for name in ["hard.new", "hard.lock"] { try service.link("secret", of: temporary.directory, to: name) }
    for name in ["soft.new", "soft.lock"] {
      try FileManager.default.createSymbolicLink(
        atPath: service.path + "/" + name, withDestinationPath: temporary.path + "/secret")
    }
    for name in ["hard.new", "soft.new"] {
      let file = try #require(try service.open(name, .create))
      try file.write([9], at: 0)
      #expect(try status("service/" + name) == (4711, 4712, 0o600))
    }
    _ = try service.lock("hard.lock")
    #expect(throws: StorageError.self) { _ = try service.lock("soft.lock") }
    #expect(try temporary.contents("secret") == [1, 2, 3])
    #expect(try status("secret").user == 0 && status("service/hard.lock").user == 0)
    // A directory that was there keeps its owner, and links to directories are not followed.
    try FileManager.default.createDirectory(atPath: service.path + "/old", withIntermediateDirectories: false)
    _ = try service.makeSubdirectory("old")
    #expect(try status("service/old").user == 0)
    try FileManager.default.createSymbolicLink(
      atPath: service.path + "/away", withDestinationPath: temporary.path)
    #expect(throws: StorageError.self) { _ = try service.makeSubdirectory("away") }
    #expect(try status("").user == 0)
  }

  @Test func `a file that an earlier command of root's left half written is made anew`() throws {
    try temporary.write([1, 2, 3], to: "service/store.new")
    let file = try #require(try service.open("store.new", .create))
    #expect(try file.size() == 0)
    #expect(try status("service/store.new") == (4711, 4712, 0o600))
    _ = try service.makeSubdirectory("taken")
    #expect(throws: StorageError.self) { _ = try service.open("taken", .create) }
  }
}
