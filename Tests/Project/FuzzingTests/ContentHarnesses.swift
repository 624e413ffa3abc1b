import Barcodes

/// The typed data of a scan: sound values, and issues whose positions are in the scanned text.
@Sendable func fuzzContent(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let year = input.number(below: 10_000)
  guard let today = ScanDate(year: year, month: 2, day: 28) else { return }
  let configuration = choice & 1 == 0 ? ScanConfiguration() : ScanConfiguration(separators: ["|", "^]", "<GS>"])
  let symbology = choice & 6 == 6 ? SymbologyIdentifier("]d2") : nil
  let text = String(decoding: input.rest, as: UTF8.self)
  let scan = Scan(text, symbology: symbology, configuration: configuration)
  let content = scan.content(today: today)
  let byteCount = text.utf8.count
  require(content.issues.allSatisfy { (0...byteCount).contains($0.position) }, "content: a position outside the text")
  require(content.issues.allSatisfy { !$0.reason.isEmpty }, "content: an issue without a reason")
  let positions = content.issues.map(\.position)
  require(positions == positions.sorted(), "content: issues out of order")
  check(content.data.fields)
  let isEmpty = content.data.isEmpty && content.issues == scan.issuesOfFrame
  require(scan.elements != nil || scan.label != nil || isEmpty, "content: a plain text states something")
  _ = scan.identifiesAnotherThing
}

/// A label alone.
@Sendable func fuzzLabel(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  guard let today = ScanDate(year: input.number(below: 10_000), month: 12, day: 31) else { return }
  let text = String(decoding: input.rest, as: UTF8.self)
  guard let label = Label(text, symbology: choice & 1 == 0 ? nil : SymbologyIdentifier("]A0")) else { return }
  require(label.parts.count <= Label.maximumPartCount, "label: too many parts")
  require(label.parts.allSatisfy { !$0.isEmpty }, "label: an empty part")
  require(Set(label.parts).count == label.parts.count, "label: a part twice")
  require(label.elements.allSatisfy { !$0.ai.isEmpty }, "label: an element without an identifier")
  if let gtin = label.gtin { require(GTIN(value: gtin.value) == gtin, "label: a GTIN that is not valid") }
  check(label.data(today: today).fields)
  let issues = label.issues(today: today)
  require(issues.allSatisfy { text.utf8.indices.count > $0.position && $0.position >= 0 }, "label: a position outside")
  require(issues.map(\.position) == issues.map(\.position).sorted(), "label: issues out of order")
}

/// Names occur once, and numbers are written as decimals without an exponent.
private func check(_ fields: [ScanData.Field]) {
  require(Set(fields.map(\.name)).count == fields.count, "data: a name twice")
  for field in fields {
    require(!field.name.isEmpty && !field.name.contains("."), "data: a wrong name")
    check(field.value)
  }
}

private func check(_ value: ScanValue) {
  switch value {
  case .text, .flag: break
  case .number(let number), .quantity(let number, _), .money(let number, _): check(number)
  case .date(let date): check(date)
  case .dateTime(let moment):
    check(moment.date)
    require(moment.description.utf8.count == (moment.second == nil ? 16 : 19), "data: a time of another length")
  case .list(let values): values.forEach(check)
  case .fields(let fields): check(fields)
  }
}

private func check(_ date: ScanDate) {
  require(
    ScanDate(year: date.year, month: date.month, day: date.day) == date, "data: a date that the calendar does not have")
  require(ScanDate(daysSince1970: date.daysSince1970) == date, "data: another date by its number")
  require(date.description.utf8.count == 10, "data: a date of another length")
}

private func check(_ number: ExactDecimal) {
  let text = number.description.utf8
  require(
    !text.isEmpty && text.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D }, "data: no decimal")
  require(number == number.normalized, "data: another number when normalized")
}

/// Rules for restricted numbers, from presets and from any texts, and numbers that they read.
@Sendable func fuzzMeasures(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  var rules = MeasureRules()
  if choice & 1 == 0 {
    let names = MeasurePreset.names
    var entries = [MeasureRules.Entry.preset(names[input.number(below: names.count)])]
    if choice & 2 != 0 { entries.append(.preset(names[input.number(below: names.count)])) }
    guard let made = try? MeasureRules(entries) else { return }
    rules = made
  } else {
    guard let rule = rule(&input, choice), let made = try? MeasureRules([.rule(rule)]) else { return }
    rules = made
  }
  let text = String(decoding: input.rest, as: UTF8.self)
  let gtin = GTIN(text)
  let result = rules.reading(ofDigits: text)
  if let gtin { require(rules.reading(of: gtin) == result, "measures: digits and number read differently") }
  switch result {
  case .success(let reading):
    require(reading.gtin == gtin, "measures: another number")
    require(reading.gtin?.isRestricted != false, "measures: a number that is not restricted")
    require(reading.itemNumber.isRestricted, "measures: an item that is not restricted")
    require(Set(reading.keys).count == reading.keys.count, "measures: a key twice")
    require(!reading.explanation.isEmpty, "measures: no explanation")
    check([reading.field])
  case .failure(let refusal):
    require(!refusal.description.isEmpty && !refusal.explanation.isEmpty, "measures: no reason")
  case nil: break
  }
}

/// A rule of the texts at the start of the input, if they make one.
private func rule(_ input: inout Input, _ choice: UInt8) -> MeasureRule? {
  let measure = ["weight", "price", "count", ""][Int(choice >> 1 & 3)]
  let pattern = ["PPIIIIIVVVVVC", "PPIIIIKVVVVVC", "PIIIIIKVVVVC", "PIIVVVVC"][Int(choice >> 3 & 3)]
  let decimals = Int(input.byte() % 12)
  let prefix = String(decoding: input.bytes(Int(choice >> 5 & 3)), as: UTF8.self)
  let replaced = input.number(below: 2 * pattern.utf8.count)
  var letters = Array(pattern.utf8)
  if replaced < letters.count { letters[replaced] = input.byte() }
  return try? MeasureRule(
    name: "rule", prefix: prefix, pattern: String(decoding: letters, as: UTF8.self), measure: measure,
    decimals: measure == "count" ? nil : decimals, unit: measure == "weight" ? "kg" : nil,
    currency: measure == "price" ? "EUR" : nil,
    innerCheck: letters.contains(UInt8(ascii: "K"))
      ? (letters.count == 13 ? "5-digit price" : "4-digit price") : nil)
}

/// Digital Links whose last part is any bits in base64url, wholly compressed or after a key.
@Sendable func fuzzCompressedLink(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  var characters: [UInt8] = []
  var bits = 0
  var bitCount = 0
  for byte in input.rest {
    bits = bits << 8 | Int(byte)
    bitCount += 8
    while bitCount >= 6 {
      bitCount -= 6
      characters.append(alphabet[bits >> bitCount & 63])
    }
    bits &= 63
  }
  if bitCount > 0 { characters.append(alphabet[bits << (6 - bitCount) & 63]) }
  let part = String(decoding: characters, as: UTF8.self)
  let path = choice & 1 == 0 ? "" : "01/09506000134352/"
  let address = "https://example.org/" + path + part + (choice & 2 == 0 ? "" : "?17=270617")
  guard let link = DigitalLink(address) else { return }
  check(link)
  require(
    link.issues.allSatisfy { (0..<address.utf8.count).contains($0.position) }, "link: a position outside the address")
  let scan = Scan(address)
  require(scan.kind == .digitalLink && scan.elements == link.elements, "link: another reading as a scan")
  guard let today = ScanDate(year: 2026, month: 11, day: 23) else { return }
  check(scan.content(today: today).data.fields)
}
