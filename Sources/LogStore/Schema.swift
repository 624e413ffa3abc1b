import RecordFormat

/// The tables of a store. Tables and key spaces are known by their position, which never changes once written;
/// new ones are added at the end.
public struct Schema: Sendable {
  public struct KeySpace: Sendable {
    public let name: String
    /// At most one live row per key: putting a row replaces the one that has its key.
    public let isUnique: Bool
    /// A row with an empty key is not found through this key space.
    public let skipsEmptyKeys: Bool

    public init(_ name: String, isUnique: Bool = false, skipsEmptyKeys: Bool = false) {
      self.name = name
      self.isUnique = isUnique
      self.skipsEmptyKeys = skipsEmptyKeys
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
    Manifest(
      tables: tables.map { table in
        Manifest.Table(
          name: table.name,
          keySpaces: table.keySpaces.map {
            Manifest.KeySpace(name: $0.name, isUnique: $0.isUnique, skipsEmptyKeys: $0.skipsEmptyKeys)
          })
      })
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
      guard stored.keySpaces.count == table.keySpaces.count else {
        throw .schema(
          path: path,
          reason: "\(table.name) has \(stored.keySpaces.count) key spaces, not \(table.keySpaces.count)")
      }
      for (a, b) in zip(stored.keySpaces, table.keySpaces)
      where a.name != b.name || a.isUnique != b.isUnique || a.skipsEmptyKeys != b.skipsEmptyKeys {
        throw .schema(path: path, reason: "key space \(a.name) of \(table.name) differs")
      }
    }
    return result
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
