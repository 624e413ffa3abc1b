import BenchmarkSupport
import Catalog

/// What is asked of every store.
enum Operation: String, CaseIterable, Sendable {
  /// By barcode, three fields touched, one lookup after the other.
  case hit
  /// The same, and which key comes next depends on the answer.
  case dependent
  /// By a barcode that no product has.
  case miss
  case byId
  /// The pieces of all relations of a set.
  case relations
  /// Hits again, many barcodes in one call.
  case batch
  /// By id, all 25 fields as values of Swift.
  case product

  var title: String {
    switch self {
    case .hit: "hit"
    case .dependent: "dependent hit"
    case .miss: "miss"
    case .byId: "by id"
    case .relations: "relations"
    case .batch: "batch, per hit"
    case .product: "25 Swift values"
    }
  }
}

/// A store to be measured: made by ``fill(_:_:)`` in a directory of its own, then opened from there.
protocol Peer: AnyObject, Sendable {
  var name: String { get }
  /// Peers of one store use the same files: the first of them fills and updates it.
  var store: String { get }
  /// What was chosen, in a sentence.
  var configuration: String { get }
  /// More products than this are too many for it.
  var limit: Int { get }
  /// Has no files: it is filled in the process that measures.
  var isInMemory: Bool { get }
  var canBeUpdated: Bool { get }

  /// Writes every row of `source` and makes all of it durable.
  func fill(_ directory: String, _ source: any CatalogueSource) throws
  func open(_ directory: String, forUpdates: Bool) throws -> any OpenPeer
}

extension Peer {
  var limit: Int { .max }
  var isInMemory: Bool { false }
  var canBeUpdated: Bool { true }
}

/// A store that is open.
protocol OpenPeer: AnyObject {
  /// Something to look up with, as of the last commit; for one thread.
  func session() throws -> any PeerSession
  /// Applies the rows of an increment, and returns when they are durable.
  func update(_ rows: IncrementPlan.Rows) throws
  /// A call, for another thread, that gives back what dead rows take; `nil` where the store has no such thing.
  var compaction: (@Sendable () throws -> Void)? { get }
  func close()
}

/// The lookups of one thread.
protocol PeerSession: AnyObject, Sendable {
  func has(_ operation: Operation) -> Bool
  /// Looks up the keys in `range` and returns the sum of the answers.
  func run(_ operation: Operation, _ keys: KeySet, _ range: Range<Int>) throws -> UInt64
  /// All fields of one product.
  func product(_ id: String) throws -> Product?
}

/// A peer that did not do what it should.
struct PeerFailure: Error, CustomStringConvertible {
  let description: String
  init(_ peer: String, _ what: String) { description = "\(peer): \(what)" }
}
