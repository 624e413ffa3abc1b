import BenchmarkSupport

/// The rows that all stores get: a key of 16 bytes, and 104 more.
struct OrderedRows {
  static let byteCount = 120
  private let seed: UInt64

  init(_ seed: UInt64) { self.seed = seed }

  /// The key of a row: sixteen hexadecimal digits.
  func key(ofRow number: Int, revision: Int) -> [UInt8] {
    var random = KeyRandom(seed &* 0x9E37_79B9 &+ UInt64(number) << 8 &+ UInt64(revision))
    let bits = random.next()
    return (0..<16).map { Array("0123456789abcdef".utf8)[Int(bits >> UInt64(4 * $0) & 15)] }
  }

  /// Replaces `body` by a row.
  func put(_ number: Int, revision: Int, into body: inout [UInt8]) {
    body = key(ofRow: number, revision: revision)
    while body.count < Self.byteCount { body.append(UInt8(truncatingIfNeeded: number &+ body.count)) }
  }
}

/// What reading rows adds up: so that each is read.
struct RowSum {
  var bytes: UInt64 = 0
  var count = 0
}

/// A store with rows by number, and an index in the order of their keys.
protocol OrderedStore {
  var name: String { get }
  var configuration: String { get }
  var directory: String { get }
  /// Whether it has the index; without it, `walk` reads all rows in no order.
  var isOrdered: Bool { get }

  /// Fills the empty store, and opens it for the rest.
  func fill(_ count: Int, _ rows: OrderedRows) throws
  /// Reads up to `limit` rows in order, from the first key on that is not less than `key`.
  func walk(from key: [UInt8], limit: Int, _ sum: inout RowSum) throws
  /// Replaces rows by their next revision, in one durable commit.
  func change(_ numbers: [Int], _ rows: OrderedRows) throws
}

/// The bytes that the files of a directory take.
enum DirectorySize {
  static func of(_ directory: String) throws -> Int {
    let output = try Subprocess.run(["du", "-sk", directory]).output
    return 1024 * (Int(String(decoding: output.prefix { $0 != UInt8(ascii: "\t") }, as: UTF8.self)) ?? 0)
  }
}
