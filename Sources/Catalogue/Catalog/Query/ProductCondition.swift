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
    let field: ProductField
    let test: ValueTest

    init(_ field: ProductField, _ test: ValueTest) {
      self.field = field
      self.test = test
    }
  }

  /// Compiles a condition.
  ///
  /// - Parameters:
  ///   - condition: The condition.
  ///   - columns: The columns of its comparisons in the text from which it was parsed.
  /// - Throws: `ProductQueryError.unknownField`, `.kind`.
  init(_ condition: Condition, columns: [ComparisonColumns] = []) throws(ProductQueryError) {
    var check = ProductConditionCheck(columns)
    try check.check(condition)
    root = try Node(ConditionNode(condition))
    keys = ProductKeys(condition)
    ranges = keys == nil ? ProductRanges.all(of: condition) : []
    isAlwaysTrue = condition == .always
  }

  /// Whether a product matches.
  ///
  /// - Parameters:
  ///   - product: The product.
  ///   - scratch: A buffer for the texts of packed times. Its contents are replaced.
  /// - Throws: `StoreError.damaged` if a text that products share does not pass its check.
  /// - Complexity: One read of a field for each comparison, up to the first comparison that decides.
  func matches(_ product: borrowing ProductView, _ scratch: inout [UInt8]) throws(StoreError) -> Bool {
    try root.matches(product, &scratch)
  }
}

extension ProductCondition.Node {
  init(_ node: ConditionNode) throws(ProductQueryError) {
    switch node {
    case .all(let nodes): self = .all(try Self.nodes(nodes))
    case .any(let nodes): self = .any(try Self.nodes(nodes))
    case .not(let node): self = .not(try Self(node))
    case .test(let path, let test): self = .test(ProductCondition.Leaf(try ProductField(path), test))
    // No field of a product is an array.
    case .contains(let path, let text, _): self = .test(ProductCondition.Leaf(try ProductField(path), text))
    case .never: self = .never
    }
  }

  private static func nodes(_ nodes: [ConditionNode]) throws(ProductQueryError) -> [Self] {
    var list: [Self] = []
    for node in nodes { list.append(try Self(node)) }
    return list
  }

  func matches(_ product: borrowing ProductView, _ scratch: inout [UInt8]) throws(StoreError) -> Bool {
    switch self {
    case .all(let nodes):
      for node in nodes where try !node.matches(product, &scratch) { return false }
      return true
    case .any(let nodes):
      for node in nodes where try node.matches(product, &scratch) { return true }
      return false
    case .not(let node): return try !node.matches(product, &scratch)
    case .test(let leaf):
      return try product.withItem(leaf.field, &scratch) { bytes, item in leaf.test.holds(bytes, item) }
    case .never: return false
    }
  }
}

extension ProductField {
  /// The field at a path of a condition or an order. A path with several names leads to none.
  init(_ path: FieldPath, column: Int? = nil) throws(ProductQueryError) {
    let names = path.names
    guard names.count == 1 else { throw .unknownField("\(path)", column: column) }
    try self.init(named: names[0], column: column)
  }
}
