import DocumentFormat

/// A list of fields of a product, in the order in which they are written.
package struct ProductColumns: Sendable {
  /// The fields, each once; at least one.
  package let fields: [ProductQueryField]
  /// Whether a column needs the codes of the products.
  package var needCodes: Bool { fields.contains(.codes) || fields.contains(.codeCount) }

  /// Parses field names with commas between them: `id, name, extra.price`.
  ///
  /// - Parameters:
  ///   - text: The names.
  ///   - declared: The declared fields of one's own.
  /// - Throws: `ProductQueryError.syntax` for an empty name, `.unknownField`, `.otherField`, `.repeatedField`,
  ///   `.kind` for a field of codes, of which a product may have several.
  package init(parsing text: String, declared: DeclaredFields) throws(ProductQueryError) {
    var fields: [ProductQueryField] = []
    var start = 1
    for part in text.unicodeScalars.split(separator: ",", omittingEmptySubsequences: false) {
      let blanks = part.prefix { $0.properties.isWhitespace }.count
      var name = part.dropFirst(blanks)
      while name.last?.properties.isWhitespace == true { name.removeLast() }
      let column = start + blanks
      if name.isEmpty {
        let isLast = part.endIndex == text.unicodeScalars.endIndex
        throw .syntax(QuerySyntaxError(column: column, expected: "a field", found: isLast ? "the end" : "','"))
      }
      let field = try ProductQueryField(parsing: String(name), declared: declared, column: column)
      if case .code = field {
        throw .kind(field, problem: "\(field.key) is for conditions; the column is codes, or codeCount", column: column)
      }
      if fields.contains(field) { throw .repeatedField(field, column: column) }
      fields.append(field)
      start += part.count + 1
    }
    self.fields = fields
  }
}
