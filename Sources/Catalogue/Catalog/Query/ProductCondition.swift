import Bytes
import CatalogRows
import DocumentFormat
import LogStore

/// A condition compiled for products: its fields are resolved, and its comparisons are known to be possible.
///
/// The tests are those of the documents' conditions, and they read a product's fields in place.
struct ProductCondition: Sendable {
  private let root: Node
  /// The keys under which all matching products are found; `nil` if every product has to be read.
  let keys: ProductKeys?
  /// The parts of orders in which all matching products are.
  let ranges: [ProductRanges]
  /// Whether every product matches.
  let isAlwaysTrue: Bool

  fileprivate indirect enum Node: Sendable {
    case all([Node])
    case any([Node])
    case not(Node)
    case test(Leaf)
    case never
  }

  /// A comparison. As an object it is not copied for each product, which several threads would wait for.
  fileprivate final class Leaf: Sendable {
    let field: ResolvedField
    let test: ValueTest
    /// The same test for exact decimals, if the field has such and the test compares numbers.
    let decimals: DecimalTest?

    init(_ field: ResolvedField, _ test: ValueTest) {
      self.field = field
      self.test = test
      decimals =
        switch field {
        case .extra(let field) where field.type == .decimal: DecimalTest(test)
        case .code(.quantity): DecimalTest(test)
        case .field, .extra, .codeCount, .code: nil
        }
    }

    /// Whether a field of one of a product's codes passes the test.
    func holds(
      _ field: CodeField, _ snapshot: CatalogSnapshot, _ product: borrowing ProductView
    ) throws(StoreError) -> Bool {
      try snapshot.hasCode(ofProduct: product.utf8.id) { (code) throws(StoreError) in
        if field == .quantity { return decimals?.holds(code.quantity.description) ?? false }
        let text = Array(code.text(of: field).utf8)
        return test.holds(text.rawSpan, .text(0..<text.count))
      }
    }
  }

  /// Compiles a condition.
  ///
  /// - Parameters:
  ///   - condition: The condition.
  ///   - columns: The columns of its comparisons in the text from which it was parsed.
  ///   - declared: The declared fields of one's own.
  /// - Throws: `ProductQueryError.unknownField`, `.otherField`, `.kind`.
  init(
    _ condition: Condition, columns: [ComparisonColumns] = [], declared: DeclaredFields
  ) throws(ProductQueryError) {
    var check = ProductConditionCheck(columns, declared)
    try check.check(condition)
    root = try Node(ConditionNode(condition), declared)
    keys = ProductKeys(condition)
    ranges = keys == nil ? ProductRanges.all(of: condition, declared) : []
    isAlwaysTrue = condition == .always
  }

  /// Whether a product matches.
  ///
  /// - Parameters:
  ///   - product: The product.
  ///   - snapshot: The snapshot with the product, which has its codes too.
  ///   - scratch: A buffer for the texts of packed times. Its contents are replaced.
  /// - Throws: `StoreError.damaged` if a text that products share does not pass its check.
  /// - Complexity: One read of a field for each comparison, up to the first comparison that decides.
  func matches(
    _ product: borrowing ProductView, in snapshot: CatalogSnapshot, _ scratch: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try root.matches(product, snapshot, &scratch)
  }
}

extension ProductCondition.Node {
  init(_ node: ConditionNode, _ declared: DeclaredFields) throws(ProductQueryError) {
    switch node {
    case .all(let nodes): self = .all(try Self.nodes(nodes, declared))
    case .any(let nodes): self = .any(try Self.nodes(nodes, declared))
    case .not(let node): self = .not(try Self(node, declared))
    case .test(let path, let test): self = .test(try Self.leaf(path, test, declared))
    // No field of a product is an array; a list among those of one's own is compared as its JSON.
    case .contains(let path, let text, _): self = .test(try Self.leaf(path, text, declared))
    case .never: self = .never
    }
  }

  private static func leaf(
    _ path: FieldPath, _ test: ValueTest, _ declared: DeclaredFields
  ) throws(ProductQueryError) -> ProductCondition.Leaf {
    ProductCondition.Leaf(try ProductQueryField(path, declared: declared).resolved(declared), test)
  }

  private static func nodes(
    _ nodes: [ConditionNode], _ declared: DeclaredFields
  ) throws(ProductQueryError) -> [Self] {
    var list: [Self] = []
    for node in nodes { list.append(try Self(node, declared)) }
    return list
  }

  func matches(
    _ product: borrowing ProductView, _ snapshot: CatalogSnapshot, _ scratch: inout [UInt8]
  ) throws(StoreError) -> Bool {
    switch self {
    case .all(let nodes):
      for node in nodes where try !node.matches(product, snapshot, &scratch) { return false }
      return true
    case .any(let nodes):
      for node in nodes where try node.matches(product, snapshot, &scratch) { return true }
      return false
    case .not(let node): return try !node.matches(product, snapshot, &scratch)
    case .test(let leaf):
      switch leaf.field {
      case .field(let field):
        return try product.withItem(field, &scratch) { bytes, item in leaf.test.holds(bytes, item) }
      case .extra(let field):
        if let decimals = leaf.decimals { return decimals.holds(field, product.utf8.extra, &scratch) }
        return field.withItem(product.utf8.extra, &scratch) { bytes, item in leaf.test.holds(bytes, item) }
      case .codeCount:
        return try leaf.field.withItem(of: product, in: snapshot, &scratch) { bytes, item in
          leaf.test.holds(bytes, item)
        }
      case .code(let field): return try leaf.holds(field ?? .code, snapshot, product)
      }
    case .never: return false
    }
  }
}

/// A comparison of exact decimals with numbers.
struct DecimalTest: Sendable {
  private let comparison: Condition.Comparison
  /// The keys of the constants, of which one has to be equal if there are several.
  private let constants: [[UInt8]]

  /// Fails if a test does not compare numbers.
  init?(_ test: ValueTest) {
    guard let numbers = test.numbers else { return nil }
    comparison = numbers.comparison
    var constants: [[UInt8]] = []
    for text in numbers.constants {
      var key: [UInt8] = []
      guard DecimalKey.append(Array(text.utf8).rawSpan, to: &key) else { return nil }
      constants.append(key)
    }
    self.constants = constants
  }

  /// Whether the value of a field passes. A value that is missing passes nothing.
  func holds(_ field: ExtraField, _ extra: RawSpan, _ scratch: inout [UInt8]) -> Bool {
    var key: [UInt8] = []
    field.appendSortKey(of: extra, to: &key, &scratch)
    return key == [DecimalKey.missing] ? false : holds(key: key)
  }

  /// Whether a number passes.
  func holds(_ number: String) -> Bool {
    var key: [UInt8] = []
    return DecimalKey.append(Array(number.utf8).rawSpan, to: &key) && holds(key: key)
  }

  private func holds(key: [UInt8]) -> Bool {
    constants.contains { constant in
      switch comparison {
      case .equal: key == constant
      case .notEqual: key != constant
      case .less: key.lexicographicallyPrecedes(constant)
      case .lessOrEqual: !constant.lexicographicallyPrecedes(key)
      case .greater: constant.lexicographicallyPrecedes(key)
      case .greaterOrEqual: !key.lexicographicallyPrecedes(constant)
      }
    }
  }
}
