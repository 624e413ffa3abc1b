import Barcodes
package import Catalog
package import PublicationFormat

/// Tries the codes of a probe.
package enum PublicationProbeCheck {
  /// - Throws: `PublicationFailure.probeFailed` with the first code that is not as the probe says.
  package static func check(_ probe: PublicationProbe, _ snapshot: CatalogSnapshot) throws {
    for code in probe.found where try isFound(code, snapshot) == false {
      throw PublicationFailure.probeFailed(
        "the probe fails: no product is found for the code \(code.debugDescription): the state before it stays")
    }
    for code in probe.missing where try isFound(code, snapshot) {
      throw PublicationFailure.probeFailed(
        "the probe fails: a product is found for the code \(code.debugDescription): the state before it stays")
    }
    if let products = probe.products, products != snapshot.productCount {
      throw PublicationFailure.probeFailed(
        "the probe fails: there are \(snapshot.productCount) products, and it wants \(products): the state before it stays"
      )
    }
  }

  private static func isFound(_ code: String, _ snapshot: CatalogSnapshot) throws -> Bool {
    try !snapshot.match(Scan(code)).products.isEmpty
  }
}
