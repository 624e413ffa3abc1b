import Barcodes
import Catalog
import CatalogRows
import Cryptography
import JSONFormat
import LogStore
import PublicationFormat
import Publisher
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import PublicationSync

@Suite struct PublicationLookupTests {
  @Test func `the first answers are those of all rows`() async throws {
    var random = SeededGenerator(for: "PublicationLookup")
    let rows = LookupRows(&random)
    let scene = try PublicationScene()
    let source = try rows.write(to: scene.location("source"))
    try await scene.publish()
    var codes = rows.codes(&random)
    codes.shuffle(using: &random)
    let lookup = Self.lookup(scene)
    var unknown: [String] = []
    var found = 0
    for code in codes.prefix(150 * depth) {
      let answer = try await lookup.answer { try $0.match(code) }
      if !answer.isKnown {
        unknown.append(code)
        #expect(answer.match.isEmpty, "\(code)")
        continue
      }
      let (own, full) = try (Self.json(answer.match, code), Self.json(source.match(code), code))
      #expect(own == full, "\(code)")
      if !answer.match.isEmpty { found += 1 }
      #expect(answer.sequence == 1)
    }
    // Only part numbers of labels may be SKUs.
    #expect(unknown.allSatisfy { Scan($0).label != nil || Scan($0).folded?.label != nil }, "\(unknown)")
    #expect(found > 50)
    #expect(found + unknown.count < min(codes.count, 150 * depth))
  }

  @Test func `a barcode takes few requests and bytes`() async throws {
    let scene = try await PublicationScene.publishing(20_000)
    let lookup = Self.lookup(scene)
    let answer = try await lookup.answer { try $0.match(PublicationScene.code(11_000)) }
    #expect(answer.match.products.map(\.id) == ["p11000"])
    #expect(answer.isKnown)
    // The head, the keys and their signatures at once; the top with the table; a group.
    #expect(scene.place.takeRequests().count == 6)
    let base = try #require(scene.place.files.first { $0.key.hasSuffix(".base") }).value
    let bytes = await lookup.traffic.bytesIn
    #expect(bytes < base.count / 10 + 32_768)
    // Another product of the same group takes nothing.
    _ = try await lookup.answer { try $0.match(PublicationScene.code(11_001)) }
    #expect(scene.place.takeRequests().isEmpty)
    // One that is missing takes the groups of its spellings.
    let missing = try await lookup.answer { try $0.match("4006381333931") }
    #expect(missing.isKnown)
    #expect(missing.match.isEmpty)
    #expect(scene.place.takeRequests().count <= 3)
  }

  @Test func `one answer reads at most so many groups`() async throws {
    let scene = try PublicationScene()
    let writer = try CatalogWriter(scene.location("source"))
    var update = try writer.beginFullUpdate()
    var row = ProductRow()
    for number in 0..<(PublicationLookup.groupLimit + 3) * RowGroup.entryLimit {
      var product = Product()
      product.id = "\(number)"
      product.barcode = "SAME-BARCODE"
      product.fill(&row)
      try update.product(row)
    }
    _ = try update.commit(cursor: "1")
    writer.close()
    try await scene.publish()
    let answer = try await Self.lookup(scene).answer { try $0.match("SAME-BARCODE") }
    #expect(!answer.isKnown)
    #expect(answer.match.isEmpty)
  }

  @Test(arguments: ["top", "page", "group", "every byte"])
  func `damaged parts give no answer`(_ what: String) async throws {
    let scene = try await PublicationScene.publishing(3000)
    let head = try PublicationHead(json: #require(scene.place.files[PublicationHead.name]))
    let base = head.state.base
    let bytes = try #require(scene.place.files[base.name])
    let top = try BaseFile.Top(Array(bytes.prefix(base.top.byteCount)))
    let page = top.pages(.entries)[0]
    let groups = try BaseFile.Part.groups(ofPage: Array(bytes[page.offset..<page.offset + page.byteCount]))
    let range: Range<Int> =
      switch what {
      case "top": 5..<6
      case "page": page.offset + 30..<page.offset + 31
      case "group": groups[1].offset..<groups[2].offset
      default: 0..<bytes.count
      }
    scene.place.tamper { name, bytes in
      guard name == base.name else { return bytes }
      var bytes = bytes
      for offset in range { bytes[offset] ^= 1 }
      return bytes
    }
    let lookup = Self.lookup(scene)
    let code = PublicationScene.code(1500)
    let failure = await #expect(throws: PublicationFailure.self) { try await lookup.answer { try $0.match(code) } }
    guard case .unavailable(let reason)? = failure else { Issue.record("\(failure as Any)"); return }
    #expect(reason.contains("other bytes than were published"))
    scene.place.tamper(nil)
    let answer = try await lookup.answer { try $0.match(code) }
    #expect(answer.match.products.map(\.id) == ["p1500"])
  }

  @Test func `a mirror that lies costs requests and changes nothing`() async throws {
    let scene = try await PublicationScene.publishing(3000)
    let mirror = TestPlace("http://mirror.test")
    mirror.set(scene.place.files)
    mirror.tamper { name, bytes in name.hasSuffix(".base") ? bytes.map { $0 ^ 1 } : bytes }
    let answer = try await Self.lookup(scene, mirrors: [mirror]).answer { try $0.match(PublicationScene.code(7)) }
    #expect(answer.match.products.map(\.id) == ["p7"])
  }

  @Test func `a head that somebody else signed is refused`() async throws {
    let scene = try await PublicationScene.publishing(10)
    let lookup = Self.lookup(scene, rootKey: try SignifySecretKey.new("other").publicKey)
    let failure = await #expect(throws: PublicationFailure.self) {
      try await lookup.answer { try $0.match(PublicationScene.code(1)) }
    }
    guard case .refused? = failure else { Issue.record("\(failure as Any)"); return }
  }

  @Test func `an answer is as of the base, also if deltas follow it`() async throws {
    let scene = try await PublicationScene.publishing(3000)
    try scene.change([(id: 5, name: "another name")])
    try await scene.publish()
    let answer = try await Self.lookup(scene).answer { try $0.match(PublicationScene.code(5)) }
    #expect(answer.head.sequence == 2)
    #expect(answer.sequence == 1)
    #expect(answer.match.products.map(\.name) == [PublicationScene.name(5)])
  }

  @Test func `parts of a base that arrives are not fetched again`() async throws {
    let scene = try await PublicationScene.publishing(3000)
    let base = try PublicationHead(json: #require(scene.place.files[PublicationHead.name])).state.base
    let location = try scene.location("device")
    let cache = PublicationCache(of: location)
    let file = try cache.openBase(base)
    try file.write(Array(#require(scene.place.files[base.name])), at: 0)
    let lookup = PublicationLookup(
      origin: scene.place, mirrors: [], rootKey: scene.key.publicKey, deviceNumber: 50, arriving: cache)
    _ = scene.place.takeRequests()
    let answer = try await lookup.answer { try $0.match(PublicationScene.code(5)) }
    #expect(answer.match.products.map(\.id) == ["p5"])
    #expect(!scene.place.takeRequests().contains(base.name))
  }

  @Test func `SKUs and fields of one's own make an answer unknown, if no barcode comes before them`() async throws {
    let scene = try await PublicationScene.publishing(3000)
    let lookup = Self.lookup(scene)
    var options = MatchingOptions()
    options.sku = .match
    let (sku, code) = (options, PublicationScene.code(5))
    let known = try await lookup.answer { try $0.match(code, options: sku) }
    #expect(known.isKnown)
    let unknown = try await lookup.answer { try $0.match("ABC-123", options: sku) }
    #expect(!unknown.isKnown)
    let plain = try await lookup.answer { try $0.match("ABC-123") }
    #expect(plain.isKnown)
    #expect(plain.match.isEmpty)
  }

  private static func lookup(
    _ scene: PublicationScene, mirrors: [TestPlace] = [], rootKey: SignifyPublicKey? = nil
  ) -> PublicationLookup {
    _ = scene.place.takeRequests()
    return PublicationLookup(
      origin: scene.place, mirrors: mirrors, rootKey: rootKey ?? scene.key.publicKey, deviceNumber: 50)
  }

  /// What a program sees of a match, without suggestions.
  private static func json(_ match: Match, _ code: String) -> String {
    let today = ScanDate(daysSince1970: 20_000)
    let fields = match.jsonFields(code: code, today: today).filter { $0.0 != "suggestions" }
    return String(decoding: JSONText.object(fields).bytes, as: UTF8.self)
  }
}

/// Rows of a catalogue with many groups: barcodes of all kinds, labels whose heads begin many barcodes, barcodes that many
/// products share, sets, further codes, and rows that were sent as deleted.
struct LookupRows {
  private(set) var products: [Product] = []
  private(set) var codes: [ProductCode] = []
  private(set) var relations: [Relation] = []

  init(_ random: inout SeededGenerator) {
    let heads = [
      "KF", "KFR-35", "KFR-35GW", "kfr-72", "SG12", "SG1234", "SG1234N", "6901", "6901234", "69012345", "空调A",
    ]
    var barcodes = heads + ["", "", " 1234567 ", "abc", "12", "0000000000000"]
    for _ in 0..<2500 { barcodes.append(heads.randomElement(using: &random)! + Self.text(&random, 1...9)) }
    for _ in 0..<2500 { barcodes.append(Self.gtin("69012", 12, &random)) }
    for _ in 0..<700 { barcodes.append(Self.gtin("0", 11, &random)) }
    for _ in 0..<500 { barcodes.append(Self.gtin("1", 13, &random)) }
    for _ in 0..<300 { barcodes.append(Self.gtin("4", 7, &random)) }
    for _ in 0..<500 { barcodes.append(Self.text(&random, 3...16)) }
    barcodes += Array(repeating: "SHARED", count: 2300)
    barcodes.shuffle(using: &random)
    for (number, barcode) in barcodes.enumerated() {
      var product = Product()
      product.id = "p\(number)"
      product.barcode = barcode
      product.name = Self.text(&random, 5...30)
      product.skuCode = Int.random(in: 0..<3, using: &random) == 0 ? Self.text(&random, 4...9) : ""
      product.delFlag = Int.random(in: 0..<20, using: &random) == 0 ? 1 : 0
      products.append(product)
    }
    for number in 0..<3000 {
      var code = ProductCode()
      code.id = "c\(number)"
      code.productId = "p\(Int.random(in: 0..<products.count + 50, using: &random))"
      code.code =
        switch Int.random(in: 0..<5, using: &random) {
        case 0: Self.gtin("50", 12, &random)
        case 1: "CASE" + Self.text(&random, 0...2)
        case 2: "CASE" + Self.text(&random, 2...8)
        case 3: products.randomElement(using: &random)!.barcode + "X"
        default: Self.text(&random, 4...12)
        }
      if code.code.isEmpty { continue }
      codes.append(code)
    }
    for number in 0..<500 {
      var relation = Relation()
      relation.id = "r\(number)"
      relation.productId = products.randomElement(using: &random)!.id
      relation.subProductId = products.randomElement(using: &random)!.id
      relation.groupNum = 1
      relations.append(relation)
    }
  }

  func write(to location: StoreLocation) throws -> CatalogSnapshot {
    let writer = try CatalogWriter(location)
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    var row = ProductRow()
    for product in products {
      product.fill(&row)
      try update.product(row)
    }
    var relationRow = RelationRow()
    for relation in relations {
      relation.fill(&relationRow)
      try update.relation(relationRow)
    }
    var codeRow = CodeRow()
    for code in codes {
      code.fill(&codeRow)
      try update.code(codeRow)
    }
    _ = try update.commit(cursor: "1")
    return try writer.snapshot()
  }

  /// Codes as scanners may send them: those of the catalogue in all spellings, with a serial number, damaged, and others.
  func codes(_ random: inout SeededGenerator) -> [String] {
    var scans: [String] = []
    let known = products.map(\.barcode) + codes.map(\.code)
    for _ in 0..<250 * depth {
      let code = known.randomElement(using: &random)!
      scans += [code, code.lowercased(), code + Self.text(&random, 1...8), String(code.dropLast())]
      scans.append("]C101" + Self.gtin("0" + code.prefix(8), 13, &random) + "21" + Self.text(&random, 3...6))
      if let gtin = GTIN(code) {
        scans += [14, 13, 12].filter { gtin.canBeWritten(digitCount: $0) }.map { String(gtin.digits.suffix($0)) }
        scans += ["01\(gtin.digits)10LOT", "https://id.gs1.org/01/\(gtin.digits)/21/5", code + "12", code + code]
      }
      scans.append(Self.text(&random, 3...20))
      scans.append(Self.gtin("690", 12, &random))
    }
    for head in ["KFR-35", "SG1234N", "6901234", "空调A", "CASE", "SHARED"] {
      for _ in 0..<10 * depth { scans.append(head + Self.text(&random, 1...12)) }
    }
    return scans
  }

  private static func text(_ random: inout SeededGenerator, _ lengths: ClosedRange<Int>) -> String {
    let letters = Array("0123456789ABCDEFGHKLMNRSTW-/")
    let count = Int.random(in: lengths, using: &random)
    return String((0..<count).map { _ in letters.randomElement(using: &random)! })
  }

  /// A number with a right check digit: `count` digits that begin with some, and the check digit.
  private static func gtin(_ start: String, _ count: Int, _ random: inout SeededGenerator) -> String {
    var digits = start.compactMap(\.wholeNumberValue)
    digits = Array(digits.prefix(count))
    while digits.count < count { digits.append(Int.random(in: 0...9, using: &random)) }
    let sum = digits.reversed().enumerated().reduce(0) { $0 + $1.element * ($1.offset.isMultiple(of: 2) ? 3 : 1) }
    return digits.map(String.init).joined() + String((10 - sum % 10) % 10)
  }
}
