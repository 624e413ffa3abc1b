/// A check of a component's content. The names are those of the GS1 Barcode Syntax Dictionary.
enum ElementCheck: String, Sendable {
  case csum, csumalpha, yymmdd, yymmd0, yyyymmdd, hhmi, hh, mi, ss
  case iso3166, iso3166999, iso3166alpha2, iso4217, iso5218, iban
  case latitude, longitude, yesno, hyphen, zero, nonzero, nozeroprefix, hasnondigit, winding
  case pieceoftotal, posinseqslash, importeridx, mediatype, packagetype, pcenc, couponcode, couponposoffer

  /// Returns why a component is wrong, for users; `nil` if it is right.
  ///
  /// - Parameter value: A component with the right characters and length.
  func problem(of value: ArraySlice<UInt8>) -> String? {
    let number = { DigitRun(value)?.value ?? 0 }
    switch self {
    case .csum: return DigitRun(value)?.endsInCheckDigit == true ? nil : "the check digit is wrong"
    case .csumalpha: return ModelNumber.hasCheckCharacters(value) ? nil : "the check characters are wrong"
    // The calendar is consulted when the value is converted.
    case .yymmdd, .yymmd0, .yyyymmdd: return nil
    case .hhmi: return number() / 100 < 24 && number() % 100 < 60 ? nil : "\(text(value)) is no time of day"
    case .hh: return number() < 24 ? nil : "\(text(value)) is no hour"
    case .mi: return number() < 60 ? nil : "\(text(value)) is no minute"
    case .ss: return number() < 60 ? nil : "\(text(value)) is no second"
    case .iso3166: return NumericCodes.country(Int(number())) != nil ? nil : "\(text(value)) is no country of ISO 3166"
    case .iso3166999:
      let isCountry = number() == 999 || NumericCodes.country(Int(number())) != nil
      return isCountry ? nil : "\(text(value)) is no country of ISO 3166"
    case .iso3166alpha2: return NumericCodes.isCountry(text(value)) ? nil : "\(text(value)) is no country of ISO 3166"
    case .iso4217:
      return NumericCodes.currency(Int(number())) != nil ? nil : "\(text(value)) is no currency of ISO 4217"
    case .iso5218: return [0, 1, 2, 9].contains(number()) ? nil : "\(text(value)) is none of 0, 1, 2 and 9"
    case .iban: return BankAccount.isValid(value) ? nil : "the check digits of the IBAN are wrong"
    case .latitude: return number() <= 1_800_000_000 ? nil : "\(text(value)) is no latitude"
    case .longitude: return number() <= 3_600_000_000 ? nil : "\(text(value)) is no longitude"
    case .yesno: return number() <= 1 ? nil : "\(text(value)) is neither 0 nor 1"
    case .hyphen: return value.first == UInt8(ascii: "-") ? nil : "only - may follow the number"
    case .zero: return number() == 0 ? nil : "the first digit must be 0"
    case .nonzero: return number() > 0 ? nil : "\(text(value)) must not be zero"
    case .nozeroprefix:
      return value.count == 1 || value.first != UInt8(ascii: "0") ? nil : "the number must not begin with 0"
    case .hasnondigit: return value.contains { !ASCII.isDigit($0) } ? nil : "there must be a character that is no digit"
    case .winding: return [0, 1, 9].contains(number()) ? nil : "\(text(value)) is none of 0, 1 and 9"
    case .pieceoftotal:
      let (piece, total) = (number() / 100, number() % 100)
      return piece > 0 && piece <= total ? nil : "there is no piece \(piece) of \(total)"
    case .posinseqslash:
      let isOrder =
        value.count == 3 && value[value.startIndex + 1] == ASCII.slash
        && isOrdered(value[value.startIndex], value[value.startIndex + 2])
      return isOrder ? nil : "\(text(value)) is not written as 1/2"
    case .importeridx:
      let isIndex = value.allSatisfy { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
      return isIndex ? nil : "\(text(value)) is no importer index"
    case .mediatype:
      return (1...10).contains(number()) || (80...99).contains(number()) ? nil : "\(text(value)) is no type of medium"
    // UN/ECE Recommendation 21, which changes twice a year: only its form is checked.
    case .packagetype:
      let isCode = value.allSatisfy { ASCII.isDigit($0) || ASCII.isUpper($0) }
      return isCode ? nil : "\(text(value)) is no type of package"
    case .pcenc: return ElementCheck.hasWholeEscapes(value) ? nil : "% must be followed by two hexadecimal digits"
    case .couponcode: return CouponCode.problem(of: value)
    case .couponposoffer: return CouponCode.problem(ofPositiveOffer: value)
    }
  }

  private func text(_ value: ArraySlice<UInt8>) -> String { String(decoding: value, as: UTF8.self) }

  /// Whether two digits are a number from 1, and a total that is not less.
  private func isOrdered(_ position: UInt8, _ total: UInt8) -> Bool {
    ASCII.isDigit(position) && ASCII.isDigit(total) && position > UInt8(ascii: "0") && position <= total
  }

  /// Whether two hexadecimal digits follow each percent sign.
  private static func hasWholeEscapes(_ value: ArraySlice<UInt8>) -> Bool {
    for (index, byte) in zip(value.indices, value) where byte == UInt8(ascii: "%") {
      let digits = value[(index + 1)...].prefix(2)
      let areHexadecimal = digits.allSatisfy { ASCII.isDigit($0) || (0x61...0x66).contains(ASCII.lowercased($0)) }
      guard digits.count == 2, areHexadecimal else { return false }
    }
    return true
  }
}

/// The check characters of a Global Model Number (GS1 General Specifications 7.9.5).
enum ModelNumber {
  private static let primes = [
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83,
  ]
  /// Character set 82 in the order of the characters' values.
  private static let characters = Array(
    "!\"%&'()*+,-./0123456789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)
  private static let checkCharacters = Array("23456789ABCDEFGHJKLMNPQRSTUVWXYZ".utf8)

  /// Returns whether the last two characters are the check characters of those before them.
  static func hasCheckCharacters(_ value: ArraySlice<UInt8>) -> Bool {
    let model = value.dropLast(2)
    guard value.count > 2, model.count <= primes.count else { return false }
    var sum = 0
    for (byte, prime) in zip(model.reversed(), primes) {
      guard let number = characters.firstIndex(of: byte) else { return false }
      sum += number * prime
    }
    sum %= 1021
    return value.suffix(2).elementsEqual([checkCharacters[sum >> 5], checkCharacters[sum & 31]])
  }
}

/// The check digits of an International Bank Account Number (ISO 13616-1, by ISO/IEC 7064 MOD 97-10).
enum BankAccount {
  /// Returns whether a value is an account number with right check digits.
  static func isValid(_ value: ArraySlice<UInt8>) -> Bool {
    let rearranged = value.dropFirst(4) + value.prefix(4)
    guard value.count > 4, value.prefix(2).allSatisfy(ASCII.isUpper),
      value.dropFirst(2).prefix(2).allSatisfy(ASCII.isDigit)
    else { return false }
    var remainder = 0
    for byte in rearranged {
      if ASCII.isDigit(byte) {
        remainder = (remainder * 10 + Int(byte - UInt8(ascii: "0"))) % 97
      } else if ASCII.isUpper(byte) {
        // A is 10, Z is 35.
        remainder = (remainder * 100 + Int(byte - UInt8(ascii: "A")) + 10) % 97
      } else {
        return false
      }
    }
    return remainder == 1
  }
}
