import Bytes
import RecordFormat

/// The tables of a store. Tables and key spaces are known by their position, which never changes once written;
/// new ones are added at the end.
public struct Schema: Sendable {
  /// Bytes of the longest key of a record.
  public static var maximumKeyLength: Int { RecordLayout.maximumKeyLength }

  public struct KeySpace: Sendable {
    public let name: String
    /// At most one live row per key: putting a row replaces the one that has its key.
    public let isUnique: Bool
    /// A row with an empty key is not found through this key space.
    public let skipsEmptyKeys: Bool

    /// A record has any number of keys here, each up to 255 bytes: its draft says them with `RecordDraft.addKeys`.
    public let isList: Bool

    /// - Parameters:
    ///   - name: what tells it from the other key spaces of its table.
    ///   - isUnique: as ``isUnique``.
    ///   - skipsEmptyKeys: as ``skipsEmptyKeys``.
    ///   - isList: not together with one of the others, which would be the caller's mistake.
    public init(_ name: String, isUnique: Bool = false, skipsEmptyKeys: Bool = false, isList: Bool = false) {
      precondition(!isList || !isUnique && !skipsEmptyKeys, "keys of a list are neither unique nor skipped")
      self.name = name
      self.isUnique = isUnique
      self.skipsEmptyKeys = skipsEmptyKeys
      self.isList = isList
    }
  }

  public struct Table: Sendable {
    public let name: String
    public let keySpaces: [KeySpace]

    /// A table whose records carry one key for each of `keySpaces`, in this order.
    public init(_ name: String, keySpaces: [KeySpace]) {
      self.name = name
      self.keySpaces = keySpaces
    }
  }

  public let tables: [Table]

  public init(_ tables: [Table]) {
    precondition(tables.count <= ObjectKind.tableLimit, "a store has at most 240 tables")
    self.tables = tables
  }

  /// An empty manifest with these tables.
  var manifest: Manifest {
    Manifest(tables: tables.map(\.manifest))
  }

  /// Whether the tables of `manifest` begin with ones that have these names.
  func names(_ manifest: Manifest) -> Bool {
    manifest.tables.count >= tables.count && zip(manifest.tables, tables).allSatisfy { $0.name == $1.name }
  }

  /// Checks that `manifest` begins with these tables, and adds those that it lacks.
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
      })
  }

  /// Checks that the `stored` table of this name has these key spaces.
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

/// A key space by table and position.
public struct KeySpaceID: Hashable, Sendable {
  public let table: Int
  public let index: Int

  public init(table: Int, index: Int) {
    self.table = table
    self.index = index
  }
}
