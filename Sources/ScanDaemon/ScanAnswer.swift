public import Catalog
public import JSONFormat
public import ScanInputs
import TextFormat

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a scan was answered with.
public struct ScanAnswer: Sendable {
  /// Names the scan for ever: a UUID of version 7, as text. Webhooks send it as the id of the upload's document.
  public let id: String
  /// When the code was read; to the microsecond.
  public let time: Date
  /// What was read, and by which input.
  public let reading: Reading
  /// What the catalogue says.
  public let match: Match
  /// Which catalogue that was.
  public let catalogue: CatalogueAge
  /// The id of the scan that this one repeats within its input's window; nothing was recorded then.
  public let repeats: String?
  /// Whether the catalogue could be asked.
  public let lookup: Lookup
  /// The id of the earlier answer to the same scan that could not be looked up then; see ``DaemonOptions/rematches``.
  public let rematches: String?
  /// What became of the scan besides its answer.
  public let recording: Recording

  /// Whether the catalogue could be asked.
  public enum Lookup: Sendable, Equatable {
    /// It was: ``ScanAnswer/match`` is what it says.
    case done
    /// There is none: nobody is signed in, or nothing was ever synchronised or imported. Nothing matched, which says nothing of
    /// the product.
    case noCatalogue
    /// It could not be read, and why. Nothing matched, which says nothing of the product.
    case unreadable(String)
  }

  /// What became of the scan besides its answer.
  public enum Recording: Sendable, Equatable {
    /// Nothing was to be recorded before the answer: no webhook wants it, and no session has its input. A miss that no webhook wants
    /// is entered in the journal behind the answer.
    case notNeeded
    /// Its uploads, its entry in a session, and where it found nothing the one in the journal, are durable.
    case durable
    /// The store takes nothing now, and why: nobody but the one who asked knows of this scan.
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

  /// What programs are told: `id`, `time`, `input`, `tag`; all that `catalogctl scan --json` says; `reason` where the catalogue
  /// could not be asked; `hex` where the code could not be decoded; `catalogue`; `repeats` where it is a double scan; `rematches` where it is a second answer; `recorded`, and
  /// `problem` where it is false although it was to be true.
  public var json: JSONText {
    var fields: [(String, JSONText)] = [
      ("id", .text(id)), ("time", .text(time.precise)), ("input", .text(reading.input)),
      ("tag", .optional(reading.tag)),
    ]
    for (name, value) in match.jsonFields(code: reading.code) {
      guard name == "match", let reason else {
        fields.append((name, value))
        continue
      }
      fields += [("match", .text(kind)), ("reason", .text(reason))]
    }
    if let bytes = reading.undecodedBytes { fields.append(("hex", .text(Hexadecimal.text(bytes)))) }
    fields.append(("catalogue", catalogue.json(at: time)))
    if let rematches { fields.append(("rematches", .text(rematches))) }
    if let repeats { fields.append(("repeats", .text(repeats))) }
    fields.append(("recorded", .bool(recording == .durable)))
    if case .failed(let problem) = recording { fields.append(("problem", .text(problem))) }
    return .object(fields)
  }

  /// How the code was matched, for programs.
  var kind: String { if case .unreadable = lookup { "unreadable" } else { match.kind.rawValue } }

  /// Why nothing can be said of the product; `nil` where the catalogue was asked.
  var reason: String? {
    switch lookup {
    case .done: nil
    case .noCatalogue: "no catalogue"
    case .unreadable(let reason): reason
    }
  }

  /// Whether the catalogue was asked and has no such product.
  var isMiss: Bool { lookup == .done && match.isEmpty }

  /// The same answer with another end.
  func recorded(_ recording: Recording) -> ScanAnswer {
    ScanAnswer(
      id: id, time: time, reading: reading, match: match, catalogue: catalogue, repeats: repeats, lookup: lookup,
      rematches: rematches, recording: recording)
  }
}

/// Which catalogue an answer comes from.
public struct CatalogueAge: Sendable, Equatable {
  /// Whose; `nil` for the one that belongs to nobody.
  public var user: String?
  /// The server's `updateTime`; empty before the first update.
  public var cursor: String
  /// The commit; 0 for an empty catalogue.
  public var sequence: UInt64
  /// When the server was last known to have nothing newer: the last successful synchronisation, or the last commit. `nil` for an
  /// empty catalogue.
  public var currentAt: Date?

  /// Creates a statement about the catalogue of `user`. `sequence` is 0 and `currentAt` is `nil` for an empty one.
  public init(user: String?, cursor: String, sequence: UInt64, currentAt: Date?) {
    self.user = user
    self.cursor = cursor
    self.sequence = sequence
    self.currentAt = currentAt
  }

  /// How old the catalogue is at a moment, in seconds, to the millisecond; `nil` for an empty one.
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
