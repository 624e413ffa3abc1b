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
    case .search: hasSearch
    case .barcodeParts: hasSearch
    case .sku: hasSKU
    case .order(let order): orders.contains(order) && !(hasSearch && order == .barcode)
    }
  }
}

/// An ordered index of products.
enum ProductIndex: Hashable, Sendable {
  /// An order in which products are read: each has one key.
  case order(CatalogIndexes.Order)
  /// The order by barcode, in which parts of barcodes are found too.
  case barcodeParts
  /// The terms by which a search finds products.
  case search
  /// The SKUs: products that have one are found by it.
  case sku

  static let all = [barcodeParts, search, sku] + CatalogIndexes.Order.allCases.map(ProductIndex.order)

  /// The name in the file. The two orders by barcode have one name, as their keys are the same.
  var name: String {
    switch self {
    case .order(let order): order.rawValue
    case .barcodeParts: CatalogIndexes.Order.barcode.rawValue
    case .search: "search"
    case .sku: "sku"
    }
  }

  var hasFragments: Bool { self == .barcodeParts || self == .search }

  /// The index with a name in the file; `nil` if this program does not know it.
  init?(named name: String) {
    if name == "search" {
      self = .search
    } else if name == "sku" {
      self = .sku
    } else if let order = CatalogIndexes.Order(rawValue: name) {
      self = .order(order)
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
        code: record.key(CatalogSchema.productByCode.index), updateTime: updateTime.rawSpan)
      keys.forEachKey(of: self, texts, receive)
    }
  }
}
