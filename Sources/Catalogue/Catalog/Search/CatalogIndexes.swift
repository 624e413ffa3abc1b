import LogStore

/// The indexes that a catalogue has in addition to those by id and barcode.
///
/// A choice takes effect with the next full update or compaction. Until then a catalogue keeps the indexes that it has.
public struct CatalogIndexes: Sendable, Equatable {
  /// An order in which products can be read.
  public enum Order: String, CaseIterable, Sendable {
    /// By id, compared byte by byte: the order of `dump`.
    case id
    /// By barcode, with surrounding blanks removed and letters in upper case; compared as text.
    case barcode
    /// By the name, folded as a search folds it.
    case name
    /// By the name of the category, folded as a search folds it.
    case category
    /// By the name of the brand, folded as a search folds it.
    case brand
    /// By `updateTime`, compared as text.
    case updateTime
  }

  /// Whether products can be found by words; see ``CatalogSnapshot/search(_:_:)``. A catalogue with such an index has
  /// the order by barcode too.
  public var hasSearch: Bool
  /// The orders in which products can be read.
  public var orders: Set<Order>
  /// Whether products can be found by their SKU; see ``MatchingOptions/sku``.
  public var hasSKU: Bool
  /// The declared fields of one's own: those that are ordered or codes have indexes, and a search finds the words of
  /// those that say so.
  public var fields = DeclaredFields()

  /// Creates a choice of indexes.
  public init(hasSearch: Bool, orders: Set<Order>, hasSKU: Bool = true) {
    self.hasSearch = hasSearch
    self.orders = orders
    self.hasSKU = hasSKU
  }

  /// Search by words, SKUs, and the orders that cost few bytes.
  public static let standard = CatalogIndexes(hasSearch: true, orders: [.id, .barcode, .category, .brand, .updateTime])
  /// No index but those by id and barcode.
  public static let none = CatalogIndexes(hasSearch: false, orders: [], hasSKU: false)

  func has(_ index: ProductIndex) -> Bool {
    switch index {
    case .search: hasSearch && fields.searched.isEmpty
    case .searchWith(let names): hasSearch && !names.isEmpty && names == fields.searched
    case .extra(let field): fields.indexes.contains(.extra(field))
    case .code(let field): fields[field.name]?.isCode == true
    case .barcodeParts: hasSearch
    case .sku: hasSKU
    case .order(let order): orders.contains(order) && !(hasSearch && order == .barcode)
    }
  }
}

extension CatalogIndexes {
  /// All indexes that this program describes by itself, and those that this choice wants of fields of one's own.
  var described: [ProductIndex] {
    ProductIndex.all + fields.indexes + (fields.searched.isEmpty ? [] : [.searchWith(fields.searched)])
  }

  /// The names of the indexes of this choice.
  package var names: [String] { described.filter(has).map(\.name) }
}

/// An ordered index of products.
///
/// Its name says all that its keys are derived from, so that a store that has it is kept up to date whatever the settings
/// are.
enum ProductIndex: Hashable, Sendable {
  /// An order in which products are read: each has one key.
  case order(CatalogIndexes.Order)
  /// The order by barcode, in which parts of barcodes are found too.
  case barcodeParts
  /// The terms by which a search finds products.
  case search
  /// The SKUs: products that have one are found by it.
  case sku
  /// The terms by which a search finds products, those of some fields of one's own among them. Their names are in byte
  /// order; there is at least one.
  case searchWith([String])
  /// The order by a field of one's own: each product has one key.
  case extra(ExtraField)
  /// The codes that a field of one's own contains.
  case code(ExtraField)

  /// The index of terms with those of some fields.
  static func search(with names: [String]) -> ProductIndex { names.isEmpty ? .search : .searchWith(names) }

  /// The longest name of an index in bytes.
  static let longestName = 255
  private static let extraPrefix = "extra."
  private static let codePrefix = "code."
  private static let searchPrefix = "search+"

  static let all = [barcodeParts, search, sku] + CatalogIndexes.Order.allCases.map(ProductIndex.order)

  /// The name in the file. The two orders by barcode have one name, as their keys are the same.
  var name: String {
    switch self {
    case .order(let order): order.rawValue
    case .barcodeParts: CatalogIndexes.Order.barcode.rawValue
    case .search: "search"
    case .sku: "sku"
    case .searchWith(let names): Self.searchPrefix + names.map(Self.escaped).joined(separator: ",")
    case .extra(let field): "\(Self.extraPrefix)\((field.type ?? .text).rawValue).\(field.name)"
    case .code(let field): Self.codePrefix + field.name
    }
  }

  var hasFragments: Bool {
    switch self {
    case .barcodeParts, .search, .searchWith: true
    case .sku, .order, .extra, .code: false
    }
  }

  /// The fields of one's own whose words an index of terms has; `nil` for another index.
  var searchedFields: [ExtraField]? {
    switch self {
    case .search: []
    case .searchWith(let names): names.map { ExtraField($0, .text) }
    case .barcodeParts, .sku, .order, .extra, .code: nil
    }
  }

  /// The name of a field in a list with commas.
  private static func escaped(_ name: String) -> String {
    name.replacing("%", with: "%25").replacing(",", with: "%2C")
  }

  private static func unescaped(_ text: some StringProtocol) -> String {
    String(text).replacing("%2C", with: ",").replacing("%25", with: "%")
  }

  /// The index with a name in the file; `nil` if this program does not know it.
  init?(named name: String) {
    if name == "search" {
      self = .search
    } else if name == "sku" {
      self = .sku
    } else if let order = CatalogIndexes.Order(rawValue: name) {
      self = .order(order)
    } else if name.hasPrefix(Self.searchPrefix) {
      let names = name.dropFirst(Self.searchPrefix.count).split(separator: ",", omittingEmptySubsequences: false)
      self = .searchWith(names.map { Self.unescaped($0) })
    } else if name.hasPrefix(Self.codePrefix) {
      self = .code(ExtraField(String(name.dropFirst(Self.codePrefix.count)), .text))
    } else if name.hasPrefix(Self.extraPrefix) {
      let parts = name.dropFirst(Self.extraPrefix.count).split(
        separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let type = FieldType(rawValue: String(parts[0])) else { return nil }
      self = .extra(ExtraField(String(parts[1]), type))
    } else {
      return nil
    }
  }

  /// Describes the index for the store.
  func described(isWanted: Bool) -> Schema.OrderedIndex {
    Schema.OrderedIndex(name, hasFragments: hasFragments, isWanted: isWanted) { (record, receive) throws(StoreError) in
      let view = ProductView(copy record)
      var keys = ProductIndexKeys()
      let updateTime = Array(view.updateTime.utf8)
      let texts = IndexedTexts(
        id: view.utf8.id, name: view.utf8.name, brand: try view.utf8.shared(.brand),
        category: try view.utf8.shared(.category), skuCode: view.utf8.skuCode,
        code: record.key(CatalogSchema.productByCode.index), updateTime: updateTime.rawSpan, extra: view.utf8.extra)
      keys.forEachKey(of: self, texts, receive)
    }
  }
}
