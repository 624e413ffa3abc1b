import Documents
import LogStore

/// The stamps and deletions of an origin, kept in a store next to its catalogue, so that they outlive the process.
///
/// The store has a document for each product that has a mark, and one for the origin. A reload commits its rows to the
/// catalogue first, then its marks here in one commit, and is served after that:
///
/// - After a crash before the first commit, the files are read again. No client has seen anything of the lost reload.
/// - After a crash between the two, the catalogue is later than ``Head/sequence``. The difference between the two commits
///   gets its marks at the next start. No client has seen a stamp of the lost reload.
/// - After a crash behind the second commit, the rows have the stamps that were written, whether or not a client saw them.
///
/// So a cursor that a client has is never later than the newest stamp of the store, and a client that continues after a
/// restart gets the rows that changed since, and the deletions.
final class OriginState: Sendable {
  /// What is kept of a product. Its form is that of former versions, which wrote a digest of each product's row.
  private struct Mark: Codable, Identifiable {
    /// The product's id.
    var id: String
    var stamp: String
    /// `nil` for a product that vanished, else bytes that are not read.
    var digest: [UInt8]?
    /// The commit in which a product that vanished was last seen.
    var lastSeen: UInt64?
  }

  /// What is kept of the origin.
  private struct Head: Codable, Identifiable, Equatable {
    var id = 0
    var newestStamp: String
    var latestCursorSeen: String
    /// The number of reloads that were written. Another process that writes to the same store makes it differ.
    var revision: Int
    /// The commit of the catalogue that the marks belong to; `nil` in a store of a former version, which kept no rows.
    var sequence: UInt64?
    var base: String?
    var latestUnmarked: String?
    /// Whether clients may have been sent codes; `nil` in a store of a former version, which knew none.
    var hasHadCodes: Bool?
  }

  /// What an earlier process wrote.
  struct Memory {
    var stamps: OriginStamps
    /// The commit of the catalogue that the stamps belong to; `nil` if no rows were kept.
    var sequence: UInt64?
    /// The number of the last reload.
    var revision: Int
  }

  private let store: DocumentStore
  private let marks: DocumentCollection<Mark>
  private let heads: DocumentCollection<Head>

  /// Opens or creates the store in a directory.
  init(directory: String) throws {
    store = try DocumentStore.open(StoreLocation.creating(directory, name: "origin"))
    marks = try store.collection("products", of: Mark.self)
    heads = try store.collection("origin", of: Head.self)
  }

  /// Reads everything; `nil` if nothing was ever written.
  func load(usesUpdateTimes: Bool) throws -> Memory? {
    guard let head = try heads.get(0) else { return nil }
    var marks: [OriginStamps.Mark] = []
    for result in try self.marks.query().results() {
      let mark = try result.get()
      marks.append(
        OriginStamps.Mark(
          id: ByteText(mark.id), stamp: Stamp(mark.stamp), lastSeen: mark.digest == nil ? mark.lastSeen ?? 0 : nil))
    }
    let newest = Stamp(head.newestStamp)
    var stamps = OriginStamps(
      marks: marks, usesUpdateTimes: usesUpdateTimes, base: head.base.map { Stamp($0) },
      latestUnmarked: head.latestUnmarked.map { Stamp($0) } ?? newest, newest: newest,
      latestCursorSeen: Stamp(head.latestCursorSeen))
    stamps.hasHadCodes = head.hasHadCodes ?? false
    return Memory(stamps: stamps, sequence: head.sequence, revision: head.revision)
  }

  /// Writes marks and the stamps of the origin, durably.
  ///
  /// - Parameters:
  ///   - changed: The marks that are new or changed.
  ///   - dropped: The ids of the marks that are no longer needed.
  ///   - stamps: The stamps, of which all but the marks are written.
  ///   - sequence: The commit of the catalogue that the stamps belong to.
  ///   - revision: The number of the last reload that this process read or wrote.
  /// - Returns: The number of this one.
  /// - Throws: ``OriginStateTaken`` if another process has written since.
  func save(
    _ changed: [OriginStamps.Mark], dropping dropped: [ByteText] = [], _ stamps: OriginStamps, at sequence: UInt64,
    after revision: Int
  ) throws -> Int {
    try store.transaction { transaction in
      let stored = try transaction.get(0, from: heads)?.revision ?? 0
      guard stored == revision else { throw OriginStateTaken() }
      for id in dropped { try transaction.delete(id.string, from: marks) }
      for mark in changed {
        let document = Mark(
          id: mark.id.string, stamp: mark.stamp.string, digest: mark.isTombstone ? nil : [], lastSeen: mark.lastSeen)
        try transaction.upsert(document, into: marks)
      }
      let head = Head(
        newestStamp: stamps.newest.string, latestCursorSeen: stamps.latestCursorSeen.string, revision: revision + 1,
        sequence: sequence, base: stamps.base?.string, latestUnmarked: stamps.latestUnmarked.string,
        hasHadCodes: stamps.hasHadCodes ? true : nil)
      try transaction.upsert(head, into: heads)
    }
    return revision + 1
  }
}

/// Another process serves with the same store.
struct OriginStateTaken: Error, CustomStringConvertible {
  var description: String {
    "another process has written to it; give each 'serve' a directory of its own with --state"
  }
}
