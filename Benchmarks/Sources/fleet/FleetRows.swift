import Catalog
import CatalogRows
import Foundation
import LogStore
import RowFiles

/// The rows that are published: generated, or real ones; and the changes to them.
struct FleetRows {
  private(set) var products: [ProductRow] = []
  private(set) var relations: [RelationRow] = []

  init(_ options: FleetOptions) throws {
    if let real = options.real {
      var sink = Sink()
      try Self.read("\(real)/products.ndjson.gz", .products, &sink)
      try Self.read("\(real)/relations.ndjson.gz", .relations, &sink)
      (products, relations) = (sink.products, sink.relations)
      return
    }
    var random = Random(state: options.seed)
    products.reserveCapacity(options.productCount)
    for number in 0..<options.productCount { products.append(Self.product(number, &random)) }
    for set in stride(from: 9, to: options.productCount, by: 10) {
      for part in 0..<2 {
        var row = RelationRow()
        row.texts.set(RelationText.productId.rawValue, "\(1_300_000_000 + set)")
        row.texts.set(RelationText.subProductId.rawValue, "\(1_300_000_000 + (set * 7 + part) % options.productCount)")
        relations.append(row)
      }
    }
  }

  private static func product(_ number: Int, _ random: inout Random) -> ProductRow {
    let nouns = ["空调", "室内机", "室外机", "遥控器", "支架", "套机", "风管", "面板", "阀门", "铜管"]
    let brands = ["格力", "美的", "海尔", "TOSOT", "晶弘"]
    var row = ProductRow()
    func set(_ field: ProductText, _ text: String) { row.texts.set(field.rawValue, text) }
    let model = String(random.next() % 1_000_000, radix: 36).uppercased()
    set(.id, "\(1_300_000_000 + number)")
    set(.barcode, "69\(10_000_000_000 + random.next() % 80_000_000_000)")
    set(.name, "\(brands[number % 5])\(nouns[Int(random.next() % 10)]) KFR-\(model)")
    set(.skuCode, "\(20_000_000 + number * 3)")
    set(.brand, brands[number % 5])
    set(
      .createTime, "202\(random.next() % 6)-0\(1 + random.next() % 9)-1\(random.next() % 9) 10:2\(random.next() % 9):00"
    )
    set(.updateTime, "2026-0\(1 + random.next() % 9)-1\(random.next() % 9) 1\(random.next() % 9):20:30")
    set(.unit, "台")
    return row
  }

  /// Other names and times for some rows, spread over the catalogue.
  mutating func change(_ count: Int, revision: Int) -> [ProductRow] {
    let step = max(1, products.count / count)
    return (0..<count).map { index in
      let place = (index * step + revision) % products.count
      let name = products[place].texts.string(ProductText.name.rawValue)
      products[place].texts.set(ProductText.name.rawValue, "\(name.prefix(40)) V\(revision)")
      products[place].texts.set(ProductText.updateTime.rawValue, "2026-11-28 1\(revision % 10):\(10 + index % 50):00")
      return products[place]
    }
  }

  private static func read(_ path: String, _ kind: RowLines.Kind, _ sink: inout Sink) throws {
    let text = try Command.output(["gzip", "-dc", path])
    var lines = RowLines(kind: kind)
    try lines.consume(text.span, into: &sink)
    _ = try lines.finish(into: &sink)
  }

  private struct Sink: RowSink {
    var products: [ProductRow] = []
    var relations: [RelationRow] = []
    mutating func product(_ row: borrowing ProductRow) { products.append(copy row) }
    mutating func relation(_ row: borrowing RelationRow) { relations.append(copy row) }
    mutating func code(_ row: borrowing CodeRow) {}
  }
}

/// SplitMix64: small, and the same on every machine.
struct Random: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// 0 to less than 1.
  mutating func fraction() -> Double { Double(next() >> 11) / Double(UInt64(1) << 53) }
}
