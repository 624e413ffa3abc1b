import Bytes
public import CatalogRows
import DocumentFormat
import LogStore
import TextFormat

/// A field of a product that a query reads: one of the 25, one of one's own, or the codes in the table of codes.
public enum ProductQueryField: Hashable, Sendable {
  /// One of the 25 fields.
  case field(ProductField)
  /// The field of ``Product/extra`` with this name.
  case extra(String)
  /// The number of the product's codes in the table of codes.
  case codeCount
  /// The product's codes in the table of codes, as a list. It is a column, and has no order.
  case codes
  /// A field of the product's codes, for conditions: one holds if it holds for one of the codes.
  case code(CodeField)

  /// What stands before the name of a field of one's own, with a dot between them.
  static let extraName = "extra"
  /// The name of the list of codes, and what stands before the name of a field of theirs.
  static let codesName = "codes"
  static let codeCountName = "codeCount"
  /// The fields of codes that conditions compare.
  static let codeFields: [CodeField] = [.code, .quantity, .unit, .kind, .id]

  /// The name as a query has it: that of the server, or `extra.NAME`.
  public var key: String {
    switch self {
    case .field(let field): field.key
    case .extra(let name): "\(Self.extraName).\(name)"
    case .codeCount: Self.codeCountName
    case .codes: Self.codesName
    case .code(let field): "\(Self.codesName).\(field.key)"
    }
  }

  /// The names of the fields that have to do with codes.
  static var codeNames: [String] { [codeCountName] + codeFields.map { Self.code($0).key } }

  /// Checks that a product has one value of the field, which orders, groups and aggregates need.
  ///
  /// - Throws: `ProductQueryError.kind` for the codes and their fields.
  package func checkIsSingle(column: Int? = nil) throws(ProductQueryError) {
    switch self {
    case .field, .extra, .codeCount: return
    case .codes, .code:
      let problem = "a product may have several codes, so \(key) has no order and makes no groups; use codeCount"
      throw .kind(self, problem: problem, column: column)
    }
  }

  /// One of the 25 fields; `nil` for the others.
  package var plain: ProductField? {
    guard case .field(let field) = self else { return nil }
    return field
  }

  /// The field at a path of a condition or an order.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - declared: The declared fields of one's own.
  ///   - column: The column of the path in the text, for errors.
  /// - Throws: `ProductQueryError.unknownField`; `.otherField` if the name is not declared, but one like it is.
  init(_ path: FieldPath, declared: DeclaredFields, column: Int? = nil) throws(ProductQueryError) {
    let names = path.names
    if names.count == 2, names[0] == Self.extraName {
      if declared[names[1]] == nil, let name = NearestName.of(names[1], among: declared.names) {
        throw .otherField("\(path)", suggestion: "\(Self.extraName).\(name)", column: column)
      }
      self = .extra(names[1])
      return
    }
    if names.count == 2, names[0] == Self.codesName, let field = Self.codeFields.first(where: { $0.key == names[1] }) {
      self = .code(field)
      return
    }
    guard names.count == 1 else { throw .unknownField("\(path)", column: column) }
    switch names[0] {
    case Self.codeCountName:
      self = .codeCount
      return
    case Self.codesName:
      self = .codes
      return
    default: break
    }
    if declared[names[0]] != nil, !ProductField.allCases.contains(where: { $0.key == names[0] }) {
      throw .otherField(names[0], suggestion: "\(Self.extraName).\(names[0])", column: column)
    }
    self = .field(try ProductField(named: names[0], column: column))
  }

  /// The field with a name, as a query has it.
  ///
  /// - Parameters:
  ///   - name: The name: `brand`, or `extra.price`. A backslash takes the next character as it is.
  ///   - declared: The declared fields of one's own.
  ///   - column: The column of the name in the text, for errors.
  /// - Throws: As the initialiser of a path.
  package init(parsing name: String, declared: DeclaredFields, column: Int? = nil) throws(ProductQueryError) {
    guard let path = try? FieldPath(parsing: name) else { throw .unknownField(name, column: column) }
    try self.init(path, declared: declared, column: column)
  }

  /// The kind of the field's values; `nil` for a field that is not declared, which may have values of any kind, and for
  /// the list of codes.
  func kind(_ declared: DeclaredFields) -> DocumentKind? {
    switch self {
    case .field(let field): field.kind
    case .codeCount, .code(.quantity): .number
    case .code: .text
    case .codes: nil
    case .extra(let name):
      switch declared[name]?.type {
      case nil: nil
      case .text, .date: .text
      case .decimal, .int: .number
      case .bool: .bool
      }
    }
  }

  /// Whether the field is known to be a number.
  package func isNumber(_ declared: DeclaredFields) -> Bool { kind(declared) == .number }

  /// The field as products are read by it.
  func resolved(_ declared: DeclaredFields) -> ResolvedField {
    switch self {
    case .field(let field): .field(field)
    case .extra(let name): .extra(declared.field(name))
    case .codeCount: .codeCount
    case .codes: .code(nil)
    case .code(let field): .code(field)
    }
  }
}

// The 25 by their names, for literals in code.
extension ProductQueryField {
  /// The field `barcode`.
  public static var barcode: Self { .field(.barcode) }
  /// The field `brand`.
  public static var brand: Self { .field(.brand) }
  /// The field `brandId`.
  public static var brandId: Self { .field(.brandId) }
  /// The field `category`.
  public static var category: Self { .field(.category) }
  /// The field `createBy`.
  public static var createBy: Self { .field(.createBy) }
  /// The field `createTime`.
  public static var createTime: Self { .field(.createTime) }
  /// The field `id`.
  public static var id: Self { .field(.id) }
  /// The field `name`.
  public static var name: Self { .field(.name) }
  /// The field `orgId`.
  public static var orgId: Self { .field(.orgId) }
  /// The field `skuCode`.
  public static var skuCode: Self { .field(.skuCode) }
  /// The field `unit`.
  public static var unit: Self { .field(.unit) }
  /// The field `updateBy`.
  public static var updateBy: Self { .field(.updateBy) }
  /// The field `updateTime`.
  public static var updateTime: Self { .field(.updateTime) }
  /// The field `categoryId`.
  public static var categoryId: Self { .field(.categoryId) }
  /// The field `delFlag`.
  public static var delFlag: Self { .field(.delFlag) }
  /// The field `groupNum`.
  public static var groupNum: Self { .field(.groupNum) }
  /// The field `isGreeProduct`.
  public static var isGreeProduct: Self { .field(.isGreeProduct) }
  /// The field `isGroupedProduct`.
  public static var isGroupedProduct: Self { .field(.isGroupedProduct) }
  /// The field `isSaleProduct`.
  public static var isSaleProduct: Self { .field(.isSaleProduct) }
  /// The field `isMarketingProduct`.
  public static var isMarketingProduct: Self { .field(.isMarketingProduct) }
  /// The field `length`.
  public static var length: Self { .field(.length) }
  /// The field `tall`.
  public static var tall: Self { .field(.tall) }
  /// The field `volume`.
  public static var volume: Self { .field(.volume) }
  /// The field `weight`.
  public static var weight: Self { .field(.weight) }
  /// The field `wide`.
  public static var wide: Self { .field(.wide) }
}

/// A field of a product with the way in which it is read.
enum ResolvedField: Hashable, Sendable {
  case field(ProductField)
  case extra(ExtraField)
  case codeCount
  /// A field of the codes, or the list of them; only conditions have one.
  case code(CodeField?)

  /// The index whose order is that of queries by the field.
  var exactOrder: ProductIndex? {
    switch self {
    case .field(let field): CatalogIndexes.Order(exactlyBy: field).map(ProductIndex.order)
    case .extra(let field): field.type == nil ? nil : .extra(field)
    case .codeCount, .code: nil
    }
  }

  /// Calls `read` with the field of a product as an item of the document format, as `ProductView.withItem` does.
  func withItem<Result>(
    of view: borrowing ProductView, in snapshot: CatalogSnapshot, _ scratch: inout [UInt8],
    _ read: (RawSpan, Item) -> Result
  ) throws(StoreError) -> Result {
    switch self {
    case .field(let field): try view.withItem(field, &scratch, read)
    case .extra(let field): field.withItem(view.utf8.extra, &scratch, read)
    case .codeCount: read(view.body, .integer(Int64(try snapshot.codeCount(ofProduct: view.utf8.id))))
    case .code: preconditionFailure("a product has no single value of its codes")
    }
  }

  /// Appends the sort key of the field of a product: keys compare bytewise in the order of the values, and none is a
  /// prefix of another one.
  func appendSortKey(
    of view: borrowing ProductView, in snapshot: CatalogSnapshot, to key: inout [UInt8], _ scratch: inout [UInt8],
    isDescending: Bool = false
  ) throws(StoreError) {
    switch self {
    case .field, .codeCount, .code:
      try withItem(of: view, in: snapshot, &scratch) { bytes, item in
        key.appendSortKey(bytes, item, isDescending: isDescending)
      }
    case .extra(let field):
      field.appendSortKey(of: view.utf8.extra, to: &key, &scratch, isDescending: isDescending)
    }
  }

  /// Returns the field of a product as a value that outlives the view.
  func value(
    of view: borrowing ProductView, in snapshot: CatalogSnapshot, _ scratch: inout [UInt8]
  ) throws(StoreError) -> DocumentValue {
    try withItem(of: view, in: snapshot, &scratch) { bytes, item in
      switch item {
      case .null: .null
      case .bool(let value): .bool(value)
      case .integer(let value): .integer(value)
      case .double(let value): .double(value)
      case .text(let range): .text(bytes.extracting(range).string)
      case .unsigned, .bytes, .date, .array, .object: preconditionFailure("no field of a product is of this kind")
      }
    }
  }
}
