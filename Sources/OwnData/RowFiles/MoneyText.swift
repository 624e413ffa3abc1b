/// Amounts of money as people write them: `$5.00`, `1.234,56 €`, `US$ 1,234.56`, `CHF 5.-`, `(5.00)`.
enum MoneyText {
  /// The number of an amount, with a point as its decimal separator; an empty text for blanks.
  ///
  /// The currency may stand on either side, and is left out. A minus may stand before or after the digits, or
  /// parentheses around them.
  ///
  /// - Parameters:
  ///   - text: The amount.
  ///   - decimal: The decimal separator, a point or a comma; `nil` to take amounts that can only mean one number.
  /// - Throws: `RowRefusal` for a text that is no amount, or can mean two numbers.
  static func number(_ text: String, decimal: Character?) throws(RowRefusal) -> String {
    var rest = Blanks.trimmed(String(text.map(RowFieldPlan.narrow)))[...]
    if rest.isEmpty { return "" }
    var isNegative = false
    if rest.first == "(", rest.last == ")" {
      isNegative = true
      rest = rest.dropFirst().dropLast()
    }
    guard let first = rest.firstIndex(where: isDigit), let last = rest.lastIndex(where: isDigit) else {
      throw RowRefusal("this is no amount of money; \(NullWords.remedy(text))")
    }
    var start = first
    if let sign = rest[..<first].last, sign == "." || sign == ",", side(rest[..<first]) == nil {
      // $.50, but neither Rs.50 nor an abbreviation that is not known.
      start = rest.index(before: first)
      if let last = rest[..<start].last, last.isLetter || last == "/" { throw refusal(decimal) }
    }
    let digits = rest[start...last].map { $0.isWhitespace ? " " : $0 }
    var after = rest[rest.index(after: last)...]
    /// The separator of the decimals that a dash stands for, as in 5.- and 5,--.
    var dashed: Character?
    if let separator = after.first, separator == "." || separator == ",", after.dropFirst().first.map(isDash) == true {
      dashed = separator
      after = after.dropFirst().drop(while: isDash)
    }
    guard let before = side(rest[..<start]), let behind = side(after),
      after.first?.isWhitespace != true || !behind.isMinus,
      [isNegative, before.hasSign, behind.hasSign].count(where: { $0 }) <= 1
    else { throw refusal(decimal) }
    if differ(before.currencies + behind.currencies) {
      throw RowRefusal("this amount has two currencies; correct it")
    }
    if before.isMinus || behind.isMinus { isNegative = true }
    let number = try plain(String(digits), decimal: decimal, dashed: dashed)
    return (isNegative ? "-" : "") + (number.hasPrefix(".") ? "0" : "") + number
  }

  /// The number of digits and separators.
  private static func plain(
    _ digits: String, decimal: Character?, dashed: Character?
  ) throws(RowRefusal) -> String {
    if digits.allSatisfy(isDigit) { return digits }
    if let known = decimal ?? dashed {
      guard dashed ?? known == known, let number = RowFieldPlan.pointed(digits, known), isNumber(number),
        dashed == nil || !number.contains(".")
      else { throw refusal(decimal) }
      return number
    }
    let readings = [".", ","].compactMap { RowFieldPlan.pointed(digits, $0) }.filter(isNumber)
    guard let number = readings.first else { throw refusal(decimal) }
    if readings.contains(where: { $0 != number }) {
      throw RowRefusal(
        "this amount can mean two numbers, \(readings.joined(separator: " and ")): give the separator of decimals,"
          + " --decimal . or --decimal ,")
    }
    return number
  }

  /// Whether a text is an amount with something around its number, a currency mostly, whatever its separator of
  /// decimals is.
  static func hasCurrency(_ text: String) -> Bool {
    let hasMore = text.contains { $0.isLetter || $0.isCurrencySymbol || $0 == "(" || isDash($0) }
    if !hasMore { return false }
    for decimal in [".", ","] as [Character] {
      if RowFieldPlan.pointed(text, decimal).map(isNumber) ?? false { return false }
    }
    return [".", ","].contains { decimal in (try? number(text, decimal: decimal)) != nil }
  }

  private static func refusal(_ decimal: Character?) -> RowRefusal {
    let forms = decimal == "," ? "1.234,56 €" : decimal == "." ? "$1,234.56" : "$5.00 or 5,00 €"
    let other = decimal.map { ", or give the other separator of decimals: --decimal \($0 == "," ? "." : ",")" } ?? ""
    return RowRefusal("this is no amount of money; write it as \(forms), with a currency or without one" + other)
  }

  private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

  private static func isNumber(_ text: String) -> Bool {
    text.allSatisfy { isDigit($0) || $0 == "." } && NumberText.double(Array(text.utf8).span) != nil
  }

  private static func isDash(_ character: Character) -> Bool {
    "-\u{2010}\u{2011}\u{2013}\u{2014}\u{2212}".contains(character)
  }

  /// What stands on one side of the digits, without its currency; `nil` for anything that is no currency.
  private static func side(_ text: Substring) -> (hasSign: Bool, isMinus: Bool, currencies: [String])? {
    var signs: [Character] = []
    var currency = ""
    for character in text {
      if isDash(character) || character == "+" { signs.append(character) } else { currency.append(character) }
    }
    // Swedish prices end with a colon and a dash.
    if text.hasPrefix(":-") { (signs, currency) = ([], String(text.dropFirst(2))) }
    let words = currency.split { $0.isWhitespace || $0 == "\u{200E}" || $0 == "\u{200F}" }.map(String.init)
    guard signs.count <= 1, words.allSatisfy(isCurrency) else { return nil }
    return (!signs.isEmpty, signs.first.map(isDash) ?? false, words)
  }

  /// Whether two words are different currencies. A sign and a code may be the same one, as in `$5.00 CAD`.
  private static func differ(_ words: [String]) -> Bool {
    let signs = Set(words.compactMap { word in word.first { $0.isCurrencySymbol } })
    let codes = Set(words.map { $0.uppercased() }.filter(codes.contains))
    if signs.count > 1 || codes.count > 1 { return true }
    guard let sign = signs.first, let code = codes.first else { return false }
    return codesOfSigns[sign].map { !$0.contains(code) } ?? codesOfSigns.values.contains { $0.contains(code) }
  }

  /// The codes of the signs that few currencies have.
  private static let codesOfSigns: [Character: [String]] = [
    "€": ["EUR"], "£": ["GBP", "EGP", "FKP", "GIP", "LBP", "SDG", "SHP", "SSP", "SYP"], "¥": ["JPY", "CNY", "CNH"],
    "￥": ["JPY", "CNY", "CNH"], "₹": ["INR"], "₽": ["RUB"], "₩": ["KRW", "KPW"], "₺": ["TRY"], "₴": ["UAH"],
    "₫": ["VND"], "₪": ["ILS"], "฿": ["THB"], "₱": ["PHP"], "₦": ["NGN"], "₸": ["KZT"],
  ]

  /// Whether a word is a currency: a sign such as `€`, with a few letters as in `US$`; a code of ISO 4217; a common
  /// abbreviation.
  private static func isCurrency(_ word: String) -> Bool {
    let signs = word.unicodeScalars.filter { $0.properties.generalCategory == .currencySymbol }
    if signs.count == 1 {
      return word.count <= 4
        && word.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || $0 == signs.first }
    }
    return codes.contains(word.uppercased()) || abbreviations.contains(word.lowercased())
  }

  /// The codes of ISO 4217.
  private static let codes = Set(
    """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF \
    CHF CLF CLP CNH CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ \
    GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR \
    LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK \
    PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS \
    TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG ZWL
    """.split(separator: " ").map(String.init))

  private static let abbreviations = Set(
    """
    kr kr. zł zl kč kc ft lei leu fr fr. sfr sfr. руб руб. р р. грн грн. лв лв. дин дин. ден ден. din din. rm \
    rp rp. rs rs. r s/ s/. bs bs. b/. rmb euro euros dollar dollars 元 圆 圓 円 원 tl dh dhs nis kn ден
    """.split(separator: " ").map(String.init))
}
