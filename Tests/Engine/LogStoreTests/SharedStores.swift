import Foundation
import Storage
import StoreTestSupport
import Testing

@testable import LogStore

/// Stores named `s` in directories beside each other.
struct SharedStores: Sendable {
  private let temporary: TemporaryDirectory

  init() throws { temporary = try TemporaryDirectory() }

  func path(_ name: String) -> String { temporary.path + "/" + name }
  func directory(_ name: String) throws -> PosixDirectory { try PosixDirectory.create(path(name)) }
  func location(_ name: String) throws -> StoreLocation { StoreLocation.test(try directory(name), name: "s") }
  /// A child of another test's that has not begun its program yet holds a copy of every lock: one waits for that.
  func writer(_ name: String) throws -> StoreWriter {
    try StoreWriter(location(name), schema: TestSchema.schema, lockTimeout: .seconds(5))
  }
  func reader(_ name: String) throws -> StoreReader { try #require(try StoreReader.open(location(name))) }
  func names(_ name: String) throws -> [String] { try directory(name).names() }
  func bytes(_ name: String, _ file: String) throws -> [UInt8] { try temporary.contents(name + "/" + file) }

  /// Writes a file in place: whoever else has a name for it sees that.
  func write(_ bytes: [UInt8], _ name: String, _ file: String) throws {
    try temporary.write(bytes, to: name + "/" + file)
  }

  /// Makes so many commits, and returns the last.
  func fill(_ name: String, commits: Int) throws -> Snapshot {
    let writer = try writer(name)
    defer { writer.close() }
    for _ in 0..<commits { _ = try NumberedStore.commit(writer) }
    return try #require(writer.snapshot)
  }

  /// The number of the commit that `target` begins with; `nil` if it does not.
  func adopt(_ source: String, _ target: String) throws -> UInt64? {
    try BaseAdoption.adopt(from: location(source), into: location(target), lockTimeout: .seconds(5))?.sequence
  }

  /// A file's number and how many blocks of 512 bytes it takes.
  func status(_ name: String, _ file: String) throws -> (inode: UInt64, blocks: Int) {
    var status = stat()
    // The call fills the local structure.
    try #require(unsafe stat(path(name) + "/" + file, &status) == 0)
    return (UInt64(status.st_ino), Int(status.st_blocks))
  }
}
