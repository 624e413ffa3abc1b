import Foundation
import LogStore
import Storage
import StoreTestSupport
import Testing

@testable import Documents

/// Stores whose file another one is written over while they are open, and stores that a container's image has.
@Suite struct ReplacedStoreTests {
  private struct Note: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var text: String
  }

  /// Writes the bytes over those of the file, as `cp` does it.
  private func overwrite(_ path: String, _ bytes: [UInt8]) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(bytes))
    try file.close()
  }

  @Test(arguments: [true, false], [true, false])
  func `a backup that is put in the place of the file is the store from then on`(
    isInPlace: Bool, writesFirst: Bool
  ) async throws {
    try MappingGuard.install()
    let temporary = try TemporaryDirectory()
    let store = try DocumentStore.open(StoreLocation.test(temporary.directory, name: "documents"))
    let notes = try store.collection("notes", of: Note.self)
    try notes.insert(Note(id: 1, text: "kept"))
    let backup = try temporary.contents("documents.log")
    for id in 2...5 { try notes.insert(Note(id: id, text: "lost")) }
    #expect(try notes.count() == 5)
    var changes = notes.changes.makeAsyncIterator()
    let seen = try store.snapshot()
    if isInPlace {
      try overwrite(store.path, backup)
    } else {
      try temporary.write(backup, to: "copy")
      try temporary.directory.rename("copy", to: "documents.log")
    }
    // The writer that rests and the reader both find out, whichever comes first.
    if writesFirst { try notes.insert(Note(id: 7, text: "new")) }
    #expect(try notes.count() == (writesFirst ? 2 : 1))
    if !writesFirst { try notes.insert(Note(id: 7, text: "new")) }
    #expect(try notes.get(1) == Note(id: 1, text: "kept"))
    #expect(try notes.get(2) == nil)
    #expect(try notes.get(7) == Note(id: 7, text: "new"))
    let now = try store.snapshot()
    #expect(now.sequence < seen.sequence && now.isLater(than: seen))
    let change = try await changes.next()
    guard case .everything? = change else {
      Issue.record("\(String(describing: change))")
      return
    }
    #expect(try Verification.run(store.location)?.findings.isEmpty == true)
  }

  @Test(.enabled(if: OverlayMount.isPossible, Comment(rawValue: OverlayMount.condition)), arguments: [true, false])
  func `documents of a baked store and what is written to them are seen together`(isOpenBefore: Bool) throws {
    let mount = try OverlayMount { directory in
      let store = try DocumentStore.open(StoreLocation.test(directory, name: "documents"))
      try store.collection("notes", of: Note.self).insert(Note(id: 1, text: "baked"))
    }
    let location = StoreLocation.test(mount.directory, name: "documents")
    let (store, other) = (try DocumentStore.open(location), try DocumentStore.open(location))
    let (notes, others) = try (store.collection("notes", of: Note.self), other.collection("notes", of: Note.self))
    if isOpenBefore { #expect(try notes.count() == 1 && others.count() == 1) }
    for id in 2...4 {
      try notes.insert(Note(id: id, text: "written"))
      #expect(try notes.count() == id && others.count() == id)
    }
    try other.compact()
    try others.insert(Note(id: 5, text: "written"))
    #expect(try notes.query().fetch().map(\.id).sorted() == [1, 2, 3, 4, 5])
    withExtendedLifetime(mount) {}
  }
}
