import Bytes
import LogStore

/// A declared field whose values are codes, and its index.
struct CodeFieldIndex: Sendable {
  let field: ExtraField
  let declaration: FieldDeclaration
  let index: OrderedIndexID
}

extension CatalogSnapshot {
  /// Returns the codes of declared fields with a key.
  ///
  /// - Parameters:
  ///   - text: The text to compare codes with, without surrounding blanks.
  ///   - folded: The folded text.
  /// - Complexity: One seek for each field.
  func fieldCodes(_ text: RawSpan, key folded: RawSpan) throws(StoreError) -> [FoundCode] {
    guard !codeFields.isEmpty, let store, folded.byteCount > 0 else { return [] }
    var key = DigitKey.of(folded)
    // Of a longer key, the index has the beginning.
    key.removeLast(max(0, key.count - OrderedKeys.maximumKeyLength))
    var found: [FoundCode] = []
    var scratch: [UInt8] = []
    for codeField in codeFields {
      var rows: [RowID] = []
      try store.appendRows(inOrderOf: codeField.index, from: .before(key), to: .after(key), to: &rows)
      try store.forEachRecord(ofRows: rows, table: CatalogSchema.products) { (record) throws(StoreError) in
        let view = ProductView(record)
        if view.delFlag != 0 { return true }
        try codeField.field.forEachText(of: view.utf8.extra, &scratch) { (value) throws(StoreError) in
          guard CodeKey.equals(value, folded) else { return }
          let product = try copy(view)
          found.append(
            FoundCode(
              code: codeField.code(value.string, of: product.id), product: product,
              isExact: value.trimmedAsCode.hasSameBytes(as: text), field: codeField.field.name))
        }
        return true
      }
    }
    return found
  }
}

extension CodeFieldIndex {
  /// A value of the field as a code of a product. It has no row of its own, so no id.
  func code(_ text: String, of productId: String) -> ProductCode {
    var code = ProductCode()
    code.productId = productId
    code.code = text
    code.quantity = declaration.quantity
    code.unit = declaration.unit
    code.kind = field.name
    return code
  }
}
