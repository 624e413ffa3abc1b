#if PEER_GRDB
import BenchmarkSupport
import Catalog
import CatalogRows
import GRDB

/// GRDB, three ways to read the same file: records in a read each (what its documentation shows first), rows in a read
/// each, and rows of a cached statement inside one read.
final class GRDBPeer: Peer {
  enum Way: String { case records, rows, oneRead }

  let way: Way
  let store = "grdb"
  let limit = 2_000_000

  init(_ way: Way) { self.way = way }

  var name: String {
    switch way {
    case .records: "GRDB, Codable records"
    case .rows: "GRDB, rows"
    case .oneRead: "GRDB, rows in one read"
    }
  }

  var configuration: String {
    switch way {
    case .records:
      "DatabasePool, id as primary key, index on barcode, mapped; a Codable record for each lookup, in a read of its own;"
        + " filled by insert(_:), updated by upsert(_:), synchronous=FULL"
    case .rows: "the same file, Row.fetchOne with a cached statement, in a read of its own"
    case .oneRead: "the same file, Row.fetchOne with a cached statement, all lookups in one read"
    }
  }

  fileprivate static func pool(_ directory: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA mmap_size=2147418112; PRAGMA cache_size=-65536")
    }
    let pool = try DatabasePool(path: "\(directory)/catalog.sqlite", configuration: configuration)
    // A pool sets NORMAL when it turns to WAL, behind what its configuration says: no commit would be synced.
    try pool.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA synchronous=FULL")
      guard try Int.fetchOne(db, sql: "PRAGMA synchronous") == 2 else {
        throw PeerFailure("grdb", "its commits are not synced")
      }
    }
    return pool
  }

  func fill(_ directory: String, _ source: any CatalogueSource) throws {
    let pool = try Self.pool(directory)
    try pool.write { db in
      try GRDBProduct.createTables(db)
      var relation = RelationRow()
      for number in 0..<source.setCount {
        let index = source.set(number)
        for place in 0..<source.componentCount(ofSet: index) {
          source.relation(ofSet: index, place, into: &relation)
          try GRDBRelation(Relation(relation)).insert(db)
        }
      }
      var row = ProductRow()
      for index in 0..<source.productCount {
        source.product(index, revision: 0, into: &row)
        try GRDBProduct(Product(row)).insert(db)
      }
      try db.create(index: "productByBarcode", on: "product", columns: ["barcode"])
      try db.create(index: "relationBySet", on: "relation", columns: ["productId"])
    }
    try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    try pool.close()
  }

  func open(_ directory: String, forUpdates: Bool) throws -> any OpenPeer {
    OpenGRDB(way, try Self.pool(directory))
  }
}

private final class OpenGRDB: OpenPeer {
  private let way: GRDBPeer.Way
  private let pool: DatabasePool

  init(_ way: GRDBPeer.Way, _ pool: DatabasePool) {
    self.way = way
    self.pool = pool
  }

  func session() -> any PeerSession { GRDBSession(way, pool) }

  func update(_ rows: IncrementPlan.Rows) throws {
    try pool.write { db in
      for row in rows.products {
        if row.delFlag != 0 {
          _ = try GRDBProduct.deleteOne(db, key: row[.id])
        } else {
          try GRDBProduct(Product(row)).upsert(db)
        }
        _ = try GRDBRelation.filter(Column("productId") == row[.id]).deleteAll(db)
      }
      for row in rows.relations { try GRDBRelation(Relation(row)).insert(db) }
    }
  }

  var compaction: (@Sendable () throws -> Void)? {
    let pool = pool
    return { try pool.vacuum() }
  }

  func close() { try? pool.close() }
}

private final class GRDBSession: PeerSession {
  private let way: GRDBPeer.Way
  private let pool: DatabasePool
  private static let byBarcode = "SELECT categoryId, name, weight FROM product WHERE barcode = ? LIMIT 1"
  private static let byId = "SELECT categoryId, name, weight FROM product WHERE id = ?"
  private static let relations = "SELECT groupNum FROM relation WHERE productId = ?"

  init(_ way: GRDBPeer.Way, _ pool: DatabasePool) {
    self.way = way
    self.pool = pool
  }

  func has(_ operation: Operation) -> Bool { operation != .batch && (operation != .product || way == .records) }

  func product(_ id: String) throws -> Product? { try record(id)?.product }

  private func record(_ id: String) throws -> GRDBProduct? {
    try pool.read { db in try GRDBProduct.fetchOne(db, key: id) }
  }

  func run(_ operation: Operation, _ keys: KeySet, _ range: Range<Int>) throws -> UInt64 {
    if way == .oneRead {
      return try pool.read { db in
        try sum(keys.texts.texts, range, isDependent: operation == .dependent) { try answer(operation, $0, db) }
      }
    }
    return try sum(keys.texts.texts, range, isDependent: operation == .dependent) { key in
      try pool.read { db in
        try way == .records ? recordAnswer(operation, key, db) : answer(operation, key, db)
      }
    }
  }

  private func sum(
    _ keys: [String], _ range: Range<Int>, isDependent: Bool, _ lookup: (String) throws -> UInt64
  ) throws -> UInt64 {
    var sum: UInt64 = 0
    var next = range.lowerBound
    for _ in range {
      let found = try lookup(keys[next])
      sum &+= found
      next += isDependent ? 1 + Int(found >> 63) : 1
    }
    return sum
  }

  private func answer(_ operation: Operation, _ key: String, _ db: Database) throws -> UInt64 {
    if operation == .relations {
      let statement = try db.cachedStatement(sql: Self.relations)
      return try Int64.fetchAll(statement, arguments: [key]).reduce(0) { $0 &+ UInt64(bitPattern: $1) }
    }
    let statement = try db.cachedStatement(sql: operation == .byId ? Self.byId : Self.byBarcode)
    guard let row = try Row.fetchOne(statement, arguments: [key]) else { return 0 }
    let categoryId: Int64 = row[0]
    let name: String = row[1]
    let weight: Double = row[2]
    return UInt64(bitPattern: categoryId) &+ UInt64(name.utf8.count) &+ weight.bitPattern
  }

  private func recordAnswer(_ operation: Operation, _ key: String, _ db: Database) throws -> UInt64 {
    switch operation {
    case .relations:
      return try GRDBRelation.filter(Column("productId") == key).fetchAll(db)
        .reduce(0) { $0 &+ UInt64(bitPattern: $1.groupNum) }
    case .byId, .product: return try GRDBProduct.fetchOne(db, key: key)?.touch ?? 0
    default: return try GRDBProduct.filter(Column("barcode") == key).fetchOne(db)?.touch ?? 0
    }
  }
}
#endif
