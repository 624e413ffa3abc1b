import JSONFormat

/// Codes that a device tries on a new state before it switches to it.
package struct PublicationProbe: Sendable, Equatable {
  /// The most codes that must be found, and that must not.
  package static let foundLimit = 50
  package static let missingLimit = 10
  /// The most bytes of a probe.
  package static let byteLimit = 65_536

  /// The codes that must find a product.
  package var found: [String]
  /// The codes that must find none.
  package var missing: [String]
  /// The number of products; `nil` for any.
  package var products: Int?

  package init(found: [String], missing: [String], products: Int?) {
    self.found = found
    self.missing = missing
    self.products = products
  }

  /// The probe as JSON.
  package var json: [UInt8] {
    var fields: [(String, JSONText)] = [
      ("found", .array(found.map(JSONText.text))), ("missing", .array(missing.map(JSONText.text))),
    ]
    if let products { fields.append(("products", .int(products))) }
    return JSONText.object(fields).bytes + [0x0A]
  }

  /// Reads a probe.
  ///
  /// - Throws: ``PublicationError``, also for more codes than a probe may have.
  package init(json: [UInt8]) throws(PublicationError) {
    guard json.count <= Self.byteLimit else { throw .tooLarge("the probe has \(json.count) bytes") }
    let fields = try JSONFields(json, of: "the probe")
    found = try fields.texts("found", upTo: Self.byteLimit)
    missing = try fields.texts("missing", upTo: Self.byteLimit)
    if found.count > Self.foundLimit {
      throw .tooLarge(
        "the probe has \(found.count) codes that must be found; it may have \(Self.foundLimit): leave some out")
    }
    if missing.count > Self.missingLimit {
      throw .tooLarge(
        "the probe has \(missing.count) codes that must not be found; it may have \(Self.missingLimit): leave some out")
    }
    products = try fields.optionalInt("products")
  }
}

extension JSONFields {
  fileprivate func optionalInt(_ name: String) throws(PublicationError) -> Int? {
    try has(name) ? int(name) : nil
  }
}
