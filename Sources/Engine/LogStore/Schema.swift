import Bytes
import RecordFormat

/// The tables of a store. Tables and key spaces are identified by their position, which never changes once written; new
/// ones are added at the end.
public struct Schema: Sendable {
  /// The maximum length of a key of a record in bytes.
  public static var maximumKeyLength: Int { RecordLayout.maximumKeyLength }

  /// A set of keys of a table by which its rows are found.
  public struct KeySpace: Sendable {
    /// The name, which is stored in the file and shown in messages.
    public let name: String
    /// Whether keys are unique: at most one live row has a given key, and putting a row replaces the row with the same
    /// key.
    public let isUnique: Bool
    /// Whether rows with an empty key are left out of this key space.
    public let skipsEmptyKeys: Bool

    /// Whether a record has a list of keys here: any number of keys, each of up to 255 bytes, added with
    /// `RecordDraft.addKeys`.
    public let isList: Bool

    /// Creates a key space.
    ///
    /// - Parameters:
    ///   - name: The name of the key space, unique in its table.
    ///   - isUnique: Whether keys are unique.
    ///   - skipsEmptyKeys: Whether rows with an empty key are left out.
    ///   - isList: Whether a record has a list of keys. It cannot be combined with the other options.
    public init(_ name: String, isUnique: Bool = false, skipsEmptyKeys: Bool = false, isList: Bool = false) {
      precondition(!isList || !isUnique && !skipsEmptyKeys, "keys of a list are neither unique nor skipped")
      self.name = name
      self.isUnique = isUnique
      self.skipsEmptyKeys = skipsEmptyKeys
      self.isList = isList
    }
  }

  /// A table: rows with the same key spaces.
  public struct Table: Sendable {
    /// The name, which is stored in the file and shown in messages.
    public let name: String
    /// The key spaces, in the order of the keys in a record.
    public let keySpaces: [KeySpace]
    /// The ordered indexes that the application knows. A store may have some of them.
    public let orderedIndexes: [OrderedIndex]
    /// Describes an ordered index that is not among ``orderedIndexes``, by its name; `nil` for names that stand for none.
    /// Such an index is kept up to date in a store that has it.
    public let otherOrderedIndex: (@Sendable (String) -> OrderedIndex?)?

    /// Creates a table whose records have one key, or list of keys, for each of `keySpaces`, in this order.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - keySpaces: The key spaces.
    ///   - orderedIndexes: The ordered indexes that the application knows.
    ///   - otherOrderedIndex: Describes an index by a name that the application chose, such as that of a field; see
    ///     ``otherOrderedIndex``.
    public init(
      _ name: String, keySpaces: [KeySpace], orderedIndexes: [OrderedIndex] = [],
      otherOrderedIndex: (@Sendable (String) -> OrderedIndex?)? = nil
    ) {
      precondition(
        Set(orderedIndexes.map(\.name)).count == orderedIndexes.count, "each ordered index of a table has its own name")
      precondition(orderedIndexes.count <= Manifest.orderedIndexLimit, "a table has at most 255 ordered indexes")
      self.name = name
      self.keySpaces = keySpaces
      self.orderedIndexes = orderedIndexes
      self.otherOrderedIndex = otherOrderedIndex
    }

    /// Returns the function that derives the keys of an ordered index; `nil` if the application does not know the index.
    func keyFunction(_ name: String) -> OrderedIndex.KeyFunction? {
      // With fragments or without, the keys of a name are the same.
      (orderedIndexes.first { $0.name == name } ?? otherOrderedIndex?(name))?.addKeys
    }
  }

  /// An index of the rows of a table in the order of keys that the application derives from them. A row has any number
  /// of keys in it.
  ///
  /// The keys are not stored in the records. The application gives them with each row that it puts, and again when the
  /// engine asks for those of a row that it has.
  public struct OrderedIndex: Sendable {
    /// A function that adds the keys of a row. It depends on nothing but the row.
    public typealias KeyFunction = @Sendable (borrowing RecordView, KeyReceiver) throws(StoreError) -> Void
    /// A function that takes one key.
    public typealias KeyReceiver = (RawSpan) -> Void

    /// The name, which is stored in the file. It stands for the way in which keys are derived: when that changes, so
    /// does the name.
    public let name: String
    /// Whether keys can be found by any three bytes of their text, which is what follows their first byte, up to a zero
    /// byte.
    public let hasFragments: Bool
    /// Whether a new generation has the index. If not, it is only kept up to date in a store that has it.
    public let isWanted: Bool
    /// Derives the keys of a row.
    public let addKeys: KeyFunction

    /// Creates the description of an index.
    public init(
      _ name: String, hasFragments: Bool = false, isWanted: Bool = true, addKeys: @escaping KeyFunction
    ) {
      self.name = name
      self.hasFragments = hasFragments
      self.isWanted = isWanted
      self.addKeys = addKeys
    }
  }

  /// The tables, in the order of their indices.
  public let tables: [Table]
  /// The tables that a store may have after these, which transactions add with `Transaction.table(_:)`. A repair needs
  /// them if the file no longer says which tables it has.
  public let optionalTables: [Table]

  /// Creates a schema of at most 240 tables.
  ///
  /// - Parameters:
  ///   - tables: The tables that every store of this kind has.
  ///   - optional: The tables that a store may have after these.
  public init(_ tables: [Table], optional: [Table] = []) {
    precondition(tables.count + optional.count <= ObjectKind.tableLimit, "a store has at most 240 tables")
    self.tables = tables
    optionalTables = optional
  }

  /// An empty manifest with these tables.
  var manifest: Manifest {
    Manifest(tables: tables.map(\.manifest))
  }

  /// An empty manifest of a new generation that takes the place of `old`: its tables and state, with the ordered
  /// indexes that are wanted now. Tables that this schema does not have keep their indexes.
  ///
  /// - Throws: `StoreError.schema` if `old` has other tables.
  func manifest(replacing old: Manifest, path: String) throws(StoreError) -> Manifest {
    var result = try adopt(old.withoutRows, path: path)
    for (index, table) in manifest.tables.enumerated() { result.tables[index].orderedIndexes = table.orderedIndexes }
    return result
  }

  /// Returns the function that derives the keys of an ordered index of a table; `nil` if this schema does not have it.
  func keyFunction(_ table: Int, _ index: Manifest.OrderedIndex) -> OrderedIndex.KeyFunction? {
    guard tables.indices.contains(table) else { return nil }
    return tables[table].keyFunction(index.name)
  }

  /// Returns whether the first tables of `manifest` have the names of these tables.
  func names(_ manifest: Manifest) -> Bool {
    manifest.tables.count >= tables.count && zip(manifest.tables, tables).allSatisfy { $0.name == $1.name }
  }

  /// Checks that `manifest` begins with these tables, and returns it with any missing tables added.
  func adopt(_ manifest: Manifest, path: String) throws(StoreError) -> Manifest {
    var result = manifest
    for (index, table) in self.manifest.tables.enumerated() {
      guard index < result.tables.count else {
        result.tables.append(table)
        continue
      }
      let stored = result.tables[index]
      guard stored.name == table.name else {
        throw .schema(path: path, reason: "table \(index) is \(stored.name), not \(table.name)")
      }
      try tables[index].check(stored, path: path)
    }
    return result
  }
}

extension Schema.Table {
  /// An empty table like this one.
  var manifest: Manifest.Table {
    Manifest.Table(
      name: name,
      keySpaces: keySpaces.map {
        Manifest.KeySpace(
          name: $0.name, isUnique: $0.isUnique, skipsEmptyKeys: $0.skipsEmptyKeys, isList: $0.isList)
      },
      orderedIndexes: orderedIndexes.filter(\.isWanted).map {
        Manifest.OrderedIndex(name: $0.name, hasFragments: $0.hasFragments)
      })
  }

  /// Checks that the `stored` table of this name has the key spaces of this table.
  func check(_ stored: Manifest.Table, path: String) throws(StoreError) {
    guard stored.keySpaces.count == keySpaces.count else {
      throw .schema(
        path: path, reason: "\(name) has \(stored.keySpaces.count) key spaces, not \(keySpaces.count)")
    }
    for (a, b) in zip(stored.keySpaces, keySpaces)
    where a.name != b.name || a.isUnique != b.isUnique || a.skipsEmptyKeys != b.skipsEmptyKeys || a.isList != b.isList {
      throw .schema(path: path, reason: "key space \(a.name) of \(name) differs")
    }
  }
}

/// The identifier of a key space: its table and its position in the table.
public struct KeySpaceID: Hashable, Sendable {
  /// The index of the table in the schema.
  public let table: Int
  /// The index of the key space in its table.
  public let index: Int

  /// Creates the identifier of a key space that must exist in the schema of the store.
  public init(table: Int, index: Int) {
    self.table = table
    self.index = index
  }
}
