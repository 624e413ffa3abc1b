import Essentials
import LogStore
import ObjectStores
import Platform
import PublicationFormat
import PublicationSync
import Storage

/// What a publisher keeps beside the published rows: the last head, and which objects it has written.
///
/// It is the file `publisher.json`, which is replaced as a whole. A publication that was interrupted is *pending*: its
/// objects are among the files of the outbox, and the next run writes them before anything else.
struct PublisherState: Codable, Sendable, Equatable {
  /// The id of the catalogue.
  var catalogue: String
  /// The last head, as it was or is to be written.
  var head: String?
  /// The head before it, as long as the last one is pending.
  var formerHead: String?
  var isPending = false
  /// The objects of the outbox, which a pending publication writes.
  var outbox: [String] = []
  /// The last heads that were written, the newest last, whose states rings can be given.
  var heads: [String]?
  /// The objects that were written, and when a head last named them, in seconds since 1970.
  var objects: [String: Double] = [:]
  /// Their numbers of bytes.
  var sizes: [String: Int] = [:]
  /// What the place makes of the conditions of writes; `nil` before it was tried.
  var conditions: ConditionalWrites?

  static let name = "publisher.json"
  /// The number of heads that are kept.
  static let headCount = 32

  /// A state of one of the last heads, as far as its objects were not removed; `nil` if it cannot be given to devices.
  func state(_ sequence: UInt64) -> PublicationHead.State? {
    for text in (heads ?? []).reversed() {
      guard let head = try? PublicationHead(json: Array(text.utf8)), var state = head.state(sequence) else { continue }
      state.deltas.removeAll { objects[$0.name] == nil }
      if objects[state.base.name] != nil, PublicationPlan.reaches(state) { return state }
    }
    return nil
  }

  init(catalogue: String) { self.catalogue = catalogue }
}

/// The directory of a publisher: the published rows as a catalogue, the state, and copies of the deltas that heads name.
struct PublisherDirectory: Sendable {
  let directory: any StorageDirectory
  /// The published rows.
  let published: StoreLocation

  init(_ location: StoreLocation) {
    directory = location.directory
    published = location
  }

  func lock() throws -> any StorageLock {
    guard let lock = try directory.lock("publisher.lock") else {
      let holder = directory.holder(of: "publisher.lock").map { " (\($0))" } ?? ""
      throw PublisherError.busy("another process\(holder) publishes from \(directory.path): wait for it to end")
    }
    return lock
  }

  func state() throws -> PublisherState? {
    guard let bytes = try read(PublisherState.name) else { return nil }
    do { return try JSONDecoder().decode(PublisherState.self, from: Data(bytes)) } catch {
      throw PublisherError.invalid(
        "\(directory.path)/\(PublisherState.name) cannot be read (\(error)): it was damaged or changed by hand;"
          + " remove the file, and go on from what is published with 'catalogctl publish --take-over'")
    }
  }

  func write(_ state: PublisherState) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    try write(PublisherState.name, Array(encoder.encode(state)))
  }

  func read(_ name: String) throws(StorageError) -> [UInt8]? {
    guard let file = try directory.open(name, .read) else { return nil }
    return try file.read(file.size(), at: 0)
  }

  /// Writes a file. Readers see the former bytes or the new ones.
  func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
    let new = name + ".new"
    try directory.remove(new)
    guard let file = try directory.open(new, .create) else { return }
    try file.write(bytes, at: 0)
    try file.sync()
    try directory.rename(new, to: name)
    try directory.sync()
  }

  /// The name of the local copy of an object.
  static func copy(_ object: String) -> String {
    "copy-" + (object.split(separator: "/").last.map(String.init) ?? object)
  }

  /// Removes the copies of objects that are not among `names`.
  func removeCopies(except names: Set<String>) throws(StorageError) {
    for name in try directory.names() where name.hasPrefix("copy-") && !names.contains(name) {
      try directory.remove(name)
    }
  }
}
