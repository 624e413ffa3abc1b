import Barcodes
import Catalog
import DocumentFormat
import Platform

/// What the fields beyond the 25 of a catalogue look like, as declarations to propose.
struct FieldProposals {
  /// The number of products that are looked at.
  private static let productLimit = 2000
  /// The most fields that are proposed.
  private static let limit = 8

  /// What all values of a field can be.
  private struct Shape {
    var count = 0
    var isCode = true
    var isDecimal = true
    var isInteger = true
    var isBool = true
    var isDate = true

    mutating func add(_ text: String) {
      count += 1
      isCode = isCode && GTIN(utf8: Array(text.utf8).span) != nil
      let number = ExactDecimal(text)
      isDecimal = isDecimal && number != nil
      isInteger = isInteger && number?.normalized.decimals == 0
      isBool = isBool && ["true", "false", "yes", "no"].contains(text.lowercased())
      let day = text.utf8.prefix(10)
      isDate =
        isDate && day.count == 10
        && day.enumerated().allSatisfy { [4, 7].contains($0) ? $1 == UInt8(ascii: "-") : (0x30...0x39).contains($1) }
    }

    /// The options of `fields set`; `nil` for what is best left a text.
    var options: String? {
      if count == 0 { return nil }
      if isCode { return "--role code" }
      if isBool { return "--type bool" }
      if isDate { return "--type date --order" }
      if isInteger { return "--type int --order" }
      return isDecimal ? "--type decimal --order" : nil
    }
  }

  /// The commands that declare the fields, in the order of names.
  let commands: [String]

  /// Looks at the first products of a catalogue.
  ///
  /// - Throws: `StoreError.damaged`.
  init(_ snapshot: CatalogSnapshot) throws {
    var shapes: [String: Shape] = [:]
    if snapshot.mayHaveExtra {
      for product in try snapshot.products(where: "true").limit(Self.productLimit).fetch() {
        guard case .object(let fields) = product.extra.value else { continue }
        for field in fields where snapshot.fields[field.name] == nil {
          switch field.value {
          case .text(let text) where !text.isEmpty: shapes[field.name, default: Shape()].add(text)
          case .integer, .unsigned, .double, .bool: shapes[field.name, default: Shape()].add(field.value.json)
          default: continue
          }
        }
      }
    }
    let proposed = shapes.sorted { $0.key < $1.key }.compactMap { name, shape in
      shape.options.map { "catalogctl fields set \(name.shellWord) \($0)" }
    }
    commands = Array(proposed.prefix(Self.limit))
  }
}
