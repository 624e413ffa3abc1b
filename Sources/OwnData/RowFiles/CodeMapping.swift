internal import Barcodes
public import CatalogRows

extension RowMapping {
  /// Where a value of a code comes from: a column of its row, or the same in every row.
  public enum CodeValue: Sendable, Equatable {
    /// The column or key of this name.
    case column(String)
    /// The value itself. A quantity is an exact decimal.
    case constant(String)

    /// The name of the column; `nil` for a constant.
    public var column: String? { if case .column(let name) = self { name } else { nil } }
  }

  /// How columns of a product's row become further codes of the product.
  ///
  /// An empty cell is no code. Neither is one with the product's own barcode, or with a code that the product has
  /// already, in any spelling.
  public struct CodeRule: Sendable, Equatable {
    /// The names of the columns. Without any, and with ``RowMapping/group``, the rule is for the barcodes of the further
    /// rows of a product.
    public var columns: [String]
    /// The characters each of which may stand between several codes in a cell; `nil` if a cell is one code.
    public var split: String?
    /// The changes of each code, in this order.
    public var steps: [Step]
    /// How many of the product's unit a code stands for; `nil` for 1.
    public var quantity: CodeValue?
    /// The unit of what the code is on; `nil` for none.
    public var unit: CodeValue?
    /// The kind of the code; `nil` for none.
    public var kind: CodeValue?

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - columns: The names of the columns.
    ///   - split: The characters between several codes in a cell.
    ///   - steps: The changes of each code.
    ///   - quantity: How many of the product's unit a code stands for.
    ///   - unit: The unit of what the code is on.
    ///   - kind: The kind of the code.
    public init(
      columns: [String], split: String? = nil, steps: [Step] = [], quantity: CodeValue? = nil, unit: CodeValue? = nil,
      kind: CodeValue? = nil
    ) {
      self.columns = columns
      self.split = split
      self.steps = steps
      self.quantity = quantity
      self.unit = unit
      self.kind = kind
    }

    /// Whether the columns may be that of the product's own barcode too: the codes stand for one piece of any kind.
    var isPlain: Bool { quantity == nil && unit == nil && kind == nil }
  }

  /// What the columns of a table of codes mean: a file of its own, each of whose rows is a code of a product.
  ///
  /// Columns without a value here are recognised by common names.
  public struct CodeTable: Sendable, Equatable {
    /// The field of the product that says which one a code belongs to: its id, `skuCode` or `barcode`.
    public var join: ProductField
    /// Where the fields of a code come from. That of the product is `productId`, whatever field joins.
    public var values: [CodeField: CodeValue]
    /// The characters each of which may stand between several codes in a cell; `nil` if a cell is one code.
    public var split: String?
    /// The changes of each code, in this order.
    public var steps: [Step]

    /// The fields that can join a table of codes.
    public static let joins: [ProductField] = [.id, .skuCode, .barcode]

    /// Creates a description of a table.
    ///
    /// - Parameters:
    ///   - join: The field of the product that says which one a code belongs to.
    ///   - values: Where the fields of a code come from.
    ///   - split: The characters between several codes in a cell.
    ///   - steps: The changes of each code.
    public init(
      join: ProductField = .id, values: [CodeField: CodeValue] = [:], split: String? = nil, steps: [Step] = []
    ) {
      self.join = join
      self.values = values
      self.split = split
      self.steps = steps
    }

    /// The common names of the columns of each field, in the order in which they are looked for.
    package var commonNames: [(field: CodeField, names: [String])] { CodeReading.commonNames(join) }

    /// What to do about a table without a column for `field`.
    func absence(of field: CodeField) -> String {
      if field == .code {
        return
          "no column has the codes; call it code, or name it in a mapping: \"codesFrom\": {\"file\": …, \"columns\": {\"code\": …}}"
      }
      return "no column says which product a code belongs to; call it productId"
        + (join == .id ? "" : " or \(join.key)")
        + ", or name it in a mapping: \"codesFrom\": {\"file\": …, \"columns\": {\"productId\": …}}; --join says which field of a product"
        + " it has: id, skuCode or barcode"
    }
  }

  /// Whether the rows of products say which further codes these have, also if they have none.
  public var speaksOfCodes: Bool { !codes.isEmpty || group != nil }

  /// The columns of products that mean nothing else, as codes take them.
  var columnsOfCodes: Set<String> {
    var names: Set<String> = []
    for rule in codes {
      if !rule.isPlain { names.formUnion(rule.columns) }
      names.formUnion([rule.quantity?.column, rule.kind?.column].compactMap(\.self))
    }
    return names
  }
}

/// A further code that a row has.
struct FoundCode {
  var code: String
  var quantity = CodeRow.one
  var unit = ""
  var kind = ""
  /// The line and the column of the code, for messages.
  var line: Int
  var column: String
  var number: Int?
}

/// The parts that the rules of codes and tables of codes have in common.
enum CodeReading {
  /// Returns the codes in a cell, without blanks around them; none for an empty one. A code that people and programs
  /// write with separators in it, such as `978-3-16-148410-0` and `4.006.381.333.931`, is one code.
  ///
  /// - Parameters:
  ///   - text: The text of the cell.
  ///   - split: The characters that separate codes.
  static func parts(of text: String, _ split: Set<Character>) -> [String] {
    let whole = Blanks.trimmed(text)
    if whole.isEmpty { return [] }
    if split.isEmpty || !whole.contains(where: split.contains) || RowFieldPlan.isOneCode(whole) { return [whole] }
    // Codes may be written with blanks and hyphens, so these separate only what the others leave together.
    let strong = split.filter { !$0.isWhitespace && $0 != "-" }
    return whole.split(whereSeparator: strong.contains).flatMap { part -> [String] in
      let part = Blanks.trimmed(String(part))
      if RowFieldPlan.isOneCode(part) { return [part] }
      return part.split(whereSeparator: split.contains).map { Blanks.trimmed(String($0)) }.filter { !$0.isEmpty }
    }
  }

  /// Reads a quantity: a number of more than 0, with the decimal separator of the mapping. Blanks are 1.
  ///
  /// - Throws: `RowRefusal`, which says what to write.
  static func quantity(_ text: String, isNumber: Bool, _ mapping: RowMapping?) throws(RowRefusal) -> ExactDecimal {
    let text = Blanks.trimmed(text)
    if text.isEmpty { return CodeRow.one }
    var number: String? = text
    if !isNumber, let decimal = mapping?.decimalCharacter { number = RowFieldPlan.pointed(text, decimal) }
    guard let number, let quantity = ExactDecimal(number) else {
      let comma =
        text.contains(",") && mapping?.decimal == nil ? ", or give the separator of decimals: --decimal ," : ""
      throw RowRefusal(
        "a quantity is a number of the product's unit, such as 24 or 0.5, with at most 18 digits; correct it" + comma
          + (text.contains(where: \.isNumber) ? "" : ", or " + NullWords.remedy(text)))
    }
    if quantity.coefficient <= 0 {
      throw RowRefusal(
        "a quantity is more than 0; write how many of the product's unit the code stands for, or nothing for 1")
    }
    return quantity
  }

  /// The names that programs give a column, in lower case and without spaces and punctuation.
  private static let names: [CodeField: [String]] = [
    .productId: words(
      "productid product itemid item itemcode parent parentid productidid productproductid productproductidid"
        + " producttmplid producttmplidid producttemplate producttemplateid productexternalid articleid artikelid"
        + " artikel artikelnummer articlenumber itemnumber 产品编号 商品编号"),
    .code: words("code barcode ean gtin upc"),
    .quantity: words(
      "quantity qty containedquantity quantitycontained packquantity packqty packsize casesize casequantity caseqty"
        + " innerqty unitsperpack unitspercase unitspercarton piecespercase piecesperpack itemspercase qtypercase"
        + " qtyperpack qtyinpack qtypack conversionfactor factor faktor umrechnungsfaktor quantityofnextlowerlevel"
        + " quantityofnextlowerleveltradeitem quantityofchildren totalquantityofnextlowerleveltradeitem menge"
        + " gebindegröße gebindegroesse stückprove inhalt quantité cantidad quantità quantidade aantal ilość количество"
        + " 数量 装箱数 入数"),
    .unit: words(
      "unit uom unitofmeasure packaging packagingtype packagetype packtype packaginglevel packlevel level"
        + " unitdescriptor tradeitemunitdescriptor tradeitemunitdescriptorcode packunit packageunit me einheit"
        + " mengeneinheit gebinde"
        + " verpackungseinheit unité unidad unità eenheid jednostka единица 单位 单位名称"),
    .kind: words("kind barcodetype codetype eantype type art"),
    .id: ["id"],
  ]

  /// The common names of the columns of each field in a table of codes, in the order in which they are looked for.
  static func commonNames(_ join: ProductField) -> [(field: CodeField, names: [String])] {
    let own: [String] =
      switch join {
      case .id: ["id"]
      case .barcode: ownBarcodes
      default: RowMapping.commonNames(of: join)
      }
    let product = join == .id ? (names[.productId] ?? []) + own : own + (names[.productId] ?? [])
    return [
      (.productId, product), (.code, (names[.code] ?? []) + RowMapping.commonNames(of: .barcode)),
      (.quantity, names[.quantity] ?? []), (.unit, names[.unit] ?? []), (.kind, names[.kind] ?? []), (.id, ["id"]),
    ]
  }

  private static let ownBarcodes = words(
    "childgtin childean basegtin baseean eachgtin eachean unitgtin unitean productbarcode productean productgtin"
      + " itembarcode itemean itemgtin consumergtin consumerunitgtin lowerlevelgtin nextlowerlevelgtin"
      + " gtinofnextlowerlevel gtinofnextlowerleveltradeitem childtradeitemgtin")

  private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

  /// The letters and digits of a name.
  static func letters(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

  /// The index of the column with a common name of `field`: the name that comes first in the list decides.
  static func index(of field: CodeField, in names: [String], without taken: Set<Int> = []) -> Int? {
    let plain = names.map(letters)
    for known in Self.names[field] ?? [] {
      if let index = plain.indices.first(where: { plain[$0] == known && !taken.contains($0) }) { return index }
    }
    return nil
  }

  /// Finds the column of each field of a code in a table of codes.
  ///
  /// - Parameters:
  ///   - names: The names of the columns.
  ///   - table: What the mapping says of the table.
  ///   - find: Finds the column that the mapping names.
  /// - Returns: The index of the column of each field that has one, and the names of the mapping that no column has.
  static func columns(
    _ names: [String], _ table: RowMapping.CodeTable, _ find: (String) -> Int?
  ) -> (found: [CodeField: Int], missing: [(CodeField, String)]) {
    var found: [CodeField: Int] = [:]
    var missing: [(CodeField, String)] = []
    for field in CodeField.allCases {
      guard let name = table.values[field]?.column else { continue }
      if let index = find(name) { found[field] = index } else { missing.append((field, name)) }
    }
    var taken = Set(found.values)
    func take(_ field: CodeField, _ index: Int?) {
      guard let index, found[field] == nil, table.values[field] == nil, !taken.contains(index) else { return }
      found[field] = index
      taken.insert(index)
    }
    // The product comes first: its own barcode is no code of the table.
    let plain = names.map(letters)
    if table.join == .barcode {
      take(.productId, ownBarcodes.lazy.compactMap { plain.firstIndex(of: $0) }.first)
      // Of two columns of codes, the one that is called code has those of the table.
      if plain.contains("code") {
        take(
          .productId, names.indices.first { plain[$0] != "code" && RowMapping.wholeField(named: names[$0]) == .barcode }
        )
      }
      // Of "barcode" and another column of codes, "barcode" is the field of the product.
      let own = plain.firstIndex(of: "barcode")
      if names.indices.contains(where: { $0 != own && CodeProposal.isNameOfCodes(names[$0]) }) { take(.productId, own) }
    } else if table.join != .id {
      take(.productId, names.firstIndex(of: table.join.key))
      take(.productId, names.firstIndex { RowMapping.wholeField(named: $0) == table.join })
    }
    take(.productId, index(of: .productId, in: names, without: taken))
    take(.code, index(of: .code, in: names, without: taken))
    take(.code, names.indices.first { RowMapping.wholeField(named: names[$0]) == .barcode && !taken.contains($0) })
    take(.code, names.indices.first { CodeProposal.isNameOfCodes(names[$0]) && !taken.contains($0) })
    for field in [CodeField.quantity, .unit, .kind] { take(field, index(of: field, in: names, without: taken)) }
    // Where nothing else names the product, the id does.
    if table.join == .id, found[.productId] == nil { take(.productId, names.firstIndex { letters($0) == "id" }) }
    take(.id, names.firstIndex(of: "id"))
    return (found, missing)
  }
}
