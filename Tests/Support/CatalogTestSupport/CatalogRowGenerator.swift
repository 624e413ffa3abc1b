import Catalog
import CatalogRows
import DocumentFormat
import RandomTestSupport
import StoreTestSupport

/// Products and relations with all kinds of values.
package struct RowGenerator {
  package var random: SeededGenerator

  /// The generator of run `run` of the test `name`: each run has other rows.
  package init(_ name: String, run: Int = 0) {
    var first = SeededGenerator(for: "\(name), run \(run)")
    random = SeededGenerator(seed: first.next() &+ UInt64(run) &* 0xD1B5_4A32_D192_ED03)
  }

  package mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  package mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }

  package mutating func text() -> String {
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1, 2: return ""
    case 3: return pick(["kg", "格力", "\u{0}", "\u{2028}", "😀👩‍👩‍👧", " ", "\u{FEFF}", "\u{301}", "\u{FFFD}"])
    case 4:
      return String(repeating: pick(["x", "é", "空", "😀"]), count: pick([127, 128, 4095, 4096, 16_384]))
    default:
      let alphabet = Array("abXYZ09 -/\\\"'{}:,\u{0}\u{1}\n\t\u{1D}\u{7F}é格力😀\u{2028}".unicodeScalars)
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 1..<40, using: &random) { text.append(pick(alphabet)) }
      return String(text)
    }
  }

  /// A text that has room in a key beside others.
  package mutating func key() -> String {
    let text = text()
    return text.utf8.count < 20_000 ? text : String(text.prefix(300))
  }

  package mutating func barcode() -> String {
    let plain = pick(["", "6901234567892", "sg1234N01", "SG-12 34", "编号１２３", key(), key()])
    let around = [
      "", "", " ", "\u{A0}", "\u{FEFF}", "\u{200B}", "\t", "\r\n", "\u{0}", "\u{2}", "\u{1D}", "\u{3000}",
    ]
    return pick(around) + plain + pick(around)
  }

  package mutating func time() -> String {
    let digits = Int.random(in: 0..<10_000, using: &random)
    return pick([
      "", "2023-02-01 01:15:03", "0000-00-00 00:00:00", "9999-15-31 31:63:63", "9999-99-99 99:99:99",
      "2023-02-30 99:99:99", "2023-16-01 00:00:00", "2023-02-32 00:00:00", "2023-02-01 32:00:00",
      "2023-02-01 00:64:00", "2023-02-01 00:00:64", "t", "２０２３", "2023-02-01T01:15:03",
      "2023-02-01 01:15:03 ",
      " 023-02-01 01:15:03", "2023/02/01 01:15:03", "+123-02-01 01:15:03", "2023-02-01 01:15:0\u{0}",
      "2023-2-01 01:15:003", text(), String(repeating: "9", count: 19),
      "\(1000 + digits % 9000)-12-24 18:00:00",
    ])
  }

  package mutating func integer() -> Int64 {
    pick([
      0, 1, -1, 2, .max, .min, .max - 1, Int64(Int32.max), Int64(Int32.max) + 1, Int64(Int32.min),
      Int64(Int32.min) - 1, Int64(bitPattern: random.next()), Int64.random(in: -1000..<1000, using: &random),
    ])
  }

  package mutating func double() -> Double {
    let bits = Double(bitPattern: random.next())
    let thousandths = Double(Int.random(in: -1_000_000..<1_000_000, using: &random)) / 1000
    return pick([
      0, -0.0, 1, -1, 0.1, 0.35, 226.8, 1e308, -1e308, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
      .leastNormalMagnitude, .greatestFiniteMagnitude, 268_435_455, 268_435_456, -268_435_456, 26_843_545.6,
      1e-7, -1e-7,
      1e-8, 0.1 + 0.2, 1.0 / 3, thousandths, bits.isNaN ? 0.5 : bits,
    ])
  }

  package mutating func product() -> Product {
    var row = ProductRow()
    for field in ProductField.allCases {
      switch field.slot {
      case .text(let slot): row.texts.set(slot, text(field))
      case .integer(let slot): row.integers[slot] = field != .delFlag || chance(30) ? integer() : 0
      case .flag(let slot): row.setFlag(slot, chance(50))
      case .double(let slot): row.doubles[slot] = double()
      }
    }
    var product = Product(row)
    if chance(20) { product.extra = extra() }
    return product
  }

  private mutating func text(_ field: ProductField) -> String {
    switch field {
    case .id: key()
    case .barcode: barcode()
    case .createTime, .updateTime: time()
    default: text()
    }
  }

  /// Fields beyond the 25.
  package mutating func extra() -> ProductExtra {
    var fields: [String: DocumentValue] = [:]
    for _ in 0..<Int.random(in: 0..<5, using: &random) {
      let value: DocumentValue = pick([
        .text(String(text().prefix(300))), .bool(chance(50)), .integer(integer()), .null,
        .array([.text(String(time().prefix(300)))]),
        .object([DocumentValue.Field("a", .integer(1))]),
      ])
      fields[String(text().prefix(100))] = value
    }
    let object = DocumentValue.object(fields.map { DocumentValue.Field($0.key, $0.value) })
    return try! ProductExtra(json: object.json)
  }

  package mutating func relation() -> Relation {
    var relation = Relation(key(), key(), integer(), id: text())
    relation.orgId = text()
    return relation
  }
}

extension Product {
  /// The doubles bit by bit: zeros of either sign are equal, and so are not what a codec must give back.
  package var doubleBits: [UInt64] { row.doubles.indices.map { row.doubles[$0].bitPattern } }

  /// All texts byte by byte: strings are equal when they look the same.
  package var textBytes: [[UInt8]] { ProductText.allCases.map { Array(row[$0].utf8) } }

  private var row: ProductRow {
    var row = ProductRow()
    fill(&row)
    return row
  }
}

extension Relation {
  package var textBytes: [[UInt8]] { [id, orgId, productId, subProductId].map { Array($0.utf8) } }
}
