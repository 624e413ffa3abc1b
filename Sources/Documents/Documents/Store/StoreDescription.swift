import DocumentFormat
import LogStore

/// The metadata of a document store: its schema version and its indexes. It is stored as the engine's application
/// state, encoded as a document, so it changes in the same commit as the documents.
struct StoreDescription: Codable, Equatable, Sendable {
  /// The format version of this description: 2 as soon as an index records ``DeclaredIndex/isSingleValued``, which
  /// every later writer must keep true; 3 if there is an ordered index, for which every writer must derive keys.
  private(set) var format = 1
  /// The version of the application's schema; see ``Migration``.
  var schemaVersion = 0
  var collections: [String: CollectionDescription] = [:]

  static let supportedFormats = 1...3

  init() {}

  /// What a description of any format has.
  private struct Head: Decodable {
    let format: Int
  }

  /// Decodes a store's state; an empty state gives an empty description.
  ///
  /// - Throws: `StoreError.newer` if a newer version of this package wrote the state; `DocumentStoreError.unknownState` if
  ///   another program did.
  init(_ state: [UInt8], path: String) throws {
    if state.isEmpty { return }
    let newest = Self.supportedFormats.upperBound
    if let head = try? DocumentDecoder().decode(Head.self, from: state), head.format > newest {
      throw StoreError.newer(path: path, reason: "its documents have form \(head.format), this program knows \(newest)")
    }
    guard let description = try? DocumentDecoder().decode(StoreDescription.self, from: state),
      Self.supportedFormats.contains(description.format)
    else { throw DocumentStoreError.unknownState(path: path) }
    self = description
  }

  /// Removes all index declarations. Their numbers are not reused.
  mutating func forgetIndexes() {
    for name in collections.keys { collections[name]?.indexes = [] }
  }

  /// The bytes to store.
  func encoded() throws -> [UInt8] {
    var stored = self
    let indexes = collections.values.flatMap(\.indexes)
    if indexes.contains(where: { $0.isSingleValued != nil }) { stored.format = 2 }
    // The last ordered index may be gone.
    if stored.format == 3 { stored.format = 2 }
    if indexes.contains(where: { $0.isOrdered == true }) { stored.format = 3 }
    return try DocumentEncoder().encode(stored)
  }

  /// Records that documents of a collection have no value, or several, in indexes with these numbers.
  mutating func record(listValued numbers: Set<UInt16>, in collection: String) {
    for number in numbers { collections[collection]?.record(listValued: number) }
  }
}

/// The indexes of a collection.
struct CollectionDescription: Codable, Equatable, Sendable {
  var indexes: [DeclaredIndex] = []
  /// The number of the next index. Numbers are never reused, so the keys of a removed index find nothing.
  var nextNumber: UInt16 = 0

  /// Replaces the list of indexes.
  ///
  /// - Parameters:
  ///   - wanted: The indexes, each once.
  ///   - isLost: Whether the keys of a declared index are not in the store, so that it gets a new number.
  /// - Returns: The numbers of new indexes, which must be filled from the existing documents.
  mutating func declare(
    _ wanted: [IndexDescription], isLost: (DeclaredIndex) -> Bool = { _ in false }
  ) throws -> Set<UInt16> {
    var kept: [DeclaredIndex] = []
    var new: Set<UInt16> = []
    for index in wanted {
      if let declared = indexes.first(where: { $0.description == index && !isLost($0) }) {
        kept.append(declared)
        continue
      }
      guard nextNumber < .max else { throw DocumentStoreError.tooManyIndexes }
      kept.append(DeclaredIndex(number: nextNumber, index))
      new.insert(nextNumber)
      nextNumber += 1
    }
    indexes = kept
    return new
  }

  fileprivate mutating func record(listValued number: UInt16) {
    for index in indexes.indices where indexes[index].number == number && indexes[index].isSingleValued == true {
      indexes[index].isSingleValued = false
    }
  }
}

extension CollectionDescription {
  /// The indexes with a valid path.
  var usableIndexes: [CollectionIndex] { indexes.compactMap(CollectionIndex.init) }
}

/// A declared index with a parsed path and the prefix of its keys.
struct CollectionIndex: Sendable {
  let description: IndexDescription
  let number: UInt16
  /// The index's number, in two bytes.
  let keyHead: [UInt8]
  /// Whether every document has exactly one value in the index; `false` also if that is not known.
  let isSingleValued: Bool

  /// The engine's name of an ordered index.
  var orderedName: String { "ordered/\(number)" }

  /// Creates an index; `nil` if the path is invalid.
  init?(_ declared: DeclaredIndex) {
    guard let description = declared.description else { return nil }
    self.description = description
    number = declared.number
    isSingleValued = declared.isSingleValued ?? false
    keyHead = [UInt8(truncatingIfNeeded: declared.number), UInt8(truncatingIfNeeded: declared.number >> 8)]
  }

  /// The stored key of an index key: the index's number, then the key's bytes.
  func key(_ key: IndexKey) -> [UInt8] { keyHead + key.bytes }
}

/// An index as it is stored in the description.
struct DeclaredIndex: Codable, Equatable, Sendable {
  var number: UInt16
  var path: String
  var hasPrefixes: Bool
  /// Whether no document written since the index was declared has several values at the path, or none: an array or an
  /// object. `nil` if format 1 declared the index, which did not record it.
  var isSingleValued: Bool?
  /// Whether it is an ordered index; `nil` if it is not.
  var isOrdered: Bool?
  /// The paths of an ordered index after the first one; `nil` if there are none.
  var furtherPaths: [String]?

  /// Creates an index that no document is in. It is single-valued until a document says otherwise.
  init(number: UInt16, _ index: IndexDescription) {
    self.number = number
    path = index.path.description
    hasPrefixes = index.hasPrefixes
    isSingleValued = true
    isOrdered = index.isOrdered ? true : nil
    furtherPaths = index.paths.count == 1 ? nil : index.paths.dropFirst().map(\.description)
  }

  /// The index with parsed paths; `nil` if one is invalid. Only this package writes paths, but bytes from disk are not
  /// trusted.
  var description: IndexDescription? {
    guard let first = try? FieldPath(parsing: path) else { return nil }
    guard isOrdered == true else { return IndexDescription(first, hasPrefixes: hasPrefixes) }
    guard let further = try? (furtherPaths ?? []).map({ try FieldPath(parsing: $0) }) else { return nil }
    return IndexDescription(ordered: [first] + further)
  }
}
