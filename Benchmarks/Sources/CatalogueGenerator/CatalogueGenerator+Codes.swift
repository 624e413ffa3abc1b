extension CatalogueGenerator {
  /// What kind of barcode a product has.
  public enum CodeKind: Sendable { case ean13, upcA, head, none }

  /// Returns the kind of barcode that product `index` has.
  public func codeKind(_ index: Int) -> CodeKind {
    switch word(owner(ofCode: index), .code) % 100 {
    case ..<66: .ean13
    case ..<84: .upcA
    case ..<97: .head
    default: .none
    }
  }

  /// Whether another product has the same barcode.
  public func sharesBarcode(_ index: Int) -> Bool { index & 0xFF >= 0xFE }

  /// The product whose barcode `index` has: its own, or that of the product before it.
  private func owner(ofCode index: Int) -> Int { index & 0xFF == 0xFF ? index - 1 : index }

  /// Appends the id of product `index`: 18 digits.
  public func putId(_ index: Int, _ text: inout [UInt8]) {
    text.append(number: 700_000_000_000_001_000 + UInt64(index) * 7, digits: 18)
  }

  /// Appends the barcode of product `index`, if it has one.
  public func putBarcode(_ index: Int, _ text: inout [UInt8]) {
    let owner = owner(ofCode: index)
    switch codeKind(index) {
    case .ean13: putGTIN("69", owner, &text)
    case .upcA: putGTIN("8", owner, &text)
    case .head: putHead(owner, &text)
    case .none: break
    }
  }

  /// Appends an EAN-13 with a right check digit that no product has.
  public func putUnknownBarcode(_ number: Int, _ text: inout [UInt8]) { putGTIN("45", number, &text) }

  /// Appends prefix, ten digits that no other index has with this prefix, and the check digit.
  private func putGTIN(_ prefix: String, _ index: Int, _ text: inout [UInt8]) {
    let first = text.count
    text += prefix.utf8
    // The factor has no divisor in common with the modulus, so the map is one to one.
    text.append(number: (UInt64(index) * 6_364_136_223 + seed % 10_000_000_000) % 10_000_000_000, digits: 10)
    var sum = 0
    for (place, digit) in text[first...].reversed().enumerated() {
      sum += Int(digit - 0x30) * (place % 2 == 0 ? 3 : 1)
    }
    text.append(UInt8(0x30 + (10 - sum % 10) % 10))
  }

  /// Appends a model code. None is the beginning of another one.
  private func putHead(_ index: Int, _ text: inout [UInt8]) {
    let dice = word(index, .code) >> 32
    text += ["SG", "HS", "KF", "GM"][Int(dice & 3)].utf8
    // 36^6 values; the factor has no divisor in common with it.
    var rest = (UInt64(index) * 1_597_334_677 + seed % 1_000_000) % 2_176_782_336
    for _ in 0..<6 {
      let digit = UInt8(rest % 36)
      text.append(digit < 10 ? 0x30 + digit : 0x41 + digit - 10)
      rest /= 36
    }
    if dice & 4 != 0 { text += "N01".utf8 }
  }
}

extension [UInt8] {
  /// Appends the last `digits` decimal digits of `number`, with zeros in front.
  mutating func append(number: UInt64, digits: Int) {
    let end = count + digits
    for _ in 0..<digits { append(0x30) }
    var rest = number
    var place = end - 1
    while rest > 0, place >= end - digits {
      self[place] = UInt8(0x30 + rest % 10)
      rest /= 10
      place -= 1
    }
  }
}

extension [UInt8] {
  mutating func append(copying bytes: Span<UInt8>) {
    for index in bytes.indices { append(bytes[index]) }
  }
}
