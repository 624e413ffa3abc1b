import Barcodes
package import JSONFormat

extension Match {
  /// The parsing steps and the keys that were tried, for programs: `reading` and `attempts`.
  package var explanation: [(String, JSONText)] {
    let elements = (scan.elements?.elements ?? []).map { element in
      JSONText.object([("ai", .text(element.ai)), ("value", .text(element.value))])
    }
    let attempts = attempts.map { attempt in
      JSONText.object([
        ("kind", .text(attempt.kind.rawValue)), ("text", .text(attempt.text)), ("products", .int(attempt.productCount)),
        ("note", .optional(attempt.note)),
      ])
    }
    let reading = JSONText.object([
      ("text", .text(scan.text)), ("symbology", .optional(scan.symbology.map { "\($0)" })),
      ("payload", .text(scan.payload)), ("kind", .text(scan.kind.rawValue)), ("gtin", .optional(scan.gtin?.digits)),
      ("upcE", .optional(scan.upcE?.digits)), ("checkDigit", .text("\(scan.checkDigit)")),
      ("elements", .array(elements)), ("addOn", .optional(scan.addOn)), ("folded", .optional(scan.folded?.payload)),
      ("refusal", .optional(scan.refusal.map { "\($0)" })),
    ])
    return [("reading", reading), ("attempts", .array(attempts))]
  }
}
