import Barcodes
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// The rules of matching as a search through all products, in the plainest form: no keys, no index.
private struct Oracle {
  struct Entry {
    var product: Product
    /// The barcode as characters, trimmed.
    var code: [Unicode.Scalar]
    var folded: [Unicode.Scalar]
    var gtin: GTIN?
  }

  struct Answer: Equatable {
    var kind = MatchKind.none
    var ids: [String] = []
    var key: String?
    var rest: String?
  }

  let entries: [Entry]

  init(_ products: [Product]) {
    entries = products.filter { $0.delFlag == 0 }.compactMap { product in
      let code = Self.trimmed(product.barcode)
      if code.isEmpty { return nil }
      return Entry(product: product, code: code, folded: Self.upper(code), gtin: GTIN(Self.string(code)))
    }
  }

  func answer(_ text: String) -> Answer {
    let scan = Scan(text)
    let answer = answer(scan)
    if answer.kind == .none, let folded = scan.folded { return self.answer(folded) }
    return answer
  }

  private func answer(_ scan: Scan) -> Answer {
    if scan.allowsExactText {
      let code = Self.trimmed(scan.payload)
      for equal in [entries.filter { $0.code == code }, entries.filter { $0.folded == Self.upper(code) }]
      where !equal.isEmpty { return found(equal, .exact, nil) }
    }
    for gtin in [scan.gtin, scan.upcE] {
      guard let gtin else { continue }
      let same = entries.filter { $0.gtin == gtin }
      if !same.isEmpty { return found(same, kind(scan), scan.addOn) }
    }
    if let label = scan.label, !label.isWeak, let found = self.found(label) { return found }
    if scan.allowsHead {
      let code = Array(scan.headText.unicodeScalars)
      let upper = Self.upper(code)
      let heads = entries.filter { entry in
        let isShortNumber = entry.code.count < 7 && entry.code.allSatisfy { ("0"..."9").contains($0) }
        let isTooShort = entry.code.count < 4 || scan.kind == .gtin && isShortNumber
        return !isTooShort && entry.code.count < code.count
      }
      for found in [
        heads.filter { code.starts(with: $0.code) }, heads.filter { upper.starts(with: $0.folded) },
      ] {
        guard let longest = found.map(\.code.count).max() else { continue }
        let rest = Self.string(Array(code[longest...]))
        return self.found(found.filter { $0.code.count == longest }, .head, rest)
      }
    }
    if let label = scan.label, label.isWeak {
      let same = entries.filter { $0.gtin != nil && $0.gtin == label.gtin }
      if !same.isEmpty { return found(same, .gtin, nil) }
      if let found = found(label) { return found }
    }
    return Answer(rest: scan.addOn)
  }

  /// What the parts of a label find among barcodes. The products of these tests have no SKU.
  private func found(_ label: Label) -> Answer? {
    let isNumber = [.isbn, .issn, .ismn, .pzn].contains(label.kind)
    for part in label.parts {
      let code = Self.trimmed(part)
      for equal in [entries.filter { $0.code == code }, entries.filter { $0.folded == Self.upper(code) }]
      where !equal.isEmpty { return found(equal, isNumber ? .gtin : .part, nil) }
    }
    return nil
  }

  private func kind(_ scan: Scan) -> MatchKind {
    if scan.kind == .digitalLink { return .digitalLink }
    guard let elements = scan.elements else { return .gtin }
    return elements["01"] == nil ? .gs1Content : .gs1
  }

  private func found(_ entries: [Entry], _ kind: MatchKind, _ rest: String?) -> Answer {
    let keys = entries.map { Self.string($0.code) }
    return Answer(
      kind: kind, ids: entries.map(\.product.id).sorted { $0.isBytewiseLess(than: $1) },
      key: keys.min { $0.isBytewiseLess(than: $1) }, rest: rest)
  }

  private static func string(_ scalars: [Unicode.Scalar]) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  private static let noise = Set("\r\n\t \u{0}\u{2}\u{3}\u{4}\u{A0}\u{200B}\u{FEFF}".unicodeScalars)

  private static func trimmed(_ text: String) -> [Unicode.Scalar] {
    var scalars = Array(text.unicodeScalars)
    while let first = scalars.first, noise.contains(first) { scalars.removeFirst() }
    while let last = scalars.last, noise.contains(last) { scalars.removeLast() }
    return scalars
  }

  private static func upper(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
    scalars.map { ("a"..."z").contains($0) ? Unicode.Scalar(UInt8($0.value) - 32) : $0 }
  }
}

@Suite struct MatchingModelTests {
  @Test(arguments: 0..<4)
  func `random scans find what a search through all products finds`(run: Int) throws {
    var rows = RowGenerator("random scans find what a search through all products finds", run: run)
    var products: [Product] = []
    for number in 0..<120 {
      var product = Product("\(number)", barcode(&rows, products))
      if rows.chance(10) { product.delFlag = rows.pick([1, -1]) }
      products.append(product)
    }
    let catalogue = try TestCatalogue(Array(products[..<60]))
    // Products of the tail are never deleted ones; those of the base may be replaced.
    for index in 60..<120 { products[index].delFlag = 0 }
    for index in 0..<10 { products[index] = Product("\(index)", barcode(&rows, products)) }
    try catalogue.increment(Array(products[60...] + products[..<10]))
    if run % 2 == 1 { try catalogue.writer.compact() }
    let snapshot = try catalogue.snapshot
    let oracle = Oracle(products)
    var kinds: [MatchKind: Int] = [:]
    for _ in 0..<1500 * depth {
      let scan = scan(&rows, products)
      let match = try snapshot.match(scan)
      let found = Oracle.Answer(
        kind: match.kind, ids: match.products.map(\.id), key: match.key, rest: match.rest)
      let expected = oracle.answer(scan)
      try #require(found == expected, "\(scan.debugDescription)")
      try #require(match.rest.map { Array($0.utf8) } == expected.rest.map { Array($0.utf8) })
      kinds[match.kind, default: 0] += 1
    }
    for kind in [MatchKind.exact, .gtin, .gs1, .gs1Content, .digitalLink, .head, .none] {
      #expect(kinds[kind, default: 0] > 10, "\(kind)")
    }
  }

  private func digits(_ rows: inout RowGenerator, _ count: Int) -> String {
    String((0..<count).map { _ in rows.pick(["0", "0", "1", "2", "4", "6", "9"]) }.joined())
  }

  private func gtin(_ rows: inout RowGenerator) -> String {
    let body = digits(&rows, rows.pick([7, 11, 12, 12, 13]))
    guard let check = GTIN.checkDigit(following: body.utf8) else { return body }
    return body + String(Unicode.Scalar(check))
  }

  /// A barcode: new, or akin to one that is there already.
  private func barcode(_ rows: inout RowGenerator, _ products: [Product]) -> String {
    let around = ["", "", "", " ", "\u{A0}", "\t", "\u{200B}"]
    if rows.chance(35), let other = products.randomElement(using: &rows.random)?.barcode {
      switch Int.random(in: 0..<7, using: &rows.random) {
      case 0: return other
      case 1: return other.lowercased()
      case 2: return other + rows.pick(["N", "n", "01", "é", "空"])
      case 3: return String(other.dropLast(Int.random(in: 0..<3, using: &rows.random)))
      case 4: return "0" + other
      case 5: return rows.pick(around) + other + rows.pick(around)
      default: return other.uppercased()
      }
    }
    switch Int.random(in: 0..<6, using: &rows.random) {
    case 0, 1: return gtin(&rows)
    case 2: return digits(&rows, Int.random(in: 0..<16, using: &rows.random))
    case 3:
      return rows.pick(["sG", "Sg", "格力", "é", ""])
        + digits(&rows, Int.random(in: 1..<6, using: &rows.random))
    case 4: return rows.pick(["", " ", "690", "12", "格力空调", "😀😀😀😀", String(repeating: "A", count: 260)])
    default: return rows.pick(around) + gtin(&rows) + rows.pick(around)
    }
  }

  private func scan(_ rows: inout RowGenerator, _ products: [Product]) -> String {
    let code = rows.chance(85) ? rows.pick(products).barcode : gtin(&rows)
    let plain = String(code.unicodeScalars.filter { $0.isASCII && $0 > " " })
    let padded = String(repeating: "0", count: max(0, 14 - plain.utf8.count)) + plain
    switch Int.random(in: 0..<18, using: &rows.random) {
    case 0, 1: return code
    case 2: return rows.pick([" ", "\u{FEFF}", "\r"]) + code + rows.pick([" ", "\n", "\u{A0}"])
    case 3: return code + digits(&rows, Int.random(in: 1..<8, using: &rows.random))
    case 4: return code.uppercased() + "X1"
    case 5: return code.lowercased() + rows.pick(["1", "N01", "空", " x"])
    case 6: return String(code.dropLast())
    case 7: return padded
    case 8: return String(padded.suffix(13))
    case 9: return "(01)" + padded + rows.pick(["", "(10)L", "(21)S"])
    case 10: return rows.pick(["", "]C1", "]d2"]) + "01" + padded + rows.pick(["", "21S", "10L\u{1D}21S"])
    case 11: return "https://id.gs1.org/01/" + padded + rows.pick(["", "/21/S", "?17=260101"])
    case 12:
      return rows.pick(["]E0", "]E4", "]E3", "]A0", "]C0", "]I1"]) + code + rows.pick(["", "12", "12345"])
    case 13:
      // As an input method writes it.
      var wide = String.UnicodeScalarView()
      for scalar in code.unicodeScalars {
        wide.append((0x21...0x7E).contains(scalar.value) ? Unicode.Scalar(scalar.value + 0xFEE0)! : scalar)
      }
      return String(wide) + rows.pick(["", "１", "X"])
    case 14: return plain.map { String($0) }.joined(separator: rows.pick(["", " "]))
    case 15: return "02" + padded + "3712"
    case 16: return "]C102" + padded + "3712"
    default:
      var bytes = Array(code.utf8)
      if bytes.isEmpty { return "" }
      bytes[Int.random(in: 0..<bytes.count, using: &rows.random)] = UInt8.random(
        in: 0x1C..<0x7F, using: &rows.random)
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
