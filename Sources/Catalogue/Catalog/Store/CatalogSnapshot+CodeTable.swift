import Bytes
public import LogStore

// The table of codes: what products are scanned by besides their own barcodes.

extension CatalogSnapshot {
  /// Returns the codes of a product, sorted by code and id.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: One lookup, and one record for each series of codes that were written together.
  public func codes(ofProduct id: String) throws(StoreError) -> [ProductCode] {
    guard hasCodeTable, let store else { return [] }
    var codes: [ProductCode] = []
    try store.forEachRecord(CatalogSchema.codesByProduct, id.utf8.span.rawSpan) { (record) throws(StoreError) in
      try append(record, to: &codes)
      return true
    }
    return codes.sorted(by: ProductCode.precedes)
  }

  /// Returns the number of codes of a product.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: As ``codes(ofProduct:)``, without copies.
  package func codeCount(ofProduct id: String) throws(StoreError) -> Int {
    try codeCount(ofProduct: id.utf8.span.rawSpan)
  }

  /// Returns the number of codes of a product whose id is UTF-8.
  func codeCount(ofProduct id: RawSpan) throws(StoreError) -> Int {
    guard hasCodeTable, let store else { return 0 }
    var count = 0
    try store.forEachRecord(CatalogSchema.codesByProduct, id) { (record) throws(StoreError) in
      count += CodeView(copy record).count
      return true
    }
    return count
  }

  /// Returns whether a product has codes.
  ///
  /// - Complexity: One lookup.
  func hasCodes(ofProduct id: RawSpan) throws(StoreError) -> Bool {
    guard hasCodeTable, let store else { return false }
    var isFound = false
    try store.forEachRecord(CatalogSchema.codesByProduct, id) { (_) throws(StoreError) in
      isFound = true
      return false
    }
    return isFound
  }

  /// Returns whether a product has a code that meets a condition.
  ///
  /// - Complexity: As ``codes(ofProduct:)``, up to the first such code, and without copies.
  func hasCode(
    ofProduct id: RawSpan, where condition: (borrowing ProductCodeView) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    guard hasCodeTable, let store else { return false }
    var isFound = false
    try store.forEachRecord(CatalogSchema.codesByProduct, id) { (record) throws(StoreError) in
      var iterator = CodeView(copy record).codes
      while !isFound, let code = iterator.next() { isFound = try condition(code) }
      return !isFound
    }
    return isFound
  }

  /// Calls `body` with every code, in file order.
  ///
  /// - Complexity: Reads the complete file once.
  public func forEachCode(_ body: (ProductCode) throws(StoreError) -> Void) throws(StoreError) {
    try forEachCodeRecord { (codes) throws(StoreError) in
      for code in codes { try body(code) }
    }
  }

  /// Calls `body` with the codes of each record, which belong to one product, in file order.
  func forEachCodeRecord(_ body: ([ProductCode]) throws(StoreError) -> Void) throws(StoreError) {
    guard hasCodeTable, let store else { return }
    var codes: [ProductCode] = []
    try store.scan(CatalogSchema.codes) { (record) throws(StoreError) in
      codes.removeAll(keepingCapacity: true)
      try append(record, to: &codes)
      try body(codes)
    }
  }

  /// Whether the table of codes has a record with the same product, keys and body as a record of another commit.
  func hasCodeRecord(like record: borrowing RecordView) throws(StoreError) -> Bool {
    guard hasCodeTable, let store else { return false }
    var isFound = false
    try store.forEachRecord(CatalogSchema.codesByProduct, record.key(0)) { (other) throws(StoreError) in
      isFound = other.key(1).hasSameBytes(as: record.key(1)) && other.body.hasSameBytes(as: record.body)
      return !isFound
    }
    return isFound
  }

  /// Appends copies of the codes of a record of this snapshot.
  func append(_ record: borrowing RecordView, to codes: inout [ProductCode]) throws(StoreError) {
    try CodeView(copy record).append(to: &codes)
    try store?.confirm(record.rowID)
  }

  /// Returns the number of codes that products with these ids have.
  ///
  /// - Complexity: One lookup for each id, with overlapping cache misses.
  func codeCount(ofProducts ids: KeyBatch) throws(StoreError) -> Int {
    guard hasCodeTable, let store else { return 0 }
    var count = 0
    try store.forEachRecord(CatalogSchema.codesByProduct, of: ids) { (_, record) throws(StoreError) in
      count += CodeView(copy record).count
    }
    return count
  }

  /// Returns the number of codes in records of this commit.
  func codeCount(in rows: [RowID]) throws(StoreError) -> Int {
    var count = 0
    for row in rows {
      let scope = ScratchScope(store)
      defer { scope.end() }
      if let record = try store?.record(row, table: CatalogSchema.codes) { count += CodeView(copy record).count }
    }
    return count
  }

  /// Counts the codes whose product the catalogue lacks. They match nothing.
  ///
  /// - Complexity: Reads the complete file once, and looks up each product.
  public func orphanCodeCount() throws(StoreError) -> Int {
    guard hasCodeTable, let store else { return 0 }
    var count = 0
    try store.scan(CatalogSchema.codes) { (record) throws(StoreError) in
      let codes = CodeView(copy record)
      if try store.product(id: codes.productId) == nil { count += codes.count }
    }
    return count
  }

  /// The relations and codes of a commit whose product is missing: how many there are, and the first in file order.
  package struct Orphans {
    /// The relations whose set is missing.
    package var relations = 0
    package var firstRelation: Relation?
    package var codes = 0
    package var firstCode: ProductCode?
  }

  /// Finds the relations and codes whose product the catalogue lacks. They are kept, and match nothing.
  ///
  /// - Complexity: Reads all relations and codes, and looks up each product.
  package func orphans() throws(StoreError) -> Orphans {
    var orphans = Orphans()
    guard let store else { return orphans }
    if relationCount > 0 {
      try forEachRelation { (relation: Relation) throws(StoreError) in
        let scope = ScratchScope(store)
        defer { scope.end() }
        if try store.product(id: relation.productId.utf8.span.rawSpan) != nil { return }
        orphans.relations += 1
        if orphans.firstRelation == nil { orphans.firstRelation = relation }
      }
    }
    guard hasCodeTable else { return orphans }
    try forEachCodeRecord { (codes) throws(StoreError) in
      let scope = ScratchScope(store)
      defer { scope.end() }
      guard let first = codes.first, try store.product(id: first.productId.utf8.span.rawSpan) == nil else { return }
      orphans.codes += codes.count
      if orphans.firstCode == nil { orphans.firstCode = first }
    }
    return orphans
  }

  /// Calls `body` with each code that has a key, and the product that it belongs to, unless that is missing or was sent
  /// as deleted.
  func forEachCode(
    withKey key: RawSpan, _ body: (borrowing ProductCodeView, borrowing ProductView) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let store else { return }
    try store.forEachRecord(CatalogSchema.codesByCode, key) { (record) throws(StoreError) in
      let codes = CodeView(copy record)
      guard let product = try store.product(id: codes.productId), product.delFlag == 0 else { return true }
      var iterator = codes.codes
      while let code = iterator.next() {
        if code.key.hasSameBytes(as: key) { try body(code, product) }
      }
      return true
    }
  }

  /// Calls `body` with one product that has `code` in the table of codes, and that code.
  ///
  /// The code is compared as a barcode is by `withProduct(barcode:)`: exactly, but for blanks around it. Use `match` for
  /// other spellings.
  ///
  /// - Returns: The result of `body`; `nil` if no product has this code.
  /// - Throws: `StoreError.damaged` if a block or record that the lookup reads fails its check.
  /// - Complexity: Four cache misses, and more for each block of the tail.
  public func withProduct<Result>(
    code: Span<UInt8>,
    _ body: (borrowing ProductView, borrowing ProductCodeView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard hasCodeTable else { return nil }
    let text = code.rawSpan
    if let number = DigitKey.number(text) {
      // A key on the stack, for the most common codes.
      let key = DigitKey.Packed(number)
      return try withProduct(code: text, key: key.bytes, body)
    }
    let trimmed = text.extracting(CodeKey.trimmed(text))
    let folded = CodeKey.of(text)
    let key = DigitKey.of(folded.rawSpan)
    return key.isEmpty ? nil : try withProduct(code: trimmed, key: key.rawSpan, body)
  }

  private func withProduct<Result>(
    code text: RawSpan, key: RawSpan,
    _ body: (borrowing ProductView, borrowing ProductCodeView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let store else { return nil }
    // What is opened of a sealed store needs a scope, which the other way has.
    if store.isSealed { return try withOtherProduct(code: text, key: key, body) }
    // Almost every code is that of one product.
    guard let record = try store.record(inLists: CatalogSchema.codesByCode, key) else { return nil }
    let codes = CodeView(record)
    if let product = try store.product(id: codes.productId), product.delFlag == 0,
      let code = codes.code(withKey: key, trimmed: text)
    {
      return try body(product, code)
    }
    return try withOtherProduct(code: text, key: key, body)
  }

  /// As `withProduct`, for a code that is of several products or that is spelled in several ways.
  @inline(never)
  private func withOtherProduct<Result>(
    code text: RawSpan, key: RawSpan,
    _ body: (borrowing ProductView, borrowing ProductCodeView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let store else { return nil }
    var result: Result?
    try store.forEachRecord(CatalogSchema.codesByCode, key) { (record) throws(StoreError) in
      let codes = CodeView(copy record)
      guard let product = try store.product(id: codes.productId), product.delFlag == 0 else { return true }
      guard let code = codes.code(withKey: key, trimmed: text) else { return true }
      result = try body(product, code)
      return false
    }
    return result
  }
}

extension [[RowID]] {
  /// The rows of a table, of which a commit may know nothing.
  func of(_ table: Int) -> [RowID] { table < count ? self[table] : [] }
}
