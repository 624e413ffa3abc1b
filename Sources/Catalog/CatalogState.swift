import Bytes
import LogStore

/// How a commit came about.
public enum UpdateMode: UInt8, Sendable {
  /// Products and relations were replaced entirely.
  case full = 0
  /// The rows of one payload were merged in.
  case incremental = 1
  /// The state of an earlier commit was made current again, its cursor too.
  case rollback = 2
  /// What could be saved of a damaged file was written into a new one.
  case repair = 3

  /// As the command line writes it.
  public var name: String {
    switch self {
    case .full: "full"
    case .incremental: "incremental"
    case .rollback: "rollback"
    case .repair: "repair"
    }
  }
}

/// What one update did, counted in rows.
///
/// With a full update's commit only the relations and the defaulted fields are kept: its products are the rows of
/// the commit, and what it removed is told once, in its ``UpdateReport``.
public struct UpdateCounts: Equatable, Sendable {
  public var productsUpserted = 0
  public var productsDeleted = 0
  public var relationsWritten = 0
  public var relationsDeleted = 0
  /// Relations of a payload whose product was not among its upserted ones.
  public var relationsIgnored = 0
  /// Fields of the payload that held another type than theirs.
  public var defaulted = 0

  public init() {}
}

/// What an update did, and which commit it became.
public struct UpdateReport: Equatable, Sendable {
  public var mode: UpdateMode
  public var sequence: UInt64
  public var generation: UInt64
  public var counts: UpdateCounts
  /// The server's `updateTime`, now the catalogue's cursor.
  public var cursor: String
  /// What is told once, and not kept with the commit.
  public var notices: UpdateNotices

  init(_ state: CatalogState, _ commit: Snapshot, _ notices: UpdateNotices = UpdateNotices()) {
    self.notices = notices
    mode = state.mode
    sequence = commit.sequence
    generation = commit.generation
    counts = state.counts
    cursor = state.cursor
  }
}

/// What the catalogue keeps with each commit beside the rows: it moves in the same moment as they do.
public struct CatalogState: Equatable, Sendable {
  /// The server's `updateTime`, sent back with the next request; empty asks for everything.
  public var cursor = ""
  public var mode = UpdateMode.full
  public var counts = UpdateCounts()

  private static let version: UInt8 = 1

  public init() {}

  /// The bytes in the store: version, mode, six counts of 8 bytes, the cursor.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.put(Self.version)
    writer.put(mode.rawValue)
    for count in [
      counts.productsUpserted, counts.productsDeleted, counts.relationsWritten, counts.relationsDeleted,
      counts.relationsIgnored, counts.defaulted,
    ] { writer.put(UInt64(count)) }
    writer.put(Array(cursor.utf8))
    return writer.bytes
  }

  /// Reads the bytes of a store; `nil` if this program does not know them.
  init?(_ bytes: [UInt8]) {
    if bytes.isEmpty { return }
    var reader = ByteReader(bytes.rawSpan)
    guard reader.u8() == Self.version, let mode = reader.u8().flatMap(UpdateMode.init) else { return nil }
    self.mode = mode
    var numbers: [Int] = []
    for _ in 0..<6 {
      guard let number = reader.u64() else { return nil }
      numbers.append(Int(clamping: number))
    }
    counts.productsUpserted = numbers[0]
    counts.productsDeleted = numbers[1]
    counts.relationsWritten = numbers[2]
    counts.relationsDeleted = numbers[3]
    counts.relationsIgnored = numbers[4]
    counts.defaulted = numbers[5]
    guard let cursor = reader.text(reader.remaining) else { return nil }
    self.cursor = cursor
  }
}
