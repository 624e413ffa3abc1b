import Bytes
import Foundation
import Platform
import Storage
import StoreTestSupport
import Synchronization
import Testing
@testable import LogStore

/// Files that somebody moves, removes or restores under a reader and a writer that are open.
@Suite struct ReplacedLogTests {
  /// What happens to the log.
  enum Accident: String, CaseIterable {
    case renamed, removed, otherStore, olderCopy, sameCopy
    case otherInPlace, olderInPlace, twinInPlace, divergedInPlace, sameInPlace, cut, emptied

    /// Whether the file that was opened is no longer the one with the name.
    var losesName: Bool { [.renamed, .removed, .otherStore, .olderCopy, .sameCopy].contains(self) }
    /// Whether another sound file was written over the one that was opened, as `cp` does it.
    var isOverwritten: Bool { [.otherInPlace, .olderInPlace, .twinInPlace, .divergedInPlace].contains(self) }
    /// Whether what is left of the file is no store.
    var isDamage: Bool { self == .cut || self == .emptied }
  }

  private let temporary: TemporaryDirectory
  private let location: StoreLocation

  init() throws {
    temporary = try TemporaryDirectory()
    location = StoreLocation.test(temporary.directory, name: "s")
    try MappingGuard.install()
  }

  private var log: URL { URL(fileURLWithPath: temporary.path + "/s.log") }

  /// A file is put there as a person would do it: a copy under another name, renamed over.
  private func replaceLog(_ bytes: [UInt8]) throws {
    try temporary.write(bytes, to: "copy")
    try temporary.directory.rename("copy", to: "s.log")
  }

  /// The bytes are written over those of the file that is there, as `cp` does it.
  private func overwriteLog(_ bytes: [UInt8]) throws {
    let file = try FileHandle(forWritingTo: log)
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(bytes))
    try file.close()
  }

  /// A writer and a reader at commit 4, with the log as it was at commit 2.
  private func makeStore() throws -> (writer: StoreWriter, reader: StoreReader, older: [UInt8]) {
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    for _ in 0..<2 { _ = try NumberedStore.commit(writer) }
    let older = try temporary.contents("s.log")
    for _ in 0..<2 { _ = try NumberedStore.commit(writer) }
    return (writer, try #require(try StoreReader.open(location)), older)
  }

  /// The log of a store of its own, with `count` commits.
  private func otherLog(_ count: Int) throws -> [UInt8] {
    let writer = try StoreWriter(StoreLocation.test(temporary.directory, name: "other"), schema: TestSchema.schema)
    for _ in 0..<count { _ = try NumberedStore.commit(writer) }
    writer.close()
    return try temporary.contents("other.log")
  }

  /// The log as it was, with other commits of the same numbers after it.
  private func divergedLog(_ older: [UInt8], _ count: Int) throws -> [UInt8] {
    try temporary.write(older, to: "diverged.log")
    let writer = try StoreWriter(StoreLocation.test(temporary.directory, name: "diverged"), schema: TestSchema.schema)
    for _ in 0..<count { _ = try NumberedStore.commit(writer) }
    writer.close()
    return try temporary.contents("diverged.log")
  }

  private func happen(_ accident: Accident, older: [UInt8]) throws {
    switch accident {
    case .renamed: try temporary.directory.rename("s.log", to: "elsewhere")
    case .removed: _ = try temporary.directory.remove("s.log")
    case .otherStore: try replaceLog(otherLog(3))
    case .olderCopy: try replaceLog(older)
    case .sameCopy: try replaceLog(temporary.contents("s.log"))
    case .otherInPlace: try overwriteLog(otherLog(3))
    case .olderInPlace: try overwriteLog(older)
    // As long as the one that was opened.
    case .twinInPlace: try overwriteLog(otherLog(4))
    case .divergedInPlace: try overwriteLog(divergedLog(older, 2))
    case .sameInPlace: try overwriteLog(temporary.contents("s.log"))
    case .cut: try overwriteLog(Array(older.prefix(5000)))
    case .emptied: try overwriteLog([])
    }
  }

  private func error(_ body: () throws -> Void) -> StoreError? {
    do { try body() } catch let error as StoreError { return error } catch { Issue.record(error) }
    return nil
  }

  private func kind(_ error: StoreError) -> String {
    switch error {
    case .replaced: "replaced"
    case .damaged: "damaged"
    case .poisoned: "poisoned"
    default: "\(error)"
    }
  }

  @Test(arguments: Accident.allCases)
  func `a writer commits nothing to a file that is not the store any more`(accident: Accident) throws {
    let (writer, _, older) = try makeStore()
    let open = try writer.begin()
    try NumberedStore.change(open)
    try happen(accident, older: older)
    let before = accident == .renamed || accident == .removed ? nil : try temporary.contents("s.log")
    let attempts: [() throws -> Void] = [
      { _ = try writer.commit(open) }, { _ = try NumberedStore.commit(writer) },
      { _ = try NumberedStore.commit(writer, isGeneration: true) },
    ]
    for (index, attempt) in attempts.enumerated() {
      let error = error(attempt)
      if accident.losesName || accident.isOverwritten && index < 2 {
        #expect(error.map(kind) == "replaced")
      } else if accident == .sameInPlace {
        // Nothing has changed, except that a file with this commit is as good as another. The first attempt counts.
        #expect(error == nil || index == 1)
      } else if index < 2 {
        #expect(error.map(kind) == "damaged" && "\(error!)".contains("the file ends here"))
      } else {
        // What was there is of no use any more, and a new generation takes its place whole.
        #expect(error == nil)
        try NumberedStore.check(#require(writer.snapshot))
      }
      if index < 2, accident != .sameInPlace, let before { #expect(try temporary.contents("s.log") == before) }
    }
    #expect(try temporary.directory.identity(of: "s.new") == nil)
    writer.close()
    if accident == .sameCopy || accident == .olderCopy || accident == .renamed {
      // A new writer goes on from what is there.
      if accident == .renamed { try temporary.directory.rename("elsewhere", to: "s.log") }
      let again = try StoreWriter(location, schema: TestSchema.schema)
      let sequence = try #require(again.snapshot).sequence
      #expect(sequence == (accident == .olderCopy ? 2 : 4))
      try NumberedStore.check(try NumberedStore.commit(again))
    }
  }

  @Test(arguments: Accident.allCases.filter { !$0.losesName })
  func `a compaction and a large commit replace nothing that was written over the log meanwhile`(
    accident: Accident
  ) throws {
    var environment = FixedEnvironment().environment { _ in }
    environment.flushLimit = 500
    let location = StoreLocation.test(temporary.directory, name: "s", environment: environment)
    let (_, _, older) = try makeStore()
    for isCompaction in [true, false] {
      let writer = try StoreWriter(location, schema: TestSchema.schema)
      let last = try #require(writer.snapshot)
      let open = try isCompaction ? nil : writer.begin()
      if let open { try NumberedStore.change(open) }
      let sound = try temporary.contents("s.log").prefix(last.end)
      try happen(accident, older: older)
      let before = try temporary.contents("s.log")
      if accident != .sameInPlace {
        #expect(error { if let open { _ = try writer.commit(open) } else { _ = try writer.compact() } } != nil)
        #expect(error { _ = try NumberedStore.commit(writer) } != nil)
        #expect(try temporary.contents("s.log") == before)
      }
      writer.close()
      #expect(try temporary.directory.identity(of: "s.new") == nil)
      try overwriteLog(Array(sound))
    }
  }

  @Test func `a log that gets its name back takes commits again`() throws {
    let (writer, reader, _) = try makeStore()
    try temporary.directory.rename("s.log", to: "elsewhere")
    #expect(error { _ = try NumberedStore.commit(writer) } != nil)
    try temporary.directory.rename("elsewhere", to: "s.log")
    #expect(try NumberedStore.commit(writer).sequence == 5)
    #expect(try reader.refresh())
    try NumberedStore.check(reader.snapshot)
  }

  @Test func `a commit while the log loses its name is not reported`() throws {
    let writer = try StoreWriter(
      StoreLocation.test(MovingDirectory(base: temporary.directory), name: "s"), schema: TestSchema.schema)
    _ = try NumberedStore.commit(writer)
    // One check when the transaction begins, one before it is written, one before it is reported.
    MovingDirectory.moves(after: 2)
    #expect(error { _ = try NumberedStore.commit(writer) }.map(kind) == "replaced")
    #expect(writer.snapshot?.sequence == 1)
    #expect(error { _ = try NumberedStore.commit(writer) }.map(kind) == "poisoned")
  }

  @Test(arguments: Accident.allCases)
  func `a reader keeps what it shows, follows what is newer, and never goes back`(accident: Accident) throws {
    let (writer, reader, older) = try makeStore()
    writer.close()
    let snapshot = reader.snapshot
    try happen(accident, older: older)
    var isNewer = false
    let error = error { isNewer = try reader.refresh() }
    #expect(!isNewer)
    let expected =
      switch accident {
      case .otherStore, .olderCopy, .otherInPlace, .olderInPlace, .twinInPlace, .divergedInPlace: "replaced"
      case .cut, .emptied: "damaged"
      case .renamed, .removed, .sameCopy, .sameInPlace: "none"
      }
    #expect(error.map(kind) ?? "none" == expected)
    #expect(reader.snapshot.sequence == 4)
    if accident.losesName {
      // The file without a name lives on.
      try NumberedStore.check(snapshot)
      try NumberedStore.check(reader.snapshot)
    }
    if accident.isDamage { return }
    if accident == .sameInPlace { try NumberedStore.check(reader.snapshot) }
    if accident.isOverwritten {
      // What is there is a store, which is opened like any other one.
      let now = try #require(try StoreReader.open(location)).snapshot
      #expect(now.sequence == [.otherInPlace: 3, .olderInPlace: 2][accident] ?? 4)
      try NumberedStore.check(now)
      #expect(try Verification.run(location)?.findings.isEmpty == true)
    }
    // What comes next is followed once it is newer.
    if accident == .removed { try replaceLog(otherLog(5)) }
    if accident == .renamed { try temporary.directory.rename("elsewhere", to: "s.log") }
    let again = try StoreWriter(location, schema: TestSchema.schema)
    while again.nextSequence <= 7 { _ = try NumberedStore.commit(again) }
    #expect(try reader.refresh())
    #expect(reader.snapshot.sequence == 7)
    try NumberedStore.check(reader.snapshot)
  }

  @Test func `a second writer gets no lock of its own where the lock file was removed`() throws {
    let (writer, _, _) = try makeStore()
    _ = try temporary.directory.remove("s.lock")
    let refusal = error { _ = try StoreWriter(location, schema: TestSchema.schema) }
    #expect(refusal.map(kind)?.contains("does not see s.lock") == true)
    try NumberedStore.check(try NumberedStore.commit(writer))
  }

  @Test func `bytes of someone who respects no lock are not written over`() throws {
    let (writer, _, _) = try makeStore()
    let file = try FileHandle(forWritingTo: log)
    try file.seekToEnd()
    try file.write(contentsOf: Data([1, 2, 3]))
    try file.close()
    let before = try temporary.contents("s.log")
    #expect(error { _ = try NumberedStore.commit(writer) }.map(kind) == "damaged")
    #expect(try temporary.contents("s.log") == before)
  }
}

/// A directory whose log somebody moves away between two checks of its name.
private struct MovingDirectory: StorageDirectory {
  private static let looksLeft = Atomic(Int.max)

  let base: PosixDirectory

  static func moves(after looks: Int) { looksLeft.store(looks, ordering: .relaxed) }

  var path: String { base.path }

  func identity(of name: String) throws(StorageError) -> FileIdentity? {
    if name.hasSuffix(".log"), Self.looksLeft.subtract(1, ordering: .relaxed).oldValue == 0 {
      try base.rename(name, to: "elsewhere")
    }
    return try base.identity(of: name)
  }

  func open(_ name: String, _ mode: OpenMode) throws(StorageError) -> (any StorageFile)? { try base.open(name, mode) }
  func rename(_ old: String, to new: String) throws(StorageError) { try base.rename(old, to: new) }
  func link(_ old: String, to new: String) throws(StorageError) { try base.link(old, to: new) }
  func link(_ old: String, of other: any StorageDirectory, to new: String) throws(StorageError) {
    try base.link(old, of: other, to: new)
  }
  func remove(_ name: String) throws(StorageError) -> Bool { try base.remove(name) }
  func names() throws(StorageError) -> [String] { try base.names() }
  func sync() throws(StorageError) { try base.sync() }
  func lock(_ name: String) throws(StorageError) -> (any StorageLock)? { try base.lock(name) }
}
