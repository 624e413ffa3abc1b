import CatalogRows

/// Which rows the increments of a run have: 1000 each, made from the source.
///
/// Of the rows of an increment 850 change a product, 100 are new, and 50 delete one; the relations of changed sets come
/// with them. No product is touched twice.
package struct IncrementPlan {
  package static let changed = 850
  package static let added = 100
  package static let deleted = 50

  /// The rows of one increment.
  package struct Rows: Sendable {
    package var products: [ProductRow] = []
    package var relations: [RelationRow] = []
  }

  private let source: any CatalogueSource
  /// Products in the order in which increments touch them.
  private let order: [UInt32]

  package init(_ source: any CatalogueSource) {
    self.source = source
    var random = KeyRandom(source.seed ^ 0x696E_6372)
    var order = (0..<source.productCount).map { UInt32($0) }
    random.shuffle(&order)
    self.order = order
  }

  /// More than so many increments would touch a product twice.
  package var limit: Int { source.productCount / (Self.changed + Self.deleted) }

  package func rows(_ number: Int) -> Rows {
    var rows = Rows()
    for index in touched(number) {
      var row = ProductRow()
      source.product(index, revision: 1, into: &row)
      rows.products.append(row)
      for place in 0..<source.componentCount(ofSet: index) where index < source.productCount {
        var relation = RelationRow()
        source.relation(ofSet: index, place, into: &relation)
        rows.relations.append(relation)
      }
    }
    for index in deleted(number) {
      var row = ProductRow()
      source.product(index, revision: 0, into: &row)
      row.delFlag = 1
      rows.products.append(row)
    }
    return rows
  }

  private func touched(_ number: Int) -> [Int] {
    let first = number * (Self.changed + Self.deleted)
    let new = source.productCount + number * Self.added
    return order[first..<(first + Self.changed)].map { Int($0) } + Array(new..<(new + Self.added))
  }

  private func deleted(_ number: Int) -> [Int] {
    let first = number * (Self.changed + Self.deleted) + Self.changed
    return order[first..<(first + Self.deleted)].map { Int($0) }
  }

  /// Barcodes of products from all over the catalogue as it is after so many increments; of products that the
  /// increments wrote; of none. Every product that they deleted is among the misses.
  package func keys(
    after increments: Int, hits hitCount: Int, misses missCount: Int
  ) -> (hits: KeyList, tail: KeyList, misses: KeyList) {
    var hits = KeyList()
    var tail = KeyList()
    var misses = KeyList()
    var row = ProductRow()
    var barcode: [UInt8] = []
    func add(_ index: Int, revision: Int?, to list: inout KeyList) {
      if !source.hasOwnBarcode(index) { return }
      barcode.removeAll(keepingCapacity: true)
      source.putBarcode(index, &barcode)
      if let revision { source.product(index, revision: revision, into: &row) }
      list.append(barcode, expecting: revision == nil ? 0 : Touch.of(row))
    }
    let perIncrement = Self.changed + Self.deleted
    var random = KeyRandom(source.seed ^ UInt64(increments))
    for _ in 0..<min(source.productCount, hitCount) {
      let place = random.below(source.productCount)
      let isTouched = place < increments * perIncrement
      if isTouched, place % perIncrement >= Self.changed { continue }
      add(Int(order[place]), revision: isTouched ? 1 : 0, to: &hits)
    }
    for number in 0..<increments { for index in touched(number) { add(index, revision: 1, to: &tail) } }
    for number in 0..<increments { for index in deleted(number) { add(index, revision: nil, to: &misses) } }
    for number in 0..<missCount {
      barcode.removeAll(keepingCapacity: true)
      source.putUnknownBarcode(number, &barcode)
      misses.append(barcode, expecting: 0)
    }
    return (hits, tail, misses)
  }
}
