@testable import Barcodes

/// A difference between our reading of an element string and biip's, by its class.
///
/// The classes are listed and judged in Documentation/ScanComparison.md, by their raw values.
enum BiipDifference: String, CaseIterable {
  // biip reads everything, and we report something.
  case repeatedWithOtherValue = "repeated with another value"
  case statedTwice = "the same fact twice"
  case missingSeparator = "missing separator"
  case twoSeparators = "two separators"
  case keyCheckDigit = "check digit of other keys"
  case contentOfText = "codes inside values"
  case dayMissing = "day 00 where it is not allowed"
  case formOfCoupon = "coupon codes"
  case tooLong = "too long"
  case empty = "empty values"
  case restOfValue = "rest of a value"
  // biip refuses, and we read everything.
  case periodOfHarvest = "harvest period"
  case componentPart = "component parts"
  case blanks = "blanks around a value"
  case base64 = "base64url"
  // Both read everything, and differ in what it says.
  case fewDigits = "fewer digits than decimals"
  case dateOfRange = "date of a period"
  // The rest. No class after this line is on the page: each would be a fault of one of the two.
  case onlyBiipRefuses = "only biip refuses"
  case onlyWeReport = "only we report"
  case biipFails = "an exception in biip"
  case otherDate = "another date"
  case otherDecimal = "another decimal"
  case otherSoundness = "another check"
  case otherElements = "other elements"
}

/// The comparison of one element string.
struct BiipComparison {
  let scan: Scan
  let content: Scan.Content
  let other: BiipReading

  /// Reads the text, which has a symbology identifier.
  init(_ text: String, _ other: BiipReading, today: ScanDate) {
    scan = Scan(text)
    content = scan.content(today: today)
    self.other = other
  }

  /// The differences, each class once.
  var differences: Set<BiipDifference> {
    if let error = other.error { return differences(from: error) }
    let ours = scan.elements?.elements ?? []
    var found = Set(content.issues.compactMap(difference(of:)))
    if ours.map({ [$0.ai, $0.value] }) != other.elements.map({ [$0.ai, $0.value] }) {
      // The issue is the reason, if there is one.
      if content.issues.isEmpty { found.insert(.otherElements) }
      return found
    }
    for (index, element) in other.elements.enumerated()
    where !other.elements[..<index].contains(where: { $0.ai == element.ai }) {
      found.formUnion(differences(of: element))
    }
    return found
  }

  // MARK: biip has read everything

  /// Whether biip reports this issue too: its check of the GTIN, the SSCC or the GLN fails.
  private func isKnownToBiip(_ issue: ScanIssue) -> Bool {
    other.elements.contains { $0.ai == issue.ai && $0.sound == false }
  }

  private func difference(of issue: ScanIssue) -> BiipDifference? {
    let reason = issue.reason
    if isKnownToBiip(issue) { return nil }
    if reason.contains("occurs again") { return .repeatedWithOtherValue }
    if reason.contains(" again; the first counts") { return .statedTwice }
    if reason.hasPrefix("no separator follows") { return .missingSeparator }
    if reason == "two separators follow each other" { return .twoSeparators }
    if let ai = issue.ai, ["8110", "8112"].contains(ai) { return .formOfCoupon }
    if reason.contains("check digit") || reason.contains("check character") { return .keyCheckDigit }
    if reason.contains("the day is missing") { return .dayMissing }
    if reason.hasSuffix("is too long") { return .tooLong }
    if reason.hasSuffix("is too short") { return .empty }
    // biip takes what it can of the value, and what follows for the next identifier.
    if reason.contains("a character that") || reason.contains("is too short: the format") { return .restOfValue }
    if reason.contains("': ") || reason.contains("percent-encoded") { return .contentOfText }
    return .onlyWeReport
  }

  private func differences(of element: BiipReading.Element) -> Set<BiipDifference> {
    var found: Set<BiipDifference> = []
    let hasIssue = content.issues.contains { $0.ai == element.ai }
    if element.sound == true, hasIssue, content.issues.contains(where: { $0.ai == element.ai && isCheckDigit($0) }) {
      found.insert(.otherSoundness)
    }
    if element.sound == false, !hasIssue { found.insert(.otherSoundness) }
    guard !hasIssue, let identifier = ApplicationIdentifier(element.ai) else { return found }
    let value = content.data[identifier.name]
    if let date = element.moment.map({ String($0.prefix(16)) }) ?? element.date {
      switch value {
      case .date(let ours) where ours.description == date: break
      case .dateTime(let ours) where ours.description.prefix(16) == date: break
      case .fields: found.insert(.dateOfRange)
      default: found.insert(.otherDate)
      }
    }
    if let decimal = element.decimal, value?.decimal?.description != decimal {
      let decimals = Int(element.ai.suffix(1)) ?? 0
      let digits = element.value.count - (identifier.components.count == 2 ? 3 : 0)
      found.insert(digits < decimals ? .fewDigits : .otherDecimal)
    }
    return found
  }

  private func isCheckDigit(_ issue: ScanIssue) -> Bool { issue.reason.contains("check digit") }

  // MARK: biip has refused everything

  private func differences(from error: String) -> Set<BiipDifference> {
    guard error.hasPrefix("Failed to ") else { return [.biipFails] }
    // biip stops at its first fault; ours may be the same or, after it, another one.
    if !content.issues.isEmpty { return [] }
    let hasIdentifier = !error.hasPrefix("Failed to get ")
    let ai =
      !hasIdentifier ? nil : error.split(separator: "(").dropFirst().first.map { String($0.prefix { $0 != ")" }) }
    // One of a message of several may be the reason: biip names it, except where it cut a value off before.
    switch ai {
    case "7007": return [.periodOfHarvest]
    case "8010": return [.componentPart]
    case "8030": return [.base64]
    case nil where scan.elements?["8010"] != nil: return [.componentPart]
    case nil where scan.elements?["8030"] != nil: return [.base64]
    // A blank inside a value is an issue; one at its ends is removed.
    default: return scan.text.contains(" ") ? [.blanks] : [.onlyBiipRefuses]
    }
  }
}

extension ScanValue {
  /// The number of a value that has one.
  fileprivate var decimal: ExactDecimal? {
    switch self {
    case .number(let number), .quantity(let number, _), .money(let number, _): number
    default: nil
    }
  }
}
