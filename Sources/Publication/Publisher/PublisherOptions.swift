package import Cryptography
package import Essentials
package import PublicationFormat

/// How a catalogue is published.
package struct PublisherOptions: Sendable {
  /// The key that signs the head.
  package var key: SignifySecretKey
  /// Who publishes, for messages of other publishers.
  package var publisher: String
  /// How long a head counts; it is renewed after half of it.
  package var lifetime: TimeInterval = 30 * 86_400
  /// How often devices should ask, in seconds.
  package var poll = 300
  /// The time over which devices spread the fetching of a base, in seconds.
  package var spread = 600
  /// zstd's level.
  package var level = 19
  /// The most bytes of a base's dictionary.
  package var dictionaryByteCount = 32 << 10
  /// When devices switch to the new state; `nil` for at once.
  package var activation: String?
  /// The codes that devices try before they switch; `nil` for none.
  package var probe: PublicationProbe?
  /// The rings; `nil` to leave them as they are.
  package var rings: [PublicationHead.Ring]?
  /// Called before rings are changed, with the head before and after; if it throws, nothing is written.
  package var checkRings: (@Sendable (_ former: PublicationHead, _ head: PublicationHead) throws -> Void)?
  /// Whether all rows of each new state are written as NDJSON too, for programs that are not devices.
  package var writesNDJSON = false
  package var now: @Sendable () -> Date = { Date() }

  package init(key: SignifySecretKey, publisher: String) {
    self.key = key
    self.publisher = publisher
  }
}

/// What a publication did.
package struct PublishReport: Sendable, Equatable {
  /// The newest state.
  package var sequence: UInt64
  /// Whether the head was written.
  package var isPublished = false
  /// The number of bytes of a new base; `nil` if there is none.
  package var baseByteCount: Int?
  /// The new deltas.
  package var deltas: [PublicationHead.Delta] = []
  /// The number of objects and of bytes that were written, the head with its signature among them.
  package var objects = 0
  package var bytesOut = 0
  /// The number of entries that changed.
  package var changed = 0
  /// When the head expires.
  package var expires: Date?
  /// Whether an interrupted publication was completed first.
  package var isContinued = false

  package init(sequence: UInt64) { self.sequence = sequence }
}
