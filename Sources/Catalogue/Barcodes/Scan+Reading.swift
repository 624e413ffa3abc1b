extension Scan {
  /// What is found in a text, one decision after another.
  struct Reading: Hashable, Sendable {
    var payload = ""
    var symbology: SymbologyIdentifier?
    var kind = Kind.text
    var gtin: GTIN?
    var upcE: GTIN?
    var checkDigit = CheckDigit.none
    var elements: ElementString?
    var details: Details?
    var addOn: String?
    var evidence = Evidence.none

    init(of text: String, _ declared: SymbologyIdentifier?, configuration: ScanConfiguration) {
      guard declared == nil else {
        symbology = declared
        readAnything(text, configuration)
        return
      }
      // Most scans are only the digits of a GTIN. Nothing can be trimmed from digits, so the text is its own payload.
      var run = DigitRun()
      for byte in text.utf8 {
        guard run.append(byte), run.count <= DigitRun.valueDigitCount else {
          readAnything(text, configuration)
          return
        }
      }
      payload = text
      if run.count > configuration.maximumLength {
        kind = .digits
      } else {
        readNumber(run)
      }
    }

    private mutating func readAnything(_ text: String, _ configuration: ScanConfiguration) {
      let bytes = Array(text.utf8)
      var data = Noise.trimmed(bytes[...])
      if let identifier = SymbologyIdentifier(startOf: data) {
        symbology = identifier
        data = Noise.trimmedAtStart(data.dropFirst(SymbologyIdentifier.byteCount))
      }
      payload = data.count == bytes.count ? text : String(decoding: data, as: UTF8.self)

      let run = DigitRun(data)
      guard data.count <= configuration.maximumLength else {
        kind = run == nil ? .text : .digits
        return
      }
      if data.isEmpty {
        kind = .empty
      } else if DigitalLink.endOfScheme(bytes, from: data.startIndex) != nil {
        readAddress(Array(data))
      } else if !readLabel(data), !readElements(data, configuration), let run {
        readNumber(run)
      }
    }

    /// Reads a web address. It never has a head.
    private mutating func readAddress(_ bytes: [UInt8]) {
      guard let link = DigitalLink(bytes, from: 0) else {
        kind = .url
        return
      }
      kind = .digitalLink
      evidence = .form
      if !link.issues.isEmpty { details = Details(linkIssues: link.issues) }
      take(link.elements)
    }

    /// Reads a label that is not GS1's. Returns whether it certainly is one.
    private mutating func readLabel(_ data: ArraySlice<UInt8>) -> Bool {
      guard let first = data.first, Label.mayBegin(with: first, symbology),
        let label = Label(bytes: Array(data), symbology: symbology)
      else { return false }
      details = Details(label: label)
      if label.isWeak { return false }
      if let strings = label.elementStrings {
        var read = ElementString(separated: strings.bytes, from: strings.start)
        // A separator that was sent as text is replaced by several, to keep the offsets.
        read.faults.removeAll { $0.fault == .emptyElement }
        kind = read.elements.isEmpty && read.fault != nil ? .gs1Bad : .gs1
        evidence = .form
        take(read)
      } else {
        kind = .label
        gtin = label.gtin
        checkDigit = gtin == nil ? .none : .valid
      }
      return true
    }

    /// Reads element strings, if there is evidence for them. Returns whether there is.
    private mutating func readElements(_ data: ArraySlice<UInt8>, _ configuration: ScanConfiguration) -> Bool {
      let bytes = Separators.normalized(data, configuration.separators)
      let start = bytes.firstIndex { $0 != ASCII.groupSeparator } ?? bytes.count
      let isBracketed = ElementString.openedElement(at: start, in: bytes) != nil
      if symbology?.isGS1 == true {
        evidence = .carrier
      } else if symbology?.isEANUPC == true || bytes.starts(with: "[)>\u{1E}".utf8) {
        // A message of ISO/IEC 15434 that is no label has GS too, but no GS1 data.
        return false
      } else if isBracketed || bytes.contains(ASCII.groupSeparator) {
        evidence = .form
      } else if bytes.starts(with: "01".utf8), GTIN(utf8: bytes.dropFirst(2).prefix(14)) != nil,
        bytes.count >= 16
      {
        evidence = .digits
      } else if bytes.starts(with: "00".utf8), bytes.count == 20, DigitRun(bytes.dropFirst(2))?.endsInCheckDigit == true
      {
        // The label of a pallet, whose number has 18 digits.
        evidence = .digits
      } else {
        return false
      }
      let read =
        isBracketed
        ? ElementString(bracketed: bytes, from: start) : ElementString(separated: bytes, from: start)
      kind = read.elements.isEmpty && read.fault != nil ? .gs1Bad : .gs1
      take(read)
      return true
    }

    private mutating func take(_ read: ElementString) {
      elements = read
      // AI (02) does not replace a damaged (01), because it identifies something else.
      gtin = read["01"] == nil ? read.contentGTIN : read.gtin
      checkDigit = gtin == nil ? .none : .valid
    }

    /// Reads a payload of only digits.
    private mutating func readNumber(_ run: DigitRun) {
      if run.count == 0 {
        kind = .empty
      } else if symbology?.hasAddOn == true {
        readNumberWithAddOn(run)
      } else if run.count == 10, details == nil {
        kind = .digits
        details = Label(payload, symbology: symbology).map { Details(label: $0) }
      } else {
        readPlainNumber(run)
      }
    }

    private mutating func readPlainNumber(_ run: DigitRun) {
      guard run.hasLengthOfGTIN else {
        kind = .digits
        return
      }
      let plain = GTIN(run)
      if symbology?.isEAN8 != true { upcE = GTIN(upcE: run) }
      // EAN-13, UPC-A and UPC-E share an identifier, and of these only UPC-E has eight digits.
      let isUPCE = symbology?.isEAN13OrUPC == true && upcE != nil
      gtin = isUPCE ? upcE : plain ?? upcE
      checkDigit = gtin == nil ? .invalid : .valid
      guard let gtin else { return }
      // Both are equal if there is no GTIN-8, and for numbers such as eight zeros that identify the same item either
      // way.
      if gtin == upcE {
        kind = .upcE
      } else {
        kind = gtin.isRestricted ? .rcn : .gtin
      }
    }

    /// Reads `]E3` data: a number of 13, 12 or 8 digits and an add-on of 5 or 2. The lengths are ambiguous only at 13
    /// digits, which may also be a number whose add-on was not read.
    private mutating func readNumberWithAddOn(_ run: DigitRun) {
      let digits = payload.utf8
      if GTIN(run) == nil || run.count != 13 {
        for (itemCount, addOnCount) in [(13, 5), (13, 2), (12, 5), (12, 2), (8, 5), (8, 2)]
        where run.count == itemCount + addOnCount {
          guard let item = DigitRun(digits.prefix(itemCount)) else { return }
          readPlainNumber(item)
          if gtin != nil { addOn = String(payload.suffix(addOnCount)) }
          return
        }
      }
      readPlainNumber(run)
    }
  }
}
