import Bytes
import DocumentFormat
import Documents
import LogStore
import RecordFormat
import StoreTestSupport
@testable import Catalog

/// A small valid log, and where its structures stand: what the inputs of the log harnesses are edits of.
struct LogSample: Sendable {
  /// What a checksum covers.
  enum Kind: Sendable {
    case header, slot, segmentHeader, object, blockHeader, bucket, manifest, footer
    /// A page of an ordered block, whose block header is as long as any.
    case page
  }

  struct Structure: Sendable {
    var kind: Kind
    var offset: Int
    var byteCount: Int
  }

  struct Segment: Sendable {
    var start: Int
    var manifest: Int
    var footer: Int
  }

  let bytes: [UInt8]
  private(set) var structures: [Structure] = []
  private(set) var segments: [Segment] = []

  init(_ bytes: [UInt8]) throws {
    self.bytes = bytes
    structures.append(Structure(kind: .header, offset: 0, byteCount: FileHeader.byteCount))
    for slot in AcknowledgementSlot.offsets {
      structures.append(Structure(kind: .slot, offset: slot, byteCount: AcknowledgementSlot.byteCount))
    }
    var start = SegmentHeader.firstOffset
    while start < bytes.count { start = try findStructures(ofSegmentAt: start) }
  }

  private mutating func add(_ kind: Kind, _ offset: Int, _ byteCount: Int) {
    structures.append(Structure(kind: kind, offset: offset, byteCount: byteCount))
  }

  private mutating func findStructures(ofSegmentAt start: Int) throws -> Int {
    let header = try SegmentHeader(bytes.rawSpan.slice(start, SegmentHeader.byteCount))
    let footerOffset = start + Int(header.length) - SegmentFooter.byteCount
    let footer = try SegmentFooter(bytes.rawSpan.slice(footerOffset, SegmentFooter.byteCount))
    let manifest = try Manifest(bytes.rawSpan.slice(Int(footer.manifestOffset), Int(footer.manifestLength)))
    add(.segmentHeader, start, SegmentHeader.byteCount)
    var offset = start + SegmentHeader.byteCount
    while offset < Int(footer.objectEnd) {
      let length = ObjectHeader.length(bytes.rawSpan.u32(at: offset + 4))
      add(.object, offset, length)
      offset += ObjectHeader.padded(length)
    }
    let blocks = manifest.deadBlocks + manifest.tables.flatMap { $0.keySpaces.flatMap(\.blocks) }
    for block in blocks where Int(block.offset) > start {
      add(.blockHeader, Int(block.offset), BlockHeader.byteCount)
      for bucket in 0..<Int(block.bucketCount) {
        add(.bucket, Int(block.offset) + BlockHeader.byteCount + bucket * Bucket.byteCount, Bucket.byteCount)
      }
    }
    for block in manifest.tables.flatMap({ $0.orderedIndexes.flatMap(\.blocks) }) where Int(block.offset) > start {
      let offset = Int(block.offset)
      let header = try OrderedBlockHeader(
        bytes.rawSpan.slice(offset, OrderedBlockHeader.byteCount), at: UnitOffset(byteOffset: offset))
      add(.blockHeader, offset, OrderedBlockHeader.byteCount)
      for tree in [header.mainTree, header.fragmentTree].compactMap({ $0 }) {
        for number in 0..<tree.pageCount {
          let page = tree.page(number)
          add(.page, offset + page.start, page.byteCount)
        }
      }
    }
    add(.manifest, Int(footer.manifestOffset), Int(footer.manifestLength))
    add(.footer, footerOffset, SegmentFooter.byteCount)
    segments.append(Segment(start: start, manifest: Int(footer.manifestOffset), footer: footerOffset))
    return start + Int(header.length)
  }
}

extension LogSample {
  /// Where the log of a sample stands on its device.
  static let name = "s"

  static func location(_ device: SimulatedDevice) -> StoreLocation {
    StoreLocation(device.directory, name: name, environment: FixedEnvironment(seed: 2).environment())
  }

  /// The device on which a log is all there is.
  static func device(_ log: [UInt8]) -> SimulatedDevice {
    let device = SimulatedDevice()
    device.place(log, as: name + ".log")
    return device
  }

  /// The same, opened with the key of sealed logs. A clear log is refused.
  static func sealedLocation(_ device: SimulatedDevice) -> StoreLocation {
    var location = location(device).opening(with: testKey, sealsNew: true)
    location.keys.refuseClear = true
    return location
  }

  /// Two tables, three commits: shared strings, posting lists, dead rows, tombstones, blocks in base and tail.
  static let items: LogSample = sample(fillItems)

  /// The same, sealed.
  static let sealed: LogSample = sample { location in
    try fillItems(location.opening(with: testKey, sealsNew: true))
  }

  /// The rows that the samples of items ever had and that the harnesses put, by table.
  static let sealedRows: [Set<TestRow>] = [
    Set(
      (0..<8).map { TestRow("\($0)", "code", shared: ["brand"], body: "body") }
        + (0..<4).map { TestRow("\($0)", "code") } + [TestRow("0", "lost"), TestRow("1", "code", body: "new")]),
    [TestRow("from", "to", shared: ["text"]), TestRow("x", "to")],
  ]

  /// The states that they had.
  static let sealedStates: Set<[UInt8]> = [[], [1, 2, 3]]

  private static func fillItems(_ location: StoreLocation) throws {
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    defer { writer.close() }
    _ = try writer.commit { transaction in
      for id in 0..<8 { try transaction.put("\(id)", "code", shared: ["brand"], body: "body") }
      try transaction.put("0", "lost")
      try transaction.put(1, TestRow("from", "to", shared: ["text"]))
    }
    _ = try writer.commit { transaction in
      try transaction.put("1", "code", body: "new")
      try transaction.delete(TestSchema.id, "2")
      transaction.state = [1, 2, 3]
    }
    _ = try writer.commit { try $0.put(1, TestRow("x", "to")) }
  }

  /// A catalogue: products with every form of every field, sets with components, two commits.
  static let catalogue: LogSample = sample { location in
    let writer = try CatalogWriter(location)
    defer { writer.close() }
    var update = try writer.beginFullUpdate()
    try update.take((0..<4).map { product("p\($0)", $0) }, [relation("p0", "p1"), relation("p0", "gone")])
    _ = try update.commit(cursor: "2023-05-13 10:00:00")
    var increment = writer.beginIncrement()
    try increment.take([product("p1", 7), product("p9", 9)], [relation("p9", "p1")])
    _ = try increment.commit(cursor: "2023-05-14 10:00:00")
  }

  /// Fields of one's own with an index of each kind: orders by each type, codes, and words of a search.
  static let declared: DeclaredFields = {
    let json = #"""
      {"price": {"type": "decimal", "order": true}, "stock": {"type": "int", "order": true},
       "arrival": {"type": "date", "order": true}, "gone": {"type": "bool", "order": true},
       "carton": {"role": "code", "quantity": 12, "unit": "case"}, "color": {"search": true, "order": true}}
      """#
    do { return try DeclaredFields(json: Array(json.utf8)) } catch { fatalError("the fields are refused: \(error)") }
  }()

  static var indexes: CatalogIndexes {
    var indexes = CatalogIndexes.standard
    indexes.fields = declared
    return indexes
  }

  /// A catalogue with further codes and declared fields, two commits.
  static let codes: LogSample = sample { location in
    let writer = try CatalogWriter(location, indexes: indexes)
    defer { writer.close() }
    var update = try writer.beginFullUpdate()
    try update.take(
      try (0..<4).map { try own(product("p\($0)", $0), $0) }, [relation("p0", "p1")],
      [code("p0", "15296849399418"), code("p0", "C-1"), code("p1", "C-1"), code("gone", "7")])
    _ = try update.commit(cursor: "2023-05-13 10:00:00")
    var increment = writer.beginIncrement()
    try increment.take([try own(product("p1", 7), 5), product("p9", 9)], [], [code("p1", "C-2")])
    _ = try increment.commit(cursor: "2023-05-14 10:00:00")
  }

  /// A product with fields of its own.
  private static func own(_ product: Product, _ number: Int) throws -> Product {
    var product = product
    product.extra = try ProductExtra(
      json: #"""
        {"price":"\#(number).50","stock":\#(number),"arrival":"2026-01-3\#(number % 2)","gone":\#(number % 2 == 0),
         "carton":["7\#(number)","case-\#(number)"],"color":"dark red \#(number)"}
        """#)
    return product
  }

  private static func code(_ product: String, _ code: String) -> ProductCode {
    var row = ProductCode()
    row.id = "c"
    row.productId = product
    row.code = code
    row.unit = "case"
    return row
  }

  /// Documents in two collections, of which one has indexes of each kind, and some are replaced and deleted.
  static let documents: LogSample = sample { location in
    let store = try DocumentStore.open(location, schemaVersion: 1)
    let members = try store.untypedCollection("members")
    try members.declare([
      IndexDescription(FieldPath(parsing: "user.name"), hasPrefixes: true),
      IndexDescription(FieldPath(parsing: "tags")),
    ])
    let values = try (0..<5).map { number in
      try DocumentValue(
        json: #"{"id":\#(number),"user":{"name":"name \#(number % 2)","age":\#(number)},"tags":["x","y\#(number)"]}"#)
    }
    try members.put(contentsOf: values.map { try members.encode($0) })
    try members.put(DocumentValue(json: #"{"id":1,"user":{"name":"another"},"tags":[]}"#))
    try members.delete(.integer(2))
    try store.untypedCollection("others").put(DocumentValue(json: #"{"id":"a","n":[[1.5],null,true]}"#))
  }

  private static func sample(_ fill: (StoreLocation) throws -> Void) -> LogSample {
    let device = SimulatedDevice()
    let location = StoreLocation(device.directory, name: name, environment: FixedEnvironment().environment())
    do {
      try fill(location)
      return try LogSample(device.contents(name + ".log") ?? [])
    } catch { fatalError("the sample cannot be written: \(error)") }
  }

  private static func product(_ id: String, _ number: Int) -> Product {
    var product = Product()
    product.id = id
    product.barcode = ["5296849399411", " x-1 ", "", "Ab"][number % 4]
    product.brand = "Gree"
    product.unit = number % 2 == 0 ? "pc" : ""
    product.createTime = number % 2 == 0 ? "2023-05-13 10:00:00" : "yesterday"
    product.updateTime = number % 3 == 0 ? "2023-05-13 10:00:00" : "today"
    product.name = "name \(number)"
    product.skuCode = "sku"
    product.weight = number % 2 == 0 ? 0.35 : 1 / 3
    product.length = 845
    product.categoryId = number % 2 == 0 ? 7 : 1 << 40
    product.groupNum = Int64(number)
    product.delFlag = number == 3 ? 1 : 0
    product.isSaleProduct = true
    return product
  }

  private static func relation(_ set: String, _ component: String) -> Relation {
    var relation = Relation()
    relation.id = "r"
    relation.productId = set
    relation.subProductId = component
    relation.orgId = "org"
    relation.groupNum = 2
    return relation
  }
}
