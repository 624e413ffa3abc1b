import Documents
public import JSONFormat
import Workspace

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A code that found nothing.
public struct Miss: Codable, Sendable, Equatable, Identifiable {
  /// The code.
  public var id: String
  /// How often it was missed, double scans left aside.
  public var count: Int
  /// When it was missed first, in seconds since 1970.
  public var first: Double
  /// When it was missed last, in seconds since 1970.
  public var last: Double
  /// The input that read it last.
  public var input: String

  /// Creates an entry of the journal. `id` is the code, and both times are seconds since 1970.
  public init(id: String, count: Int, first: Double, last: Double, input: String) {
    self.id = id
    self.count = count
    self.first = first
    self.last = last
    self.input = input
  }

  /// What programs are told: `code`, `count`, `first`, `last` (RFC 3339), `input`.
  public var json: JSONText {
    .object([
      ("code", .text(id)), ("count", .int(count)),
      ("first", .text(Date(timeIntervalSince1970: first).precise)),
      ("last", .text(Date(timeIntervalSince1970: last).precise)), ("input", .text(input)),
    ])
  }
}

/// A miss that is to be entered in the journal.
struct MissNote: Sendable {
  /// Longer codes are not entered: none comes from a scanner.
  static let maximumByteCount = 4096

  let stores: UserStores
  let code: String
  let input: String
  /// Seconds since 1970.
  let time: Double

  init(_ answer: ScanAnswer, _ stores: UserStores) {
    self.stores = stores
    code = answer.reading.code
    input = answer.reading.input.cut(to: SetSessions.maximumNameByteCount)
    time = answer.time.timeIntervalSince1970
  }
}

extension UserDocuments {
  /// Enters a miss, as a part of a transaction.
  func enter(_ note: MissNote, _ transaction: DocumentTransaction) throws {
    guard note.code.utf8.count <= MissNote.maximumByteCount else { return }
    var miss = Miss(id: note.code, count: 0, first: note.time, last: note.time, input: note.input)
    // One that cannot be read is begun anew.
    if let known = (try? transaction.get(note.code, from: misses)) ?? nil {
      miss.count = known.count
      miss.first = known.first
      miss.last = max(known.last, note.time)
    }
    miss.count += 1
    try transaction.upsert(miss, into: misses)
  }

  /// Removes those that were missed longest ago, some more than must be: so it is rarely done.
  func trimMisses(to maximum: Int) throws {
    let count = try misses.count()
    if count <= maximum { return }
    let eldest = try misses.query().order(by: \.last).limit(count - maximum + maximum / 20).fetch()
    try store.transaction { transaction in
      for miss in eldest { try transaction.delete(miss.id, from: misses) }
    }
  }
}
