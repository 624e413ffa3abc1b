import DocumentFormat

/// The metadata of a document store: its schema version and its indexes. It is stored as the engine's application
/// state, encoded as a document, so it changes in the same commit as the documents.
struct StoreDescription: Codable, Equatable, Sendable {
  /// The format version of this description: 2 as soon as an index records ``DeclaredIndex/isSingleValued``, which every
  /// later writer must keep true.
  private(set) var format = 1
  /// The version of the application's schema; see ``Migration``.
  var schemaVersion = 0
  var collections: [String: CollectionDescription] = [:]

  static let knownFormats = 1...2

  init() {}

  /// Decodes a store's state; an empty state gives an empty description.
  ///
  /// - Throws: `DocumentStoreError.unknownState` if another program, or a newer one, wrote the state.
  init(_ state: [UInt8], path: String) throws {
    if state.isEmpty { return }
    guard let description = try? DocumentDecoder().decode(StoreDescription.self, from: state),
      Self.knownFormats.contains(description.format)
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
    if collections.values.contains(where: { $0.indexes.contains { $0.isSingleValued != nil } }) { stored.format = 2 }
    return try DocumentEncoder().encode(stored)
  }

  /// Records that documents of a collection have no value, or several, in indexes with these numbers.
  mutating func note(listValued numbers: Set<UInt16>, in collection: String) {
    for number in numbers { collections[collection]?.note(listValued: number) }
  }
}

/// The indexes of a collection.
struct CollectionDescription: Codable, Equatable, Sendable {
  var indexes: [DeclaredIndex] = []
  /// The number of the next index. Numbers are never reused, so the keys of a removed index find nothing.
  var nextNumber: UInt16 = 0

  /// Replaces the list of indexes.
  ///
  /// - Returns: Whether there are new indexes, which must be filled from the existing documents.
  mutating func declare(_ wanted: [IndexDescription]) throws -> Bool {
    var kept: [DeclaredIndex] = []
    var hasNew = false
    for index in wanted {
      if let known = indexes.first(where: { $0.description == index }) {
        kept.append(known)
        continue
      }
      guard nextNumber < .max else { throw DocumentStoreError.tooManyIndexes }
      // True until a document says otherwise: filling the index looks at all of them.
      kept.append(
        DeclaredIndex(
          number: nextNumber, path: index.path.description, hasPrefixes: index.hasPrefixes, isSingleValued: true))
      nextNumber += 1
      hasNew = true
    }
    indexes = kept
    return hasNew
  }

  fileprivate mutating func note(listValued number: UInt16) {
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

  /// The index with a parsed path; `nil` if the path is invalid. Only this package writes paths, but bytes from disk
  /// are not trusted.
  var description: IndexDescription? {
    (try? FieldPath(parsing: path)).map { IndexDescription($0, hasPrefixes: hasPrefixes) }
  }
}
