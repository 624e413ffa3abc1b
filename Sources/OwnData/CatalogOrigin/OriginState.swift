import Cryptography
import Documents
import Essentials
import LogStore

/// The stamps and deletions of an origin, kept in a store of its own, so that they outlive the process.
///
/// The store has one document for each product that is or was served, and one for the origin. A reload writes what
/// changed in one commit, before any of it is served:
///
/// - After a crash before the commit, the files are read again and compared with the former rows. No client has seen a
///   stamp of the lost reload.
/// - After a crash behind the commit, the rows have the stamps that were written, whether or not a client saw them.
///
/// So a cursor that a client has is never later than the newest stamp of the store, and a client that continues after a
/// restart gets the rows that changed since, and the deletions.
final class OriginState: Sendable {
  /// What is kept of a product.
  private struct Mark: Codable, Identifiable {
    /// The product's id.
    var id: String
    var stamp: String
    /// The digest of the row and its relations; `nil` for a product that vanished.
    var digest: [UInt8]?
  }

  /// What is kept of the origin.
  private struct Head: Codable, Identifiable, Equatable {
    var id = 0
    var newestStamp: String
    var latestCursorSeen: String
    /// The number of reloads that were written. Another process that writes to the same store makes it differ.
    var revision: Int
  }

  private let store: DocumentStore
  private let marks: DocumentCollection<Mark>
  private let heads: DocumentCollection<Head>

  /// The path of the store's file, for messages.
  var path: String { store.path }

  /// Opens or creates the store in a directory.
  init(directory: String) throws {
    store = try DocumentStore.open(StoreLocation.creating(directory, name: "origin"))
    marks = try store.collection("products", of: Mark.self)
    heads = try store.collection("origin", of: Head.self)
  }

  /// Reads everything; `nil` if nothing was ever written.
  func load() throws -> OriginMemory? {
    guard let head = try heads.get(0) else { return nil }
    var memory = OriginMemory(revision: head.revision)
    memory.newestStamp = Stamp(head.newestStamp)
    memory.latestCursorSeen = Stamp(head.latestCursorSeen)
    for result in try marks.query().results() {
      let mark = try result.get()
      memory.marks[ByteText(mark.id)] = OriginMemory.Mark(stamp: Stamp(mark.stamp), digest: mark.digest)
    }
    return memory
  }

  /// Writes `changed` entries and the stamps of `catalogue`, durably.
  ///
  /// - Parameter revision: The number of the last reload that this process read or wrote.
  /// - Returns: The number of this one.
  /// - Throws: ``OriginStateTaken`` if another process has written since.
  func save(
    _ changed: some Sequence<OriginCatalogue.Entry>, of catalogue: OriginCatalogue, after revision: Int
  ) throws -> Int {
    try store.transaction { transaction in
      let stored = try transaction.get(0, from: heads)?.revision ?? 0
      guard stored == revision else { throw OriginStateTaken() }
      for entry in changed {
        let digest = entry.isTombstone ? nil : try Self.digest(entry.packed, entry.relations)
        try transaction.upsert(
          Mark(id: entry.id.string, stamp: entry.stamp.string, digest: digest), into: marks)
      }
      let head = Head(
        newestStamp: catalogue.newestStamp.string, latestCursorSeen: catalogue.latestCursorSeen.string,
        revision: revision + 1)
      try transaction.upsert(head, into: heads)
    }
    return revision + 1
  }

  /// The digest of a row and its relations, each of which says where it ends. 128 bits of SHA-256: two versions of a
  /// row practically never share one.
  ///
  /// - Throws: `CryptographyError`.
  static func digest(_ packed: [UInt8], _ relations: [UInt8]) throws -> [UInt8] {
    let hash = try Hash.sha256()
    try hash.update(packed)
    try hash.update(relations)
    return Array(try hash.digest().prefix(16))
  }
}

/// What an origin remembers of an earlier process.
struct OriginMemory: Sendable {
  struct Mark: Sendable {
    var stamp: Stamp
    /// `nil` for a product that vanished.
    var digest: [UInt8]?
  }

  var marks: [ByteText: Mark] = [:]
  var newestStamp = Stamp("")
  var latestCursorSeen = Stamp("")
  var revision: Int

  init(revision: Int = 0) { self.revision = revision }

  /// The number of products that were served last.
  var productCount: Int { marks.values.count { $0.digest != nil } }
}

/// Another process serves with the same store.
struct OriginStateTaken: Error, CustomStringConvertible {
  var description: String {
    "another process has written to it; give each 'serve' a directory of its own with --state"
  }
}
