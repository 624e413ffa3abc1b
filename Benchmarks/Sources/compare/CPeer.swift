import BenchmarkSupport
import CPeers
import Catalog
import CatalogRows

/// A store behind the C interface of `peers.h`.
@safe
final class CPeer: Peer {
  /// A constant of the library, which any thread may read.
  nonisolated(unsafe) fileprivate let api: UnsafePointer<peer_api>

  private init(_ api: UnsafePointer<peer_api>) { unsafe self.api = api }

  /// The stores that this program was built with.
  static var all: [CPeer] {
    var peers: [CPeer] = []
    // The list is a constant that ends with null.
    guard var next = unsafe peer_list() else { return [] }
    while let api = unsafe next.pointee {
      peers.append(unsafe CPeer(api))
      unsafe next += 1
    }
    return peers
  }

  // All texts are constants.
  var name: String { unsafe String(cString: api.pointee.name) }
  var store: String { unsafe String(cString: api.pointee.store) }
  var configuration: String { unsafe String(cString: api.pointee.configuration) }
  var canBeUpdated: Bool { unsafe api.pointee.begin != nil }
  var limit: Int { unsafe api.pointee.limit == 0 ? .max : api.pointee.limit }

  fileprivate func failure() -> PeerFailure {
    // The text stays until the next failure on this thread.
    unsafe PeerFailure(name, peer_message().map { unsafe String(cString: $0) } ?? "failed")
  }

  fileprivate func check(_ code: Int32) throws { if code < 0 { throw failure() } }

  // MARK: Filling

  func fill(_ directory: String, _ source: any CatalogueSource) throws {
    guard let filling = unsafe api.pointee.create(directory, source.productCount) else { throw failure() }
    var bytes: [UInt8] = []
    var relation = RelationRow()
    for number in 0..<source.setCount {
      let index = source.set(number)
      bytes.removeAll(keepingCapacity: true)
      for place in 0..<source.componentCount(ofSet: index) {
        source.relation(ofSet: index, place, into: &relation)
        PeerRecord.append(relation, to: &bytes)
      }
      var id: [UInt8] = []
      source.putId(index, &id)
      // Both arrays are alive during the call, as in those below.
      try check(unsafe api.pointee.put_relations(filling, id, id.count, bytes, bytes.count))
    }
    var row = ProductRow()
    for index in 0..<source.productCount {
      source.product(index, revision: 0, into: &row)
      bytes.removeAll(keepingCapacity: true)
      PeerRecord.append(row, to: &bytes)
      let isShared: Int32 = source.sharesBarcode(index) ? 1 : 0
      try check(unsafe api.pointee.put_product(filling, bytes, bytes.count, isShared))
    }
    try check(unsafe api.pointee.finish(filling))
  }

  func open(_ directory: String, forUpdates: Bool) throws -> any OpenPeer {
    guard let handle = unsafe api.pointee.open(directory, forUpdates ? 1 : 0) else { throw failure() }
    return unsafe OpenCPeer(self, handle, directory)
  }
}

@safe
private final class OpenCPeer: OpenPeer {
  private let peer: CPeer
  private let handle: UnsafeMutableRawPointer
  private let directory: String

  init(_ peer: CPeer, _ handle: UnsafeMutableRawPointer, _ directory: String) {
    self.peer = peer
    unsafe self.handle = handle
    self.directory = directory
  }

  func close() { unsafe peer.api.pointee.close(handle) }

  func session() throws -> any PeerSession {
    guard let session = unsafe peer.api.pointee.begin_session(handle) else { throw peer.failure() }
    return unsafe CPeerSession(peer, session)
  }

  func update(_ rows: IncrementPlan.Rows) throws {
    // The arrays are alive during the calls; the handle is open.
    let api = unsafe peer.api.pointee
    try peer.check(unsafe api.begin(handle))
    var bytes: [UInt8] = []
    // The relations of a set follow each other in the order of the products.
    var nextRelation = 0
    var id: [UInt8] = []
    for row in rows.products {
      row.texts.copy(ProductText.id.rawValue, to: &id)
      if row.delFlag != 0 {
        try peer.check(unsafe api.erase(handle, id, id.count))
        continue
      }
      bytes.removeAll(keepingCapacity: true)
      PeerRecord.append(row, to: &bytes)
      try peer.check(unsafe api.upsert(handle, bytes, bytes.count))
      bytes.removeAll(keepingCapacity: true)
      while nextRelation < rows.relations.count,
        rows.relations[nextRelation].texts.holds(id, at: RelationText.productId.rawValue)
      {
        PeerRecord.append(rows.relations[nextRelation], to: &bytes)
        nextRelation += 1
      }
      try peer.check(unsafe api.replace_relations(handle, id, id.count, bytes, bytes.count))
    }
    try peer.check(unsafe api.commit(handle))
    guard nextRelation == rows.relations.count else { throw WrongAnswer("relations without their product") }
  }

  var compaction: (@Sendable () throws -> Void)? {
    guard unsafe peer.api.pointee.compact != nil else { return nil }
    // The caller waits for the end before it closes the store, and writes nothing meanwhile.
    nonisolated(unsafe) let handle = unsafe self.handle
    let peer = peer
    let directory = directory
    return { try peer.check(unsafe peer.api.pointee.compact(handle, directory)) }
  }
}

/// Used by one thread at a time.
@safe
private final class CPeerSession: PeerSession, @unchecked Sendable {
  private let peer: CPeer
  private let handle: UnsafeMutableRawPointer

  init(_ peer: CPeer, _ handle: UnsafeMutableRawPointer) {
    self.peer = peer
    unsafe self.handle = handle
  }

  deinit { unsafe peer.api.pointee.end_session(handle) }

  func has(_ operation: Operation) -> Bool {
    if operation == .product { return true }
    return unsafe peer.api.pointee.has(Self.code(operation)) != 0
  }

  private static func code(_ operation: Operation) -> peer_operation {
    switch operation {
    case .hit, .miss: PEER_HITS
    case .dependent: PEER_DEPENDENT
    case .byId: PEER_BY_ID
    case .relations: PEER_RELATIONS
    case .batch: PEER_BATCH
    case .product: preconditionFailure("values are made by Swift")
    }
  }

  func run(_ operation: Operation, _ keys: KeySet, _ range: Range<Int>) throws -> UInt64 {
    if operation == .product { return try products(keys, range) }
    var sum: UInt64 = 0
    // The arrays are alive inside the closures, which is where the call is.
    try unsafe keys.bytes.bytes.withUnsafeBufferPointer { bytes in
      try unsafe keys.bytes.byteCounts.withUnsafeBufferPointer { counts in
        var list = unsafe peer_keys(bytes: bytes.baseAddress, byte_counts: counts.baseAddress, stride: KeyList.stride)
        let code = unsafe peer.api.pointee.lookups(
          handle, Self.code(operation), &list, range.lowerBound, range.count, &sum)
        try peer.check(code)
      }
    }
    return sum
  }

  private func products(_ keys: KeySet, _ range: Range<Int>) throws -> UInt64 {
    var sum: UInt64 = 0
    for index in range { if let product = try product(keys.texts.texts[index]) { sum &+= Touch.of(product) } }
    return sum
  }

  func product(_ id: String) throws -> Product? {
    var id = id
    var fields = peer_fields()
    // The texts are lent until the next call on this session, and are copied before.
    let code = id.withUTF8 { unsafe peer.api.pointee.fields(handle, $0.baseAddress, $0.count, &fields) }
    try peer.check(code)
    return code == 0 ? nil : Product(fields)
  }
}

extension Product {
  /// Copies the fields that a store lends.
  fileprivate init(_ fields: peer_fields) {
    self.init()
    var fields = fields
    func text(_ place: Int32) -> String {
      var count: UInt32 = 0
      // The store vouches for so many bytes at that place.
      let start = unsafe peer_text(&fields, place, &count)
      return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }
    barcode = text(0)
    id = text(1)
    name = text(2)
    brand = text(3)
    brandId = text(4)
    category = text(5)
    createBy = text(6)
    createTime = text(7)
    orgId = text(8)
    skuCode = text(9)
    unit = text(10)
    updateBy = text(11)
    updateTime = text(12)
    categoryId = fields.category_id
    groupNum = fields.group_num
    delFlag = fields.del_flag
    length = fields.length
    tall = fields.tall
    volume = fields.volume
    weight = fields.weight
    wide = fields.wide
    isGreeProduct = fields.flags & 1 != 0
    isGroupedProduct = fields.flags & 2 != 0
    isSaleProduct = fields.flags & 4 != 0
    isMarketingProduct = fields.flags & 8 != 0
  }
}

extension TextRow {
  /// Puts the bytes of a text in the place of those in `bytes`.
  fileprivate func copy(_ index: Int, to bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    // The buffer is used inside the call only.
    withText(index) { text in unsafe text.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) } }
  }

  /// Whether a text has these bytes.
  fileprivate func holds(_ bytes: [UInt8], at index: Int) -> Bool {
    withText(index) { text in
      guard text.count == bytes.count else { return false }
      for place in text.indices where text[place] != bytes[place] { return false }
      return true
    }
  }
}
