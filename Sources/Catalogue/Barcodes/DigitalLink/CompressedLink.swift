/// The compressed part of a Digital Link: base64url, whose bits are identifiers and values in a binary form (GS1
/// Digital Link Standard: Compression).
///
///     8 bits   two digits of an identifier; a hexadecimal digit above 9 selects a known sequence instead
///     4 bits   each further digit of the identifier
///     …        the components of the value, and then the next identifier
///
/// Digits are one binary number of as many bits as their number of digits needs. The number of digits, if it varies,
/// precedes them. A text has three bits for its alphabet, then its length if it varies, then its characters. The end is
/// padded with zeros.
struct CompressedLink {
  /// An identifier and its value.
  struct Element {
    let identifier: ApplicationIdentifier
    let ai: String
    let value: [UInt8]
  }

  /// The elements: the key, if there is one, its qualifiers, and the rest in the order of the link.
  private(set) var elements: [Element] = []

  /// The identifier whose binary form is not settled, so that it and what follows cannot be read; `nil` if everything
  /// was read.
  private(set) var unreadable: String?

  /// Reads a component of a path. Returns `nil` if it is not the compressed part of a link: a character, an identifier
  /// or a value is wrong, or something is left over.
  init?(_ segment: ArraySlice<UInt8>) {
    guard segment.count >= 4, let bits = BitReader(base64url: segment) else { return nil }
    // Two sequences of identifiers have one order in the table of the standard, and another one in the links that GS1's
    // own toolkit creates. Only one of them fits, as a rule.
    var readings = [true, false].compactMap { Self(bits, sortsSequences: $0) }
    if readings.count == 2, readings[0].isEqual(to: readings[1]) { readings.removeLast() }
    guard readings.count == 1 else { return nil }
    self = readings[0]
    sort()
  }

  /// Whether the first element is a key with a right check digit.
  var startsWithKey: Bool {
    guard let first = elements.first, DigitalLinkKey.isKey(Array(first.ai.utf8)) else { return false }
    switch first.ai {
    case "401", "8004", "8010", "8013": return first.value.prefix(4).allSatisfy(ASCII.isDigit)
    case "253", "255": return Self.endsInCheckDigit(first.value.prefix(13))
    case "8003", "8006": return Self.endsInCheckDigit(first.value.prefix(14))
    default: return Self.endsInCheckDigit(first.value[...])
    }
  }

  private static func endsInCheckDigit(_ digits: ArraySlice<UInt8>) -> Bool {
    DigitRun(digits)?.endsInCheckDigit == true
  }

  private init?(_ start: BitReader, sortsSequences: Bool) {
    var bits = start
    while !bits.isPadding {
      guard let prefix = bits.read(8) else { return nil }
      let digits = [UInt8(prefix >> 4), UInt8(prefix & 0xF)]
      if digits[0] == 0xF {
        guard Self.skipForeignPair(&bits) else { return nil }
      } else if digits[0] > 9 || digits[1] > 9 {
        guard var sequence = Self.sequences[UInt8(prefix)] else { return nil }
        if sortsSequences { sequence.sort() }
        for ai in sequence { guard readValue(of: ai, &bits) else { return nil } }
      } else {
        let ascii = digits.map { UInt8(ascii: "0") + $0 }
        guard let count = ApplicationIdentifier.digitCount(at: 0, in: ascii + [0x30, 0x30]) else { return nil }
        var name = ascii
        while name.count < count {
          guard let digit = bits.read(4), digit < 10 else { return nil }
          name.append(UInt8(ascii: "0") + UInt8(digit))
        }
        guard readValue(of: String(decoding: name, as: UTF8.self), &bits) else { return nil }
      }
      if unreadable != nil { break }
    }
    if elements.isEmpty { return nil }
  }

  /// Reads the value of an identifier. Returns whether it has the right form, or cannot be read because its form is not
  /// settled.
  private mutating func readValue(of ai: String, _ bits: inout BitReader) -> Bool {
    guard let identifier = ApplicationIdentifier(ai) else { return false }
    if Self.unsettled.contains(ai) {
      unreadable = ai
      return true
    }
    var value: [UInt8] = []
    for field in Field.fields(of: identifier) {
      guard let part = field.read(&bits) else { return false }
      value += part
    }
    guard identifier.defect(of: value[...]) == nil, !elements.contains(where: { $0.ai == ai }) else { return false }
    elements.append(Element(identifier: identifier, ai: ai, value: value))
    return true
  }

  /// Skips a name and a value of the web site: seven bits for the length of the name, its characters of base64url, and
  /// the value, whose length has seven bits. The first four bits of the length were read with the flag.
  private static func skipForeignPair(_ bits: inout BitReader) -> Bool {
    bits.unread(4)
    guard let nameLength = bits.read(7), bits.skip(6 * Int(nameLength)), let alphabet = bits.read(3),
      let count = bits.read(7)
    else { return false }
    return Field.readText(Int(count), alphabet: Int(alphabet), &bits) != nil
  }

  /// Puts the key first, then its qualifiers, then the rest.
  private mutating func sort() {
    let key = elements.first { DigitalLinkKey.isKey(Array($0.ai.utf8)) && $0.identifier.linkQualifiers != nil }
    guard let key else { return }
    sort(after: key.identifier)
    elements.removeAll { $0.ai == key.ai }
    elements.insert(key, at: 0)
  }

  /// Puts the qualifiers of a key before the rest.
  mutating func sort(after key: ApplicationIdentifier) {
    let order = (key.linkQualifiers ?? []).flatMap { $0.map(String.init) }
    let rank = { (element: Element) in order.firstIndex(of: element.ai) ?? order.count }
    elements.sort { rank($0) < rank($1) }
  }

  private func isEqual(to other: CompressedLink) -> Bool {
    unreadable == other.unreadable && elements.count == other.elements.count
      && elements.allSatisfy { element in
        other.elements.contains { $0.ai == element.ai && $0.value == element.value }
      }
  }

  /// Identifiers whose components the published implementations of the standard write in different ways, or not at all.
  private static let unsettled: Set<String> = [
    "4330", "4331", "4332", "4333", "7011", "7230", "7231", "7232", "7233", "7234", "7235", "7236", "7237", "7238",
    "7239",
    "7258", "8007", "8040", "8041", "8042", "8043",
  ]

  /// The sequences of identifiers with a code of their own (GS1 Digital Link Standard: Compression, optimisation
  /// table).
  private static let sequences: [UInt8: [String]] = {
    var sequences: [UInt8: [String]] = [
      0x0A: ["01", "22"], 0x0B: ["01", "10"], 0x0C: ["01", "21"], 0x0D: ["01", "17"], 0x0E: ["01", "7003"],
      0x0F: ["01", "30"], 0x1A: ["01", "10", "21", "17"], 0x1B: ["01", "15"], 0x1C: ["01", "11"], 0x1D: ["01", "16"],
      0x1E: ["01", "91"], 0x1F: ["01", "10", "15"], 0x9A: ["8010", "8011"], 0x9B: ["8017", "8019"],
      0x9C: ["8018", "8019"], 0x9D: ["414", "254"],
    ]
    for digit in UInt8(0)...9 {
      if digit < 6 {
        sequences[0x2A + digit] = ["01", "310\(digit)"]
        sequences[0x3A + digit] = ["01", "320\(digit)"]
      }
      sequences[0xA0 + digit] = ["01", "392\(digit)"]
      sequences[0xC0 + digit] = ["255", "390\(digit)"]
      if digit < 4 { sequences[0xCA + digit] = ["255", "394\(digit)"] }
    }
    return sequences
  }()
}

extension CompressedLink {
  /// A part of a value in its binary form. Adjacent components of digits of fixed length are one number.
  private struct Field {
    var isNumeric: Bool
    var length: Int
    var isVariable: Bool

    static func fields(of identifier: ApplicationIdentifier) -> [Field] {
      var fields: [Field] = []
      for component in identifier.components {
        let isVariable = component.isOptional || component.minimumLength < component.maximumLength
        let isNumeric = component.characters == .digits
        if let last = fields.last, last.isNumeric == isNumeric, last.isVariable == isVariable, isNumeric || !isVariable
        {
          fields[fields.count - 1].length += component.maximumLength
        } else {
          fields.append(Field(isNumeric: isNumeric, length: component.maximumLength, isVariable: isVariable))
        }
      }
      return fields
    }

    /// Reads the characters of the field; `nil` if the bits end, or stand for no character.
    func read(_ bits: inout BitReader) -> [UInt8]? {
      var alphabet = 0
      if !isNumeric {
        guard let code = bits.read(3) else { return nil }
        alphabet = Int(code)
      }
      var count = length
      if isVariable {
        guard let read = bits.read(Self.bitCount(length)), read <= UInt64(length) else { return nil }
        count = Int(read)
      }
      return Self.readText(count, alphabet: alphabet, &bits)
    }

    /// Reads characters. The alphabets: digits as one number; hexadecimal digits in lower case; in upper case;
    /// base64url; ASCII.
    static func readText(_ count: Int, alphabet: Int, _ bits: inout BitReader) -> [UInt8]? {
      switch alphabet {
      case 0: return bits.readDigits(count)
      case 1: return bits.readCharacters(count, 4) { Array("0123456789abcdef".utf8)[Int($0)] }
      case 2: return bits.readCharacters(count, 4) { Array("0123456789ABCDEF".utf8)[Int($0)] }
      case 3: return bits.readCharacters(count, 6) { BitReader.base64url[Int($0)] }
      case 4: return bits.readCharacters(count, 7) { UInt8($0) }
      default: return nil
      }
    }

    /// Returns the number of bits that the length of a value has if it is at most `maximum`.
    private static func bitCount(_ maximum: Int) -> Int { Int.bitWidth - maximum.leadingZeroBitCount }
  }
}
