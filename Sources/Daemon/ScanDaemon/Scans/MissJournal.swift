import Documents
import Essentials
public import JSONFormat
import Workspace

/// A code that matched nothing.
public struct Miss: Codable, Sendable, Equatable, Identifiable {
  /// The code, without the secrets in it, such as the password of a wireless network.
  public var id: String
  /// How often the code was missed, not counting double scans.
  public var count: Int
  /// When the code was first missed, in seconds since 1970.
  public var first: Double
  /// When the code was last missed, in seconds since 1970.
  public var last: Double
  /// The input that last read the code.
  public var input: String

  /// Creates an entry of the journal. `id` is the code, and both times are seconds since 1970.
  public init(id: String, count: Int, first: Double, last: Double, input: String) {
    self.id = id
    self.count = count
    self.first = first
    self.last = last
    self.input = input
  }

  /// The miss as JSON: `code`, `count`, `first`, `last` (RFC 3339), `input`.
  public var json: JSONText {
    .object([
      ("code", .text(id)), ("count", .int(count)),
      ("first", .text(Date(timeIntervalSince1970: first).precise)),
      ("last", .text(Date(timeIntervalSince1970: last).precise)), ("input", .text(input)),
    ])
  }
}

/// A miss to enter in the journal.
struct NewMiss: Sendable {
  /// The maximum length of a code in bytes. Longer codes are not entered, because no scanner reads them.
  static let maximumByteCount = 4096

  let stores: UserStores
  let code: String
  let input: String
  /// The time of the miss, in seconds since 1970.
  let time: Double

  init(_ answer: ScanAnswer, _ stores: UserStores) {
    self.stores = stores
    code = answer.reading.withoutSecrets.code
    input = answer.reading.input.cut(to: SetSessions.maximumNameByteCount)
    time = answer.time.timeIntervalSince1970
  }
}

extension UserDocuments {
  /// Enters a miss within a transaction.
  func enter(_ new: NewMiss, _ transaction: DocumentTransaction) throws {
    guard new.code.utf8.count <= NewMiss.maximumByteCount else { return }
    var miss = Miss(id: new.code, count: 0, first: new.time, last: new.time, input: new.input)
    // An entry that cannot be read is replaced by a new one.
    if let old = (try? transaction.get(new.code, from: misses)) ?? nil {
      miss.count = old.count
      miss.first = old.first
      miss.last = max(old.last, new.time)
    }
    miss.count += 1
    try transaction.upsert(miss, into: misses)
  }

  /// Removes the codes missed longest ago, a few more than necessary so that trimming is rare.
  func trimMisses(to maximum: Int) throws {
    let count = try misses.count()
    if count <= maximum { return }
    let eldest = try misses.query().order(by: \.last).limit(count - maximum + maximum / 20).fetch()
    try store.transaction { transaction in
      for miss in eldest { try transaction.delete(miss.id, from: misses) }
    }
  }
}
