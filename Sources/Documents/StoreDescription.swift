import DocumentFormat

/// What a store of documents says about itself. It moves in the same commit as the documents: it is the store's application
/// state, a document too.
struct StoreDescription: Codable, Equatable, Sendable {
  /// The form of this description.
  private(set) var format = 1
  /// The version of the application's schema; see ``Migration``.
  var schemaVersion = 0
  var collections: [String: CollectionDescription] = [:]

  static let knownFormat = 1

  init() {}

  /// Reads a store's state; that of an empty one is empty.
  ///
  /// - Throws: `DocumentStoreError.unknownState` for what another program, or a newer one, wrote.
  init(_ state: [UInt8], path: String) throws {
    if state.isEmpty { return }
    guard let description = try? DocumentDecoder().decode(StoreDescription.self, from: state),
      description.format == Self.knownFormat
    else { throw DocumentStoreError.unknownState(path: path) }
    self = description
  }

  /// Declares no index any more; the numbers of those that there were stay used.
  mutating func forgetIndexes() {
    for name in collections.keys { collections[name]?.indexes = [] }
  }

  func encoded() throws -> [UInt8] { try DocumentEncoder().encode(self) }
}

/// The indexes of a collection.
struct CollectionDescription: Codable, Equatable, Sendable {
  var indexes: [DeclaredIndex] = []
  /// The number that the next index will have. No number is used twice, so the keys of a removed index find nothing.
  var nextNumber: UInt16 = 0

  /// Makes the list of indexes the one that is wanted.
  ///
  /// - Returns: whether there are new ones, which need the keys of the documents that are there.
  mutating func declare(_ wanted: [IndexDescription]) throws -> Bool {
    var kept: [DeclaredIndex] = []
    var hasNew = false
    for index in wanted {
      if let known = indexes.first(where: { $0.description == index }) {
        kept.append(known)
        continue
      }
      guard nextNumber < .max else { throw DocumentStoreError.tooManyIndexes }
      kept.append(DeclaredIndex(number: nextNumber, path: index.path.description, hasPrefixes: index.hasPrefixes))
      nextNumber += 1
      hasNew = true
    }
    indexes = kept
    return hasNew
  }
}

extension CollectionDescription {
  /// The indexes, ready to be used.
  var usableIndexes: [CollectionIndex] { indexes.compactMap(CollectionIndex.init) }
}

/// A declared index with its path in parts, and what its keys begin with.
struct CollectionIndex: Sendable {
  let description: IndexDescription
  /// The index's number, two bytes.
  let keyHead: [UInt8]

  /// `nil` if the path is none.
  init?(_ declared: DeclaredIndex) {
    guard let description = declared.description else { return nil }
    self.description = description
    keyHead = [UInt8(truncatingIfNeeded: declared.number), UInt8(truncatingIfNeeded: declared.number >> 8)]
  }

  /// The key in a row's list for `key` of this index.
  func key(_ key: IndexKey) -> [UInt8] { keyHead + key.bytes }
}

/// An index as the store knows it.
struct DeclaredIndex: Codable, Equatable, Sendable {
  var number: UInt16
  var path: String
  var hasPrefixes: Bool

  /// `nil` if the path is none: nobody else writes here, but nothing that is read is trusted.
  var description: IndexDescription? {
    (try? FieldPath(parsing: path)).map { IndexDescription($0, hasPrefixes: hasPrefixes) }
  }
}
