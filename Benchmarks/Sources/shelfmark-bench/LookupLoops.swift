import Catalog
import Dispatch
import LogStore
import Synchronization

/// The timed loops. Each returns the sum of its answers; a key that gave none adds nothing.
enum LookupLoops {
  @inline(never)
  static func byBarcode(
    _ snapshot: CatalogSnapshot, _ keys: borrowing KeyList, _ range: Range<Int>
  ) throws -> UInt64 {
    var sum: UInt64 = 0
    for index in range {
      let found = try keys.withKey(index) { (key) throws(StoreError) in
        try snapshot.withProduct(barcode: key) { (view) throws(StoreError) in Touch.of(view) }
      }
      sum &+= found ?? 0
    }
    return sum
  }

  /// Which key comes next depends on the answer to the last one.
  @inline(never)
  static func byBarcodeDependent(
    _ snapshot: CatalogSnapshot, _ keys: borrowing KeyList, _ range: Range<Int>
  ) throws -> UInt64 {
    var sum: UInt64 = 0
    var next = range.lowerBound
    for _ in range {
      let found = try keys.withKey(next) { (key) throws(StoreError) in
        try snapshot.withProduct(barcode: key) { (view) throws(StoreError) in Touch.of(view) }
      }
      sum &+= found ?? 0
      // The highest bit of an answer is never set, which only the data knows.
      next += 1 + Int((found ?? 0) >> 63)
    }
    return sum
  }

  @inline(never)
  static func byId(
    _ snapshot: CatalogSnapshot, _ keys: borrowing KeyList, _ range: Range<Int>
  ) throws -> UInt64 {
    var sum: UInt64 = 0
    for index in range {
      let found = try keys.withKey(index) { (key) throws(StoreError) in
        try snapshot.withProduct(id: key) { (view) throws(StoreError) in Touch.of(view) }
      }
      sum &+= found ?? 0
    }
    return sum
  }

  @inline(never)
  static func byIdDependent(
    _ snapshot: CatalogSnapshot, _ keys: borrowing KeyList, _ range: Range<Int>
  ) throws -> UInt64 {
    var sum: UInt64 = 0
    var next = range.lowerBound
    for _ in range {
      let found = try keys.withKey(next) { (key) throws(StoreError) in
        try snapshot.withProduct(id: key) { (view) throws(StoreError) in Touch.of(view) }
      }
      sum &+= found ?? 0
      next += 1 + Int((found ?? 0) >> 63)
    }
    return sum
  }

  @inline(never)
  static func products(_ snapshot: CatalogSnapshot, _ keys: TextKeys, _ range: Range<Int>) throws -> UInt64 {
    var sum: UInt64 = 0
    for index in range {
      if let product = try snapshot.product(id: keys.texts[index]) { sum &+= Touch.of(product) }
    }
    return sum
  }

  @inline(never)
  static func productsByBarcode(
    _ snapshot: CatalogSnapshot, _ keys: TextKeys, _ range: Range<Int>
  ) throws -> UInt64 {
    var sum: UInt64 = 0
    for index in range {
      for product in try snapshot.products(barcode: keys.texts[index]) { sum &+= Touch.of(product) }
    }
    return sum
  }

  @inline(never)
  static func relations(_ snapshot: CatalogSnapshot, _ keys: TextKeys, _ range: Range<Int>) throws -> UInt64 {
    var sum: UInt64 = 0
    for index in range {
      for relation in try snapshot.relations(ofSet: keys.texts[index]) { sum &+= UInt64(relation.groupNum) }
    }
    return sum
  }

  /// Scans that have to match in one way; another way adds nothing.
  @inline(never)
  static func matches(
    _ snapshot: CatalogSnapshot, _ keys: TextKeys, _ kind: MatchKind, _ range: Range<Int>
  ) throws -> UInt64 {
    var sum: UInt64 = 0
    for index in range {
      let match = try snapshot.match(keys.texts[index])
      if match.kind == kind { for product in match.products { sum &+= Touch.of(product) } }
    }
    return sum
  }

  /// Two threads, each with its own half of the keys; the time is that of one of them, on average.
  static func onTwoThreads(
    _ range: Range<Int>, _ body: @Sendable (Range<Int>) throws -> UInt64
  ) throws -> (UInt64, Elapsed) {
    let middle = range.lowerBound + range.count / 2
    let halves = [range.lowerBound..<middle, middle..<range.upperBound]
    // Guards what the two threads bring back.
    let results = Mutex<(sum: UInt64, wall: Double, processor: Double, failure: (any Error)?)>((0, 0, 0, nil))
    DispatchQueue.concurrentPerform(iterations: 2) { half in
      do {
        let (sum, elapsed) = try Elapsed.of { try body(halves[half]) }
        results.withLock { results in
          results.sum &+= sum
          results.wall += elapsed.wall / 2
          results.processor += elapsed.processor / 2
        }
      } catch {
        results.withLock { $0.failure = error }
      }
    }
    return try results.withLock { results in
      if let failure = results.failure { throw failure }
      // Of each thread half of the lookups: as if it had done all of them.
      return (results.sum, Elapsed(wall: 2 * results.wall, processor: 2 * results.processor))
    }
  }
}
