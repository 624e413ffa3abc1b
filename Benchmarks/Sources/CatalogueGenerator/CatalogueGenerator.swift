public import CatalogRows

/// A catalogue of any size that needs no memory: row `index` is a function of seed, index and revision.
///
/// Rows come in any order and as often as wanted, so a benchmark can ask what the answer to a lookup has to be. Where
/// there is a sample, a row takes its texts and sizes from one of the sample's rows, and only what that row lacks is
/// made up; id, barcode and code are always new.
///
/// | share of the products | barcode |
/// |---|---|
/// | 66 % | EAN-13 beginning with 69 |
/// | 18 % | UPC-A |
/// | 13 % | a model code of 8 or 11 characters: the head of what is printed on the device |
/// | 3 % | none |
///
/// Every 33rd product is a set of two to five components; one of 256 shares the barcode of the one before it. There are
/// 5,000 brands, a few of them on most products, and 400 categories.
public struct CatalogueGenerator: Sendable {
  /// The number of products, whose indices begin at 0.
  public let productCount: Int
  /// The seed of all rows. Two generators with the same count, seed and sample make the same catalogue.
  public let seed: UInt64
  /// Rows of the sample; empty for a purely synthetic catalogue.
  private let templates: [ProductRow]
  /// Where the texts come from.
  public let source: String

  let words = Vocabulary()

  /// Creates a generator. Nothing is generated yet.
  ///
  /// - Parameters:
  ///   - productCount: The number of products: 1 to 99,999,999.
  ///   - seed: The seed of all rows.
  ///   - sample: Rows to take texts and sizes from; `nil` for a purely synthetic catalogue.
  public init(productCount: Int, seed: UInt64 = 1, sample: CatalogueSample? = nil) {
    precondition(productCount > 0, "a catalogue must have products")
    precondition(productCount < 100_000_000, "ids and barcodes are unique for up to a hundred million products")
    self.productCount = productCount
    self.seed = seed
    templates = sample?.rows ?? []
    source = sample.map { "sample of \($0.rows.count) rows" } ?? "synthetic"
  }

  /// The cursor of the catalogue: what it is made from, so that a kept one can be told from another.
  public var cursor: String { "\(productCount) products, seed \(seed), \(source)" }

  // MARK: Products

  /// Makes product `index`; one at or beyond ``productCount`` is a product that the catalogue does not have yet.
  ///
  /// - Parameter revision: how many times the product was changed; name, sizes and time depend on it.
  public func product(_ index: Int, revision: Int = 0, into row: inout ProductRow) {
    row.reset()
    var random = RowRandom(word(index, .row))
    let template = templates.isEmpty ? nil : templates[random.below(templates.count)]
    var text: [UInt8] = []
    text.reserveCapacity(64)
    putId(index, &text)
    set(.id, &text, &row)
    putBarcode(index, &text)
    set(.barcode, &text, &row)
    putIdentity(index, template, &random, &text, &row)
    putName(template, revision, &random, &text, &row)
    putSizes(template, revision, &random, &row)
    putTimes(revision, &random, &text, &row)
    row.isSaleProduct = !random.chance(5)
    row.isMarketingProduct = random.chance(10)
    row.isGreeProduct = random.chance(20)
    row.isGroupedProduct = isSet(index)
  }

  private func putIdentity(
    _ index: Int, _ template: ProductRow?, _ random: inout RowRandom, _ text: inout [UInt8], _ row: inout ProductRow
  ) {
    let brand = random.skewed(Vocabulary.brandCount)
    if let template, template.texts.byteCount(ProductText.brand.rawValue) > 0 {
      copy(.brand, of: template, &row)
      copy(.brandId, of: template, &row)
    } else if !random.chance(6) {
      put(.brand, words.brands[brand], &row)
      put(.brandId, words.brandIds[brand], &row)
    }
    let category = random.skewed(Vocabulary.categoryCount)
    if let template, template.categoryId != 0 {
      copy(.category, of: template, &row)
      row.categoryId = template.categoryId
    } else {
      put(.category, words.categories[category], &row)
      row.categoryId = Int64(10_000 + category)
    }
    if let template, template.texts.byteCount(ProductText.unit.rawValue) > 0 {
      copy(.unit, of: template, &row)
    } else {
      put(.unit, words.units[random.skewed(words.units.count)], &row)
    }
    put(.orgId, words.organisations[random.skewed(words.organisations.count)], &row)
    put(.createBy, words.people[random.skewed(words.people.count)], &row)
    put(.updateBy, words.people[random.skewed(words.people.count)], &row)
    if random.chance(70) {
      text += "SKU".utf8
      text.append(number: UInt64(index), digits: 8)
      set(.skuCode, &text, &row)
    }
    let pack = random.below(100)
    row.groupNum = pack < 88 ? 1 : [6, 12, 24][pack % 3]
  }

  private func putName(
    _ template: ProductRow?, _ revision: Int, _ random: inout RowRandom, _ text: inout [UInt8], _ row: inout ProductRow
  ) {
    let first = random.below(16)
    let second = random.below(20)
    let inChinese = random.chance(60)
    if let template, template.texts.byteCount(ProductText.name.rawValue) > 0 {
      template.texts.withText(ProductText.name.rawValue) { text.append(copying: $0) }
    } else {
      row.texts.withText(ProductText.brand.rawValue) { text.append(copying: $0) }
      if !text.isEmpty { text.append(0x20) }
      text += inChinese ? words.adjectivesInChinese[first] : words.adjectives[first]
      if !inChinese { text.append(0x20) }
      text += inChinese ? words.nounsInChinese[second] : words.nouns[second]
    }
    text.append(0x20)
    text += "\(10 * (1 + random.below(99)))".utf8
    text += inChinese ? "型".utf8 : "ml".utf8
    if revision > 0 { text += " R\(revision)".utf8 }
    set(.name, &text, &row)
  }

  private func putSizes(
    _ template: ProductRow?, _ revision: Int, _ random: inout RowRandom, _ row: inout ProductRow
  ) {
    func size(_ given: Double?, _ bound: Int, per unit: Double) -> Double {
      let own = random.below(bound)
      if let given, given != 0 { return given }
      return random.chance(15) ? 0 : Double(1 + own) / unit
    }
    row.length = size(template?.length, 1500, per: 1)
    row.wide = size(template?.wide, 8000, per: 10)
    row.tall = size(template?.tall, 900, per: 1)
    row.weight = size(template?.weight, 6000, per: 100)
    row.volume = size(template?.volume, 900, per: 1000)
    if revision > 0 { row.weight = Double(revision) + 0.25 }
  }

  private func putTimes(
    _ revision: Int, _ random: inout RowRandom, _ text: inout [UInt8], _ row: inout ProductRow
  ) {
    putTime(year: 2018 + random.below(5), &random, &text)
    set(.createTime, &text, &row)
    putTime(year: 2023 + revision, &random, &text)
    set(.updateTime, &text, &row)
  }

  private func putTime(year: Int, _ random: inout RowRandom, _ text: inout [UInt8]) {
    text.append(number: UInt64(year), digits: 4)
    text.append(UInt8(ascii: "-"))
    text.append(number: UInt64(1 + random.below(12)), digits: 2)
    text.append(UInt8(ascii: "-"))
    text.append(number: UInt64(1 + random.below(28)), digits: 2)
    text.append(UInt8(ascii: " "))
    text.append(number: UInt64(random.below(24)), digits: 2)
    text.append(UInt8(ascii: ":"))
    text.append(number: UInt64(random.below(60)), digits: 2)
    text.append(UInt8(ascii: ":"))
    text.append(number: UInt64(random.below(60)), digits: 2)
  }

  private func set(_ field: ProductText, _ text: inout [UInt8], _ row: inout ProductRow) {
    row.texts.set(field.rawValue, text.span)
    text.removeAll(keepingCapacity: true)
  }

  private func put(_ field: ProductText, _ text: [UInt8], _ row: inout ProductRow) {
    row.texts.set(field.rawValue, text.span)
  }

  private func copy(_ field: ProductText, of template: ProductRow, _ row: inout ProductRow) {
    template.texts.withText(field.rawValue) { row.texts.set(field.rawValue, $0) }
  }

  // MARK: Sets

  private static let setStride = 33

  /// Sets of the catalogue: the products ``set(_:)`` 0, 1, …
  public var setCount: Int { productCount / Self.setStride }

  /// The index of set `number`.
  public func set(_ number: Int) -> Int { number * Self.setStride + Self.setStride - 1 }

  /// Whether product `index` is a set of other products.
  public func isSet(_ index: Int) -> Bool { index % Self.setStride == Self.setStride - 1 }

  /// Components of the set `index`; 0 for a product that is none.
  public func componentCount(ofSet index: Int) -> Int {
    guard isSet(index) else { return 0 }
    let dice = word(index, .components) % 16
    return dice < 13 ? 2 : Int(dice) - 10
  }

  /// Makes relation `number` of the set `index`.
  public func relation(ofSet index: Int, _ number: Int, into row: inout RelationRow) {
    row.reset()
    var random = RowRandom(word(index, .components) &+ UInt64(number))
    var component = random.below(productCount)
    if isSet(component) { component -= 1 }
    var text: [UInt8] = []
    text += "R".utf8
    text.append(number: UInt64(index) * 8 + UInt64(number), digits: 12)
    row.texts.set(RelationText.id.rawValue, text.span)
    let organisation = words.organisations[random.skewed(words.organisations.count)]
    row.texts.set(RelationText.orgId.rawValue, organisation.span)
    text.removeAll(keepingCapacity: true)
    putId(index, &text)
    row.texts.set(RelationText.productId.rawValue, text.span)
    text.removeAll(keepingCapacity: true)
    putId(component, &text)
    row.texts.set(RelationText.subProductId.rawValue, text.span)
    row.groupNum = Int64(1 + random.below(3))
  }

  // MARK: Dice

  enum Purpose: UInt64 { case row = 1, components, code }

  /// A random word for one purpose of one row.
  func word(_ index: Int, _ purpose: Purpose) -> UInt64 {
    RowRandom.mix(seed &* 0x9E37_79B9_7F4A_7C15 ^ RowRandom.mix(UInt64(index) << 3 | purpose.rawValue))
  }
}
