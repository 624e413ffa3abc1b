import Barcodes

/// A scan of any bytes: every reading keeps its rules, and read again it is the same.
@Sendable func fuzzScan(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let configuration =
    choice & 1 == 0
    ? ScanConfiguration() : ScanConfiguration(separators: ["|", "^", "<GS>"], maximumLength: 30)
  let text = String(decoding: input.rest, as: UTF8.self)
  let scan = Scan(text, configuration: configuration)
  check(scan)
  if let folded = scan.folded { check(folded) }
  // What is left when noise and symbology identifier are taken off is not read differently by itself.
  let again = Scan((scan.symbology?.description ?? "") + scan.payload, configuration: configuration)
  require(again.issuesOfFrame.isEmpty, "scan: a payload with invisible characters around it")
  require(again.symbology == scan.symbology && again.payload.isBytewiseEqual(to: scan.payload), "scan: another payload")
  require(again.kind == scan.kind && again.gtin == scan.gtin && again.upcE == scan.upcE, "scan: another reading")
  require(again.checkDigit == scan.checkDigit && again.elements == scan.elements, "scan: another reading")
  require(again.addOn == scan.addOn && again.refusal == scan.refusal, "scan: another reading")
  require(again.codeKind == scan.codeKind && again.label == scan.label, "scan: another reading")
}

private func check(_ scan: Scan) {
  require(contains(Array(scan.text.utf8), Array(scan.payload.utf8)), "scan: its payload is no part of its text")
  for gtin in [scan.gtin, scan.upcE].compactMap({ $0 }) {
    require(gtin.spellings.allSatisfy { GTIN($0) == gtin }, "scan: a spelling that is another GTIN")
    require(GTIN(value: gtin.value) == gtin, "scan: a GTIN that is not valid")
    require(Scan(gtin.digits).gtin == gtin, "scan: the canonical form reads as another GTIN")
  }
  require((scan.checkDigit == .valid) == (scan.gtin != nil), "scan: check digit without GTIN")
  require((scan.elements != nil) == [.gs1, .gs1Bad, .digitalLink].contains(scan.kind), "scan: elements and kind")
  require((scan.kind == .empty) == scan.payload.isEmpty, "scan: an empty payload and its kind")
  let ends = scan.payload.utf8.starts(with: scan.itemText.utf8) && scan.payload.hasSuffix(scan.addOn ?? "")
  require(ends && (scan.addOn != nil || scan.itemText.isBytewiseEqual(to: scan.payload)), "scan: item text and add-on")
  if let reading = scan.possibleAddOn {
    require(scan.addOn == nil && scan.payload.hasSuffix(reading.addOn), "scan: an add-on that is not at the end")
  }
  for codes in scan.possibleGluedCodes {
    let areCodes = codes.allSatisfy { Scan($0, configuration: scan.configuration).gtin != nil }
    require(codes.count > 1 && areCodes, "scan: glued codes that are none")
  }
  require(scan.exactTexts.isEmpty != scan.allowsExactText, "scan: texts to compare")
  _ = scan.issuesOfFrame
  require(!scan.allowsHead || scan.allowsExactText, "scan: head without exact text")
  require(scan.canMatch || scan.refusal != nil, "scan: no reason")
  _ = scan.headText
  _ = scan.refusal?.description
  if let elements = scan.elements { check(elements) }
}

private func check(_ elements: ElementString) {
  _ = elements.fault?.description
  // In brackets, an unknown identifier is part of the text before it.
  if elements.elements.allSatisfy({ ApplicationIdentifier($0.ai) != nil }) {
    let bracketed = ElementString(bracketed: elements.description)
    require(bracketed.elements == elements.elements, "elements: others when bracketed and read")
  }
  var separated = ""
  for element in elements.elements {
    require(element.value.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "elements: a value that cannot be printed")
    separated += element.ai + element.value + "\u{1D}"
  }
  require(ElementString(separated: separated).elements == elements.elements, "elements: others when separated and read")
  if elements.gtin != nil {
    var link = "https://example.org"
    for (index, element) in elements.elements.enumerated() where index == 0 || element.ai != "01" {
      link += (link.contains("?") ? "&" : "?") + element.ai + "=" + percentEncoded(element.value)
    }
    // The key stands in the path; everything may follow as attributes.
    link = link.replacing("https://example.org", with: "https://example.org/01/" + (elements["01"] ?? ""))
    require(DigitalLink(link)?.elements.gtin == elements.gtin, "elements: a link with another GTIN")
  }
}

func check(_ link: DigitalLink) {
  require(
    !link.elements.elements.isEmpty || link.elements.fault != nil || !link.issues.isEmpty, "link: it says nothing")
  require(link.issues.allSatisfy { !$0.reason.isEmpty }, "link: an issue without a reason")
  check(link.elements)
}

private func percentEncoded(_ text: String) -> String {
  text.utf8.reduce(into: "") { $0 += "%" + ($1 < 16 ? "0" : "") + String($1, radix: 16) }
}

/// The three notations of element strings, each on its own.
@Sendable func fuzzElements(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let text = String(decoding: input.rest, as: UTF8.self)
  switch choice % 4 {
  case 0: check(ElementString(separated: text))
  case 1: check(ElementString(bracketed: text))
  case 2:
    if let link = DigitalLink(text) {
      require(DigitalLink.isWebAddress(text), "link: no web address")
      check(link)
    }
  default:
    if let gtin = GTIN(text) {
      require(gtin.digits.utf8.count == 14 && gtin.digits.hasSuffix(text), "GTIN: other digits")
      require(GTIN.checkDigit(following: gtin.digits.utf8.dropLast()) == gtin.digits.utf8.last, "GTIN: check digit")
      _ = gtin.isRestricted
    }
    if let identifier = SymbologyIdentifier(text) {
      require(identifier.description == text, "symbology: another text")
    }
  }
}

private func contains(_ whole: [UInt8], _ part: [UInt8]) -> Bool {
  part.isEmpty
    || part.count <= whole.count
      && (0...(whole.count - part.count)).contains { whole[$0...].starts(with: part) }
}

extension String {
  fileprivate func isBytewiseEqual(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
