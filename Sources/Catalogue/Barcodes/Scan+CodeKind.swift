extension Scan {
  /// What the scanned code is: a kind of number or label.
  ///
  /// - Complexity: Linear in the number of elements.
  public var codeKind: CodeKind { label?.kind ?? codeKindWithoutLabel }

  /// What the code is if it is not taken for a label.
  package var codeKindWithoutLabel: CodeKind {
    switch kind {
    case .gtin: kindOfNumber
    case .rcn: .restricted
    case .upcE: .upcE
    case .gs1, .gs1Bad: kindOfElements
    case .digitalLink: .digitalLink
    case .label, .url, .digits, .text, .empty: .text
    }
  }

  /// The kind of a GTIN, by its number of digits and its GS1 prefix (GS1 General Specifications 1.4.2).
  private var kindOfNumber: CodeKind {
    let digitCount = itemText.utf8.count
    guard let gtin, digitCount == 12 || digitCount == 13 else { return digitCount == 8 ? .gtin8 : .gtin14 }
    switch gtin.value / 10_000_000_000 {
    case 979 where gtin.value / 1_000_000_000 == 9790: return .ismn
    case 978, 979: return .isbn
    case 977: return .issn
    case 50...59, 981...984, 990...999: return .coupon
    default: return digitCount == 12 ? .gtin12 : .gtin13
    }
  }

  private var kindOfElements: CodeKind {
    guard let elements, !namesTradeItem else { return .gs1 }
    for element in elements.elements {
      switch element.ai {
      case "00": return .sscc
      case "410", "411", "412", "413", "414", "415", "416", "417": return .gln
      case "255", "8110", "8112": return .coupon
      default: continue
      }
    }
    return .gs1
  }

  /// Whether GS1 data identify a trade item, a piece of one, or the trade items in a logistic unit.
  var namesTradeItem: Bool {
    elements?.elements.contains { ["01", "02", "03", "8006", "8026"].contains($0.ai) } ?? false
  }

  /// Whether the scanned code identifies something other than a product: a pallet, a location or a coupon. That a
  /// catalogue does not have it is no miss.
  public var identifiesAnotherThing: Bool {
    guard gtin == nil, let elements, elements.fault == nil else { return false }
    return !elements.elements.isEmpty && !namesTradeItem
  }
}
