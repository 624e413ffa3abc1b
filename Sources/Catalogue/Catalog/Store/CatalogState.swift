import Bytes
import LogStore

/// The operation that produced a commit.
public enum UpdateMode: UInt8, Sendable {
  /// All products and relations were replaced.
  case full = 0
  /// The rows of one payload were merged.
  case incremental = 1
  /// The state of an earlier commit, including its cursor, was made current again.
  case rollback = 2
  /// The data saved from a damaged file was written into a new file.
  case repair = 3

  /// The name that the command line uses.
  public var name: String {
    switch self {
    case .full: "full"
    case .incremental: "incremental"
    case .rollback: "rollback"
    case .repair: "repair"
    }
  }
}

/// The number of rows that an update changed.
///
/// The commit of a full update stores only the relations and the defaulted fields. Its products are the rows of the
/// commit, and the rows that it removed are reported once, in its ``UpdateReport``.
public struct UpdateCounts: Equatable, Sendable {
  /// The number of products that were added or replaced; 0 in the stored counts of a full update.
  public var productsUpserted = 0
  /// The number of products that were deleted; 0 in the stored counts of a full update.
  public var productsDeleted = 0
  /// The number of relations that were added.
  public var relationsWritten = 0
  /// The number of relations that were removed; 0 in the stored counts of a full update.
  public var relationsDeleted = 0
  /// The relations of a payload whose product was not among its upserted products.
  public var relationsIgnored = 0
  /// The fields of the payload that had the wrong type.
  public var defaulted = 0
  /// The number of codes that were added.
  public var codesWritten = 0
  /// The number of codes that were removed; 0 in the stored counts of a full update.
  public var codesDeleted = 0
  /// The codes of a payload whose product was not among its upserted products.
  public var codesIgnored = 0

  /// Whether one of the counts of codes is not 0.
  package var hasCodes: Bool { codesWritten != 0 || codesDeleted != 0 || codesIgnored != 0 }

  /// Creates counts that are all 0.
  public init() {}
}

/// The changes that an update made and the commit that contains them.
public struct UpdateReport: Equatable, Sendable {
  /// The kind of update: full, incremental, rollback or repair.
  public var mode: UpdateMode
  /// The sequence number of the commit that contains the changes.
  public var sequence: UInt64
  /// The generation of the file that contains the commit. A full update begins a new one.
  public var generation: UInt64
  /// The number of rows that the update changed.
  public var counts: UpdateCounts
  /// The server's `updateTime`, now the catalogue's cursor.
  public var cursor: String
  /// Notices that are reported once and not stored with the commit.
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

/// The catalogue's state that is stored with each commit, next to the rows, and changes together with them.
public struct CatalogState: Equatable, Sendable {
  /// The server's `updateTime`, sent with the next request; empty to request everything.
  public var cursor = ""
  /// The operation that produced the commit.
  public var mode = UpdateMode.full
  /// The number of rows that the commit changed. A full update and a repair store only some of the counts.
  public var counts = UpdateCounts()
  /// Whether products may have fields beyond the 25. A program that does not know such fields refuses the state, and so
  /// the commit, by its version.
  var hasExtra = false
  /// The number of codes in the catalogue. While there are any, a program that does not know them refuses the state, as
  /// above.
  var codeCount = 0
  /// The publication that the catalogue follows; `nil` if it never followed one. A program that does not know
  /// publications refuses the state, as above.
  package var publication: PublicationMark?
  /// Whether the catalogue has codes, or the commit changed some.
  package var hasCodes: Bool { codeCount > 0 || counts.hasCodes }

  /// The flags of a state of version 3.
  private enum Flag {
    static let codes: UInt64 = 1
    static let publication: UInt64 = 1 << 1
    static let extra: UInt64 = 1 << 31
  }

  /// Creates the state of an empty catalogue: an empty cursor and counts of 0.
  public init() {}

  /// The encoded state: version, mode, in version 3 flags, six counts of 8 bytes or ten, the mark of a
  /// publication, and the cursor.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    let hasCodes = hasCodes
    let hasFlags = hasCodes || publication != nil
    writer.put(hasFlags ? 3 : hasExtra ? 2 : 1 as UInt8)
    writer.put(mode.rawValue)
    if hasFlags {
      writer.put(
        (hasCodes ? Flag.codes : 0) | (publication != nil ? Flag.publication : 0) | (hasExtra ? Flag.extra : 0))
    }
    for count in [
      counts.productsUpserted, counts.productsDeleted, counts.relationsWritten, counts.relationsDeleted,
      counts.relationsIgnored, counts.defaulted,
    ] { writer.put(UInt64(count)) }
    if hasCodes {
      for count in [codeCount, counts.codesWritten, counts.codesDeleted, counts.codesIgnored] {
        writer.put(UInt64(count))
      }
    }
    if let publication { publication.append(to: &writer) }
    writer.put(Array(cursor.utf8))
    return writer.bytes
  }

  /// Decodes the state; `nil` if this program does not know its version or form.
  init?(_ bytes: [UInt8]) {
    if bytes.isEmpty { return }
    var reader = ByteReader(bytes.rawSpan)
    guard let version = reader.u8(), (1...3).contains(version), let mode = reader.u8().flatMap(UpdateMode.init) else {
      return nil
    }
    self.mode = mode
    var hasCodes = false
    var hasPublication = false
    if version == 3 {
      // A bit that this program does not know stands for something that it cannot read.
      guard let flags = reader.u64(), flags & ~(Flag.codes | Flag.publication | Flag.extra) == 0 else { return nil }
      hasCodes = flags & Flag.codes != 0
      hasPublication = flags & Flag.publication != 0
      hasExtra = flags & Flag.extra != 0
    } else {
      hasExtra = version == 2
    }
    var numbers: [Int] = []
    for _ in 0..<(hasCodes ? 10 : 6) {
      guard let number = reader.u64() else { return nil }
      numbers.append(Int(clamping: number))
    }
    counts.productsUpserted = numbers[0]
    counts.productsDeleted = numbers[1]
    counts.relationsWritten = numbers[2]
    counts.relationsDeleted = numbers[3]
    counts.relationsIgnored = numbers[4]
    counts.defaulted = numbers[5]
    if hasCodes {
      codeCount = numbers[6]
      counts.codesWritten = numbers[7]
      counts.codesDeleted = numbers[8]
      counts.codesIgnored = numbers[9]
    }
    if hasPublication {
      guard let publication = PublicationMark(&reader) else { return nil }
      self.publication = publication
    }
    guard let cursor = reader.text(reader.remaining) else { return nil }
    self.cursor = cursor
  }
}
