package import LogStore

extension Finding {
  /// The finding in the catalogue's terms. The engine reports "a row of products, key "101"", or "a row of table 0" if
  /// it can read no more; this property reports "product 101" and "a product".
  package var inCatalogueWords: Finding {
    Finding(path: path, offset: offset, what: Self.words(what), lost: Self.words(lost))
  }

  static func words(_ text: String) -> String {
    for (names, word, prefix) in [
      (["products", "table \(CatalogSchema.products)"], "a product", "product "),
      (["relations", "table \(CatalogSchema.relations)"], "a relation", "a relation of the set "),
      (["codes", "table \(CatalogSchema.codes)"], "codes of a product", "codes of product "),
    ] {
      for name in names {
        guard let found = text.firstRange(of: "a row of \(name)") else { continue }
        let rest = text[found.upperBound...]
        // Another table's name may begin with this one.
        if let next = rest.first, next.isLetter || next.isNumber { continue }
        let before = text[..<found.lowerBound]
        let mark = ", key \""
        if rest.hasPrefix(mark), let end = rest.lastIndex(of: "\""), end > rest.index(rest.startIndex, offsetBy: 6) {
          let key = rest[rest.index(rest.startIndex, offsetBy: mark.count)..<end]
          return before + prefix + key + rest[rest.index(after: end)...]
        }
        return before + word + rest
      }
    }
    return text
  }
}
