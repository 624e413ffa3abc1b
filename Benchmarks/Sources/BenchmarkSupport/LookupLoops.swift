import Catalog
import LogStore

/// The timed loops. Each returns the sum of its answers; a key that gave none adds nothing.
package enum LookupLoops {
  // MARK: Three fields of a view

  @inline(never)
  package static func byBarcode(
    _ snapshot: CatalogSnapshot, _ keys: borrowing KeyList, _ range: Range<Int>
  ) throws -> UInt64 {
    try independent(keys, range) { (key) throws(StoreError) in
      try snapshot.withProduct(barcode: key) { (view) throws(StoreError) in Touch.of(view) }
    }
  }

  @inline(never)
  package static func byBarcodeDependent(
    _ snapshot: CatalogSnapshot, _ keys: borrowing KeyList, _ range: Range<Int>
  ) throws -> UInt64 {
    try dependent(keys, range) { (key) throws(StoreError) in
      try snapshot.withProduct(barcode: key) { (view) throws(StoreError) in Touch.of(view) }
    }
  }

  @inline(never)
  package static func byId(
    _ snapshot: CatalogSnapshot, _ keys: borrowing KeyList, _ range: Range<Int>
  ) throws -> UInt64 {
    try independent(keys, range) { (key) throws(StoreError) in
      try snapshot.withProduct(id: key) { (view) throws(StoreError) in Touch.of(view) }
    }
  }

  @inline(never)
  package static func byIdDependent(
    _ snapshot: CatalogSnapshot, _ keys: borrowing KeyList, _ range: Range<Int>
  ) throws -> UInt64 {
    try dependent(keys, range) { (key) throws(StoreError) in
      try snapshot.withProduct(id: key) { (view) throws(StoreError) in Touch.of(view) }
    }
  }

  @inline(never)
  package static func byCode(
    _ snapshot: CatalogSnapshot, _ keys: borrowing KeyList, _ range: Range<Int>
  ) throws -> UInt64 {
    try independent(keys, range) { (key) throws(StoreError) in
      try snapshot.withProduct(code: key) { (view, _) throws(StoreError) in Touch.of(view) }
    }
  }

  /// Pieces of all components of each set.
  @inline(never)
  package static func relations(
    _ snapshot: CatalogSnapshot, _ keys: borrowing KeyList, _ range: Range<Int>
  ) throws -> UInt64 {
    try independent(keys, range) { (key) throws(StoreError) in
      var sum: UInt64 = 0
      try snapshot.forEachRelation(ofSet: key) { (view) throws(StoreError) in
        sum &+= UInt64(bitPattern: view.groupNum)
        return true
      }
      return sum
    }
  }

  /// As ``byBarcode(_:_:_:)``, in batches of 256; filling a batch is part of the time.
  @inline(never)
  package static func byBarcodeInBatches(
    _ snapshot: CatalogSnapshot, _ keys: borrowing KeyList, _ range: Range<Int>
  ) throws -> UInt64 {
    var sum: UInt64 = 0
    var batch = BarcodeBatch()
    for index in range {
      try keys.withKey(index) { (key) throws(StoreError) in batch.append(key) }
      if batch.count < 256, index + 1 < range.upperBound { continue }
      try snapshot.forEachProduct(barcodes: batch) { (_, view) throws(StoreError) in sum &+= Touch.of(view) }
      batch.removeAll()
    }
    return sum
  }

  @inline(__always)
  private static func independent(
    _ keys: borrowing KeyList, _ range: Range<Int>, _ lookup: (Span<UInt8>) throws(StoreError) -> UInt64?
  ) throws(StoreError) -> UInt64 {
    var sum: UInt64 = 0
    for index in range { sum &+= try keys.withKey(index, lookup) ?? 0 }
    return sum
  }

  /// Which key comes next depends on the answer to the last one.
  @inline(__always)
  private static func dependent(
    _ keys: borrowing KeyList, _ range: Range<Int>, _ lookup: (Span<UInt8>) throws(StoreError) -> UInt64?
  ) throws(StoreError) -> UInt64 {
    var sum: UInt64 = 0
    var next = range.lowerBound
    for _ in range {
      let found = try keys.withKey(next, lookup) ?? 0
      sum &+= found
      // The highest bit of an answer is never set, which only the data knows.
      next += 1 + Int(found >> 63)
    }
    return sum
  }

  // MARK: Values

  @inline(never)
  package static func products(_ snapshot: CatalogSnapshot, _ keys: TextKeys, _ range: Range<Int>) throws -> UInt64 {
    try values(keys, range) { (id) throws(StoreError) in try snapshot.product(id: id).map(Touch.of) ?? 0 }
  }

  @inline(never)
  package static func productsByBarcode(
    _ snapshot: CatalogSnapshot, _ keys: TextKeys, _ range: Range<Int>
  ) throws -> UInt64 {
    try values(keys, range) { (barcode) throws(StoreError) in sum(try snapshot.products(barcode: barcode)) }
  }

  @inline(never)
  package static func relations(_ snapshot: CatalogSnapshot, _ keys: TextKeys, _ range: Range<Int>) throws -> UInt64 {
    try values(keys, range) { (id) throws(StoreError) in
      var sum: UInt64 = 0
      for relation in try snapshot.relations(ofSet: id) { sum &+= UInt64(relation.groupNum) }
      return sum
    }
  }

  /// Scans that have to match in one way; another way adds nothing.
  @inline(never)
  package static func matches(
    _ snapshot: CatalogSnapshot, _ keys: TextKeys, _ kind: MatchKind, _ range: Range<Int>
  ) throws -> UInt64 {
    try values(keys, range) { (scan) throws(StoreError) in
      let match = try snapshot.match(scan)
      return match.kind == kind ? sum(match.products) : 0
    }
  }

  @inline(__always)
  private static func values(
    _ keys: TextKeys, _ range: Range<Int>, _ lookup: (String) throws(StoreError) -> UInt64
  ) throws(StoreError) -> UInt64 {
    var sum: UInt64 = 0
    for index in range { sum &+= try lookup(keys.texts[index]) }
    return sum
  }

  @inline(__always)
  private static func sum(_ products: [Product]) -> UInt64 {
    var sum: UInt64 = 0
    for product in products { sum &+= Touch.of(product) }
    return sum
  }
}
