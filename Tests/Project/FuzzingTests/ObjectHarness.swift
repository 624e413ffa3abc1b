import Bytes
import LogStore
import RecordFormat
import StoreTestSupport
@testable import Catalog

/// Any bytes as an object or a bucket of a log in which everything else is right, its own checksum too.
///
/// First byte: the place, which a lookup leads to; second: the object's kind; then its bytes behind the header.
@Sendable func fuzzObjects(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let isCatalogue = choice & 1 != 0
  let host = isCatalogue ? ObjectHost.catalogue : ObjectHost.items
  let log =
    choice & 2 == 0
    ? host.withObject(kind: input.byte(), Array(input.rest))
    : host.withBucket(input.number(below: 1 << 16), Array(input.rest))
  if isCatalogue {
    let location = LogSample.location(LogSample.device(log))
    attempt {
      guard let reader = try CatalogReader.open(location) else { return }
      let catalogue = try reader.snapshot()
      attempt { _ = try catalogue.product(id: ObjectHost.key) }
      attempt { _ = try catalogue.products(barcode: ObjectHost.key) }
      attempt { _ = try CatalogDigest(catalogue) }
      attempt { _ = try catalogue.components(of: ObjectHost.key) }
    }
  } else {
    exercise(log, choice >> 4 & 3)
  }
}

/// A log with a record that has room for any object in its place.
private struct ObjectHost {
  static let key = "key"
  private static let room = 1024

  let sample: LogSample
  /// Where the record stands, and all bytes up to the next object.
  let offset: Int
  let buckets: [Int]

  static let items = ObjectHost { location in
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    defer { writer.close() }
    _ = try writer.commit { transaction in
      for id in 0..<6 { try transaction.put("\(id)", key, shared: ["brand"]) }
      try transaction.put(1, TestRow(key, "to", shared: ["text"]))
      try transaction.put(key, key, body: String(repeating: "x", count: room))
      try transaction.put("0", "dead")
    }
  }

  static let catalogue = ObjectHost { location in
    let writer = try CatalogWriter(location)
    defer { writer.close() }
    var update = try writer.beginFullUpdate()
    var product = Product()
    product.id = key
    product.barcode = key
    product.brand = "Gree"
    product.name = String(repeating: "x", count: room)
    var other = Relation()
    other.productId = key
    other.subProductId = key
    try update.take([product], [other])
    _ = try update.commit(cursor: "")
  }

  private init(_ fill: (StoreLocation) throws -> Void) {
    let device = SimulatedDevice()
    let name = LogSample.name
    do {
      try fill(StoreLocation(device.directory, name: name, environment: FixedEnvironment().environment()))
      sample = try LogSample(device.contents(name + ".log") ?? [])
    } catch { fatalError("the log cannot be written: \(error)") }
    offset = sample.structures.filter { $0.kind == .object && $0.byteCount > Self.room }[0].offset
    buckets = sample.structures.filter { $0.kind == .bucket }.map(\.offset)
  }

  /// The log with an object of this kind in the record's place, and one that nobody names in the rest of the room.
  func withObject(kind: UInt8, _ contents: [UInt8]) -> [UInt8] {
    var log = sample.bytes
    let length = ObjectHeader.byteCount + contents.count
    let old = ObjectHeader.padded(ObjectHeader.length(log.rawSpan.u32(at: offset + 4)))
    let new = ObjectHeader.padded(length)
    guard new <= old else { return log }
    log.replaceSubrange(offset..<(offset + old), with: repeatElement(0, count: old))
    log.replaceSubrange((offset + ObjectHeader.byteCount)..<(offset + length), with: contents)
    // Kinds that the format knows more often than others.
    let known: [UInt8] = [0, 1, 240, 241, 242, kind]
    seal(&log, at: offset, length, known[Int(kind) % known.count])
    if old > new { seal(&log, at: offset + new, old - new, ObjectKind.sharedString.rawValue) }
    fixSegment(&log)
    return log
  }

  private func seal(_ log: inout [UInt8], at offset: Int, _ length: Int, _ kind: UInt8) {
    log.store(UInt32(length) | UInt32(kind) << 24, at: offset + 4)
    let salt = Checksum.salt(UnitOffset(byteOffset: offset))
    log.storeChecksum(of: offset + 4, length - 4, salt: salt, at: offset)
  }

  /// The log with other bytes in one of its buckets.
  func withBucket(_ number: Int, _ contents: [UInt8]) -> [UInt8] {
    var log = sample.bytes
    let bucket = buckets[number % buckets.count]
    for (index, byte) in contents.prefix(60).enumerated() { log[bucket + 4 + index] = byte }
    let salt = Checksum.salt(UnitOffset(byteOffset: bucket))
    log.storeChecksum(of: bucket + 4, 60, salt: salt, at: bucket)
    fixSegment(&log)
    return log
  }

  /// The checksum of the one segment, and what leads to its footer.
  private func fixSegment(_ log: inout [UInt8]) {
    let segment = sample.segments[0]
    log.storeChecksum(of: segment.start + 64, segment.manifest - segment.start - 64, at: segment.footer + 96)
    log.storeChecksum(of: segment.footer, 124, at: segment.footer + 124)
    let slot = AcknowledgementSlot.offsets[0]
    let chain = log.rawSpan.u32(at: segment.footer + 124)
    log.store(chain, at: slot + 56)
    log.storeChecksum(of: slot, 4092, at: slot + 4092)
  }
}
