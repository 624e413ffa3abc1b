import Barcodes
public import Catalog
public import Essentials
public import JSONFormat
public import ScanInputs
import TextFormat
import Workspace

/// The answer to a scan.
public struct ScanAnswer: Sendable {
  /// The scan's permanent id: a UUID of version 7, as text. Webhooks send it as the id of the upload's document.
  public let id: String
  /// When the code was read, with microsecond precision.
  public let time: Date
  /// The reading: the code and the input that read it.
  public let reading: Reading
  /// The catalogue's match.
  public let match: Match
  /// The catalogue that was searched, and its age.
  public let catalogue: CatalogueAge
  /// The id of the scan that this one repeats within its input's window; nothing is recorded for a repeat. `nil` if it
  /// is not a repeat.
  public let repeats: String?
  /// Whether the catalogue could be searched.
  public let lookup: Lookup
  /// The id of the earlier answer to the same scan, which could not be looked up at that time; see
  /// ``DaemonOptions/rematches``.
  public let rematches: String?
  /// The published rows that ``match`` is from, because the catalogue had none yet; `nil` for all other answers.
  public internal(set) var asOf: PublishedRows?
  /// Whether the scan was recorded.
  public let recording: Recording

  /// Whether the catalogue could be searched, for a code that could be decoded.
  public enum Lookup: Sendable, Equatable {
    /// The catalogue was searched: ``ScanAnswer/match`` is the result. Or the code could not be decoded, and is in no
    /// catalogue.
    case done
    /// There is no catalogue: no user is signed in, or no synchronisation or import has ever succeeded. The match is
    /// empty, which says nothing about the product.
    case noCatalogue
    /// The catalogue could not be read, for this reason. The match is empty, which says nothing about the product.
    case unreadable(String)
  }

  /// Whether the scan was recorded.
  public enum Recording: Sendable, Equatable {
    /// Nothing had to be recorded before the answer: no webhook wants the scan, and no session holds its input. A miss
    /// that no webhook wants is entered in the journal after the answer.
    case notNeeded
    /// The uploads, the session entry and, for a miss, the journal entry are durable.
    case durable
    /// The store could not be written, for this reason. Only the caller that receives this answer knows of the scan.
    case failed(String)
  }

  /// Creates an answer. The daemon does so for each scan; programs need it for tests only.
  public init(
    id: String, time: Date, reading: Reading, match: Match, catalogue: CatalogueAge, repeats: String? = nil,
    lookup: Lookup = .done, rematches: String? = nil, recording: Recording
  ) {
    self.id = id
    self.time = time
    self.reading = reading
    self.match = match
    self.catalogue = catalogue
    self.repeats = repeats
    self.lookup = lookup
    self.rematches = rematches
    self.recording = recording
  }

  /// The answer as JSON: `id`, `time`, `input`, `tag`; all fields of `catalogctl scan --json`; `reason` also if the
  /// catalogue could not be searched, or the code is not whole; `hex` if the code could not be decoded; `catalogue`; `asOf` if the publication answered;
  /// `repeats` for a double scan; `rematches` for a second answer; `recorded`; and `problem` if recording failed.
  public var json: JSONText {
    var fields: [(String, JSONText)] = [
      ("id", .text(id)), ("time", .text(time.precise)), ("input", .text(reading.input)),
      ("tag", .optional(reading.tag)),
    ]
    let today = ScanDate(localAt: Int64(time.timeIntervalSince1970))
    for (name, value) in match.jsonFields(code: reading.code, today: today) {
      switch name {
      case "match" where reason != nil: fields.append(("match", .text(kind)))
      // Why the catalogue could not be searched, or the code not be read, says more than that nothing was found.
      case "reason": fields.append(("reason", reason.map(JSONText.text) ?? value))
      default: fields.append((name, value))
      }
    }
    if let bytes = reading.undecodedBytes { fields.append(("hex", .text(Hexadecimal.text(bytes)))) }
    fields.append(("catalogue", catalogue.json(at: time)))
    if let asOf { fields.append(("asOf", asOf.json)) }
    if let rematches { fields.append(("rematches", .text(rematches))) }
    if let repeats { fields.append(("repeats", .text(repeats))) }
    fields.append(("recorded", .bool(recording == .durable)))
    if case .failed(let problem) = recording { fields.append(("problem", .text(problem))) }
    return .object(fields)
  }

  /// The kind of match, for programs.
  var kind: String { if case .unreadable = lookup { "unreadable" } else { match.kind.rawValue } }

  /// Why the answer says nothing about the product; `nil` if the catalogue was searched for a whole code.
  var reason: String? {
    switch lookup {
    case .done: match.isEmpty ? reading.flaw : nil
    case .noCatalogue: "no catalogue"
    case .unreadable(let reason): reason
    }
  }

  /// Whether the catalogue was searched and lacks the product. A pallet or a location is no product, and no miss.
  var isMiss: Bool { lookup == .done && match.isMiss }

  /// Returns the same answer with another recording state.
  func recorded(_ recording: Recording) -> ScanAnswer {
    var answer = ScanAnswer(
      id: id, time: time, reading: reading, match: match, catalogue: catalogue, repeats: repeats, lookup: lookup,
      rematches: rematches, recording: recording)
    answer.asOf = asOf
    return answer
  }

  /// Returns the answer with the match of published rows.
  func answered(_ match: Match, asOf rows: PublishedRows) -> ScanAnswer {
    var answer = ScanAnswer(
      id: id, time: time, reading: reading, match: match, catalogue: catalogue, repeats: repeats, lookup: .done,
      rematches: rematches, recording: recording)
    answer.asOf = rows
    return answer
  }

  /// The answer for everybody except the one who sent the code, who gets it as read: without the secrets in the code.
  var withoutSecrets: ScanAnswer {
    let masked = reading.withoutSecrets
    // What is read from the code has its secrets too.
    guard masked != reading, var match = try? CatalogSnapshot.empty.match(masked, .standard) else { return self }
    if !self.match.isEmpty {
      (match.kind, match.key, match.gtin) = (self.match.kind, self.match.key, self.match.gtin)
      match.products = self.match.products
      match.mayHavePackage = self.match.mayHavePackage
      match.package = self.match.package
      match.rest = self.match.rest.map { _ in CodeSecrets.mark }
    }
    var answer = ScanAnswer(
      id: id, time: time, reading: masked, match: match, catalogue: catalogue, repeats: repeats, lookup: lookup,
      rematches: rematches, recording: recording)
    answer.asOf = asOf
    return answer
  }
}

/// The catalogue that an answer is based on, and its age.
public struct CatalogueAge: Sendable, Equatable {
  /// The user that the catalogue belongs to; `nil` for the default catalogue.
  public var user: String?
  /// The server's `updateTime`; empty before the first update.
  public var cursor: String
  /// The sequence number of the commit; 0 for an empty catalogue.
  public var sequence: UInt64
  /// The last time at which the catalogue was known to be current: the last successful synchronisation, or the last
  /// commit. `nil` for an empty catalogue.
  public var currentAt: Date?

  /// Creates a statement about the catalogue of `user`. `sequence` is 0 and `currentAt` is `nil` for an empty one.
  public init(user: String?, cursor: String, sequence: UInt64, currentAt: Date?) {
    self.user = user
    self.cursor = cursor
    self.sequence = sequence
    self.currentAt = currentAt
  }

  /// The age of the catalogue at this time, in seconds with millisecond precision; `nil` for an empty catalogue.
  func ageSeconds(at time: Date) -> Double? {
    currentAt.map { max(0, (time.timeIntervalSince($0) * 1000).rounded() / 1000) }
  }

  func json(at time: Date) -> JSONText {
    .object([
      ("user", .optional(user)), ("cursor", .text(cursor)), ("sequence", .uint(sequence)),
      ("currentAt", .optional(currentAt?.precise)),
      ("ageSeconds", ageSeconds(at: time).map(JSONText.double) ?? .null),
    ])
  }
}
