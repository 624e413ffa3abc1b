package import Essentials

/// The head of a publication: which state is published, and of which files it is made.
///
/// It is the file `catalogue.json`, the only one that changes. `Documentation/Format/Publication.md` describes it.
package struct PublicationHead: Sendable, Equatable {
  /// The names of the head and of its signature.
  package static let name = "catalogue.json"
  package static let signatureName = "catalogue.json.sig"
  /// The version of the format that this program reads.
  package static let readerVersion = 1
  /// The most bytes of a head.
  package static let byteLimit = 8192
  /// The most rings, and the most deltas of one state.
  package static let ringLimit = 8
  static let deltaLimit = 64

  /// An immutable file, named by its hash.
  package struct File: Sendable, Equatable {
    package var byteCount: Int
    /// The SHA-256 of the file, 64 hexadecimal digits in lower case.
    package var sha256: String

    package init(byteCount: Int, sha256: String) {
      self.byteCount = byteCount
      self.sha256 = sha256
    }

    /// The name of the file.
    package func name(_ kind: String) -> String { "objects/\(sha256).\(kind)" }
  }

  /// All rows of a state.
  package struct Base: Sendable, Equatable {
    package var sequence: UInt64
    package var file: File
    /// The beginning of the file, which is needed to read any part of the rest.
    package var top: File

    package init(sequence: UInt64, file: File, top: File) {
      self.sequence = sequence
      self.file = file
      self.top = top
    }

    package var name: String { file.name("base") }
  }

  /// The rows that differ between two states.
  package struct Delta: Sendable, Equatable {
    package var from: UInt64
    package var to: UInt64
    package var file: File

    package init(from: UInt64, to: UInt64, file: File) {
      self.from = from
      self.to = to
      self.file = file
    }

    package var name: String { file.name("delta") }
  }

  /// The numbers of rows of a state.
  package struct Counts: Sendable, Equatable {
    package var products: Int
    package var relations: Int
    package var codes: Int

    package init(products: Int, relations: Int, codes: Int) {
      self.products = products
      self.relations = relations
      self.codes = codes
    }
  }

  /// A published state of the catalogue, and the files that lead to it.
  package struct State: Sendable, Equatable {
    package var sequence: UInt64
    package var cursor: String
    package var counts: Counts
    /// The digest of the catalogue, 32 hexadecimal digits.
    package var digest: String
    package var base: Base
    /// The deltas, by the state that they lead to.
    package var deltas: [Delta]
    /// The codes that a device tries before it switches; `nil` if there are none.
    package var probe: File?
    /// When devices switch to this state; `nil` for at once. A time without a zone is local to each device.
    package var activation: String?

    package init(
      sequence: UInt64, cursor: String, counts: Counts, digest: String, base: Base, deltas: [Delta],
      probe: File? = nil, activation: String? = nil
    ) {
      self.sequence = sequence
      self.cursor = cursor
      self.counts = counts
      self.digest = digest
      self.base = base
      self.deltas = deltas
      self.probe = probe
      self.activation = activation
    }
  }

  /// What a device must be able to hold.
  package struct Limits: Sendable, Equatable {
    /// The number of products, relations and codes.
    package var rows: Int
    /// The number of bytes of all values, without compression.
    package var bytes: Int
    /// The number of bytes of the longest text.
    package var text: Int

    package init(rows: Int, bytes: Int, text: Int) {
      self.rows = rows
      self.bytes = bytes
      self.text = text
    }
  }

  /// A share of the devices, with those of the rings before it, and the state that they have.
  package struct Ring: Sendable, Equatable {
    /// The share of all devices in percent, 0 to 100.
    package var percent: Double
    package var sequence: UInt64

    package init(percent: Double, sequence: UInt64) {
      self.percent = percent
      self.sequence = sequence
    }

    /// Percent as people write them: `100`, `2.5`.
    package static func text(ofPercent percent: Double) -> String {
      Int(exactly: percent).map { "\($0)" } ?? "\(percent)"
    }
  }

  /// The id of the catalogue, the same in all of its heads.
  package var catalogue: String
  /// Who wrote the head, for messages.
  package var publisher: String
  /// The lowest version of a reader that understands the files.
  package var reader = PublicationHead.readerVersion
  package var published: Date
  package var expires: Date
  /// How often devices should ask for news, in seconds.
  package var poll: Int
  /// The time over which devices spread the fetching of a base, in seconds.
  package var spread: Int
  package var limits: Limits
  /// The newest state.
  package var state: State
  /// The rings, of which a device is in the first one whose percent exceed its own number; empty if all devices have the
  /// newest state.
  package var rings: [Ring] = []
  /// The older states that rings have.
  package var held: [State] = []

  package init(
    catalogue: String, publisher: String, published: Date, expires: Date, poll: Int, spread: Int, limits: Limits,
    state: State
  ) {
    self.catalogue = catalogue
    self.publisher = publisher
    self.published = published
    self.expires = expires
    self.poll = poll
    self.spread = spread
    self.limits = limits
    self.state = state
  }

  package var sequence: UInt64 { state.sequence }

  /// Returns the state that a device has.
  ///
  /// - Parameter number: The device's number, 0 to less than 100.
  package func state(ofDevice number: Double) -> State {
    for ring in rings where number < ring.percent { return state(ring.sequence) ?? state }
    return rings.last.flatMap { state($0.sequence) } ?? state
  }

  /// Returns the state with a sequence number; `nil` if the head does not have it.
  package func state(_ sequence: UInt64) -> State? {
    sequence == state.sequence ? state : held.first { $0.sequence == sequence }
  }
}
