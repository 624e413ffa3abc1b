/// A Pharmazentralnummer (PZN), the number of a pharmaceutical product in Germany: seven digits and a check digit.
///
/// Numbers issued before 2013 have six digits and a check digit. With a zero in front they are the same number (IFA
/// coding system, *PZN check digit calculation*).
struct Pharmazentralnummer: Hashable, Sendable {
  /// The eight digits.
  let digits: String

  /// Creates the number that seven or eight ASCII digits denote.
  ///
  /// Returns `nil` for anything else, and for a wrong check digit.
  init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == 7 || bytes.count == 8, bytes.allSatisfy(ASCII.isDigit) else { return nil }
    let padded = (bytes.count == 7 ? [UInt8(ascii: "0")] : []) + Array(bytes)
    var sum = 0
    for (index, byte) in padded.dropLast().enumerated() { sum += (index + 1) * Int(byte - UInt8(ascii: "0")) }
    // A sum of 10 modulo 11 has no digit; such numbers are not issued.
    guard let last = padded.last, sum % 11 == Int(last - UInt8(ascii: "0")) else { return nil }
    digits = String(decoding: padded, as: UTF8.self)
  }

  /// The National Trade Item Number, which is a GTIN: 4150, the eight digits, and a check digit.
  var gtin: GTIN? {
    let body = Array("4150".utf8) + Array(digits.utf8)
    return GTIN.checkDigit(following: body).flatMap { GTIN(utf8: body + [$0]) }
  }

  /// The texts by which a catalogue may know the product: eight digits, seven if the first is zero, and both with the
  /// hyphen that Code 39 contains.
  var spellings: [String] {
    let numbers = digits.hasPrefix("0") ? [digits, String(digits.dropFirst())] : [digits]
    return numbers + numbers.map { "-" + $0 }
  }
}

/// A Pharmacy Product Number (PPN): a product registration agency of two characters, the national number, and two check
/// digits. The agency 11 is the PZN (IFA, *PPN Technical Specifications*).
struct PharmacyProductNumber: Hashable, Sendable {
  /// The national number, without agency and check digits.
  let nationalNumber: String
  /// The agency.
  let agency: String

  /// Creates the number that `bytes` denotes. Returns `nil` if the form or the check digits are wrong.
  init?(_ bytes: some Collection<UInt8>) {
    let number = Array(bytes)
    guard (5...22).contains(number.count), number.allSatisfy({ ASCII.isDigit($0) || ASCII.isUpper($0) }) else {
      return nil
    }
    var sum = 0
    for (index, byte) in number.dropLast(2).enumerated() { sum += (index + 2) * Int(byte) }
    let check = sum % 97
    guard number.suffix(2).elementsEqual([check / 10, check % 10].map { UInt8(ascii: "0") + UInt8($0) }) else {
      return nil
    }
    agency = String(decoding: number.prefix(2), as: UTF8.self)
    nationalNumber = String(decoding: number.dropFirst(2).dropLast(2), as: UTF8.self)
  }

  /// The PZN in the number; `nil` if the agency is another one.
  var pzn: Pharmazentralnummer? { agency == "11" ? Pharmazentralnummer(nationalNumber.utf8) : nil }
}
