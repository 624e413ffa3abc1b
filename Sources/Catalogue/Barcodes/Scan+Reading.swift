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
    var addOn: String?
    var evidence = Evidence.none
    private var keptDetails: KeptDetails?

    /// Whether the scan has anything that few scans have.
    var hasDetails: Bool { keptDetails != nil }

    /// What few scans have; `nil` if this one has nothing of it.
    var details: Details? {
      get { keptDetails?.details }
      set { keptDetails = newValue.map(KeptDetails.init) }
    }

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
      let visible = Separators(configuration.separators).afterStart(of: data)
      if let identifier = SymbologyIdentifier(startOf: visible) {
        symbology = identifier
        if visible.count < data.count { amend { $0.hasInvisible = true } }
        data = Noise.trimmedAtStart(visible.dropFirst(SymbologyIdentifier.byteCount))
      }
      data = removingInvisible(data, configuration)
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
      } else if !readAddOn(data), !readLabel(data), !readElements(data, configuration), let run {
        readNumber(run)
      }
    }

    /// Removes invisible characters at both ends, and separators if they belong to no GS1 data: some scanners are set to
    /// send one with every code.
    private mutating func removingInvisible(
      _ framed: ArraySlice<UInt8>, _ configuration: ScanConfiguration
    ) -> ArraySlice<UInt8> {
      // A message of ISO/IEC 15434 ends with RS and EOT.
      if framed.starts(with: "[)>".utf8) || framed.starts(with: ">[)>".utf8) { return framed }
      var data = Noise.visible(framed)
      let separators = Separators(configuration.separators)
      if symbology?.isGS1 != true, separators.mayBeAround(data) {
        let inner = separators.inner(of: data)
        if !inner.isEmpty, inner.count < data.count, !inner.contains(ASCII.groupSeparator) {
          if isPlain(inner, between: data, configuration) {
            data = inner
          } else {
            amend { $0.textBetweenSeparators = String(decoding: inner, as: UTF8.self) }
          }
        }
      }
      if data.count < framed.count {
        amend {
          $0.hasInvisible = true
          $0.framedText = String(decoding: framed, as: UTF8.self)
        }
      }
      return data
    }

    /// Returns whether a text between separators is no GS1 data: a sound number, or what cannot be read as elements.
    private func isPlain(
      _ inner: ArraySlice<UInt8>, between data: ArraySlice<UInt8>, _ configuration: ScanConfiguration
    ) -> Bool {
      if symbology?.isEANUPC == true || DigitalLink.endOfScheme(Array(inner), from: 0) != nil { return true }
      if let run = DigitRun(inner), GTIN(run) != nil || GTIN(upcE: run) != nil { return true }
      let bytes = Separators(configuration.separators).normalized(data).bytes
      let start = bytes.firstIndex { $0 != ASCII.groupSeparator } ?? 0
      if ElementString.openedElement(at: start, in: bytes) != nil { return false }
      let read = ElementString(separated: bytes, from: 0)
      return read.elements.isEmpty || read.fault != nil && read.gtin == nil && read.contentGTIN == nil
    }

    /// Changes what few scans have.
    private mutating func amend(_ change: (inout Details) -> Void) {
      var changed = details ?? Details()
      change(&changed)
      details = changed
    }

    /// Reads a web address. It never has a head.
    private mutating func readAddress(_ bytes: [UInt8]) {
      guard let link = DigitalLink(bytes, from: 0) else {
        kind = .url
        return
      }
      kind = .digitalLink
      evidence = .form
      if !link.issues.isEmpty { amend { $0.linkIssues = link.issues } }
      take(link.elements)
    }

    /// Reads a label that is not GS1's. Returns whether it certainly is one.
    private mutating func readLabel(_ data: ArraySlice<UInt8>) -> Bool {
      guard let first = data.first, Label.mayBegin(with: first, symbology) else { return false }
      let bytes = Array(data)
      var label = Label(bytes: bytes, symbology: symbology)
      if label?.namesSomething != true, let other = Label(withSwappedCase: bytes, symbology: symbology) {
        label = other
        amend { $0.hasSwappedCase = true }
      }
      guard let label else { return false }
      amend { $0.label = label }
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
      let normalized = Separators(configuration.separators).normalized(data)
      let bytes = normalized.bytes
      let start = bytes.firstIndex { $0 != ASCII.groupSeparator } ?? bytes.count
      let isBracketed = ElementString.openedElement(at: start, in: bytes) != nil
      if symbology?.isGS1 == true {
        evidence = .carrier
      } else if symbology?.isEANUPC == true || bytes.starts(with: "[)>\u{1E}".utf8) {
        // A message of ISO/IEC 15434 that is no label has GS too, but no GS1 data.
        return false
      } else if isBracketed || !normalized.hasTokens && bytes.contains(ASCII.groupSeparator) {
        evidence = .form
      } else if bytes[start...].starts(with: "01".utf8), GTIN(utf8: bytes[start...].dropFirst(2).prefix(14)) != nil,
        bytes.count >= start + 16
      {
        evidence = .digits
      } else if bytes[start...].starts(with: "00".utf8), bytes.count == start + 20,
        DigitRun(bytes[start...].dropFirst(2))?.endsInCheckDigit == true
      {
        // The label of a pallet, whose number has 18 digits.
        evidence = .digits
      } else if normalized.hasTokens {
        // Ordinary text may contain a text that stands for a separator.
        guard ElementString(separated: bytes, from: 0).fault == nil else { return false }
        evidence = .digits
      } else {
        return false
      }
      var read =
        isBracketed
        ? ElementString(bracketed: bytes, from: start) : ElementString(separated: bytes, from: 0)
      if normalized.hasTokens, !isBracketed, read.fault != nil {
        let asData = Separators(configuration.separators, countsTokens: false).normalized(data)
        let other = ElementString(separated: asData.bytes, from: 0)
        if other.fault == nil {
          read = other
          amend { $0.hasTokensAsData = true }
        }
      }
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
      } else if symbology?.hasAddOn == true || symbology?.mayHaveAddOn == true && !isWhole(run) {
        readNumberWithAddOn(run)
      } else if run.count == 10, details?.label == nil {
        kind = .digits
        if let label = Label(payload, symbology: symbology) { amend { $0.label = label } }
      } else {
        readPlainNumber(run)
      }
    }

    private mutating func readPlainNumber(_ run: DigitRun) {
      guard run.hasLengthOfGTIN else {
        kind = .digits
        if let system = symbology?.upcENumberSystem { readShortUPCE(run, numberSystem: system) }
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

    /// Returns whether digits are a number of their own. An EAN or UPC has no 14 digits, but some scanners add zeros.
    private func isWhole(_ run: DigitRun) -> Bool { run.hasLengthOfGTIN && (run.count != 14 || GTIN(run) != nil) }

    /// Reads a UPC-E number that a scanner sends without its number system, its check digit, or both. Seven digits may
    /// lack either.
    private mutating func readShortUPCE(_ run: DigitRun, numberSystem: Int) {
      switch run.count {
      case 6: gtin = GTIN(upcE: run.value, numberSystem: numberSystem)
      case 7:
        let withCheckDigit = GTIN(upcE: run.value / 10, numberSystem: numberSystem)
        if withCheckDigit.value % 10 == run.value % 10 { gtin = withCheckDigit }
        let first = Int(run.value / 1_000_000)
        if first <= 1 { upcE = GTIN(upcE: run.value % 1_000_000, numberSystem: first) }
        gtin = gtin ?? upcE
      default: return
      }
      checkDigit = gtin == nil ? .invalid : .valid
      if gtin != nil { kind = .upcE }
    }

    /// Reads a number of 13, 12 or 8 digits and an add-on of 5 or 2. The lengths are ambiguous only at 13 digits, which
    /// may also be a number whose add-on was not read, and at 14.
    private mutating func readNumberWithAddOn(_ run: DigitRun) {
      let digits = payload.utf8
      if GTIN(run) == nil || run.count != 13 {
        for (itemCount, addOnCount) in [(13, 5), (13, 2), (12, 5), (12, 2), (8, 5), (8, 2)]
        where run.count == itemCount + addOnCount {
          guard let item = DigitRun(digits.prefix(itemCount)) else { return }
          readPlainNumber(item)
          if gtin != nil { take(addOn: payload.suffix(addOnCount), afterItemOf: itemCount) }
          return
        }
      }
      readPlainNumber(run)
    }

    /// Reads a number and an add-on that are apart: by a blank or `+`, or by the identifier of the add-on, `]E1` or `]E2`.
    /// Returns whether the data are that.
    private mutating func readAddOn(_ data: ArraySlice<UInt8>) -> Bool {
      guard symbology == nil || symbology?.isEANUPC == true else { return false }
      let item = data.prefix(while: ASCII.isDigit)
      guard item.count < data.count, let run = DigitRun(item), [13, 12, 8].contains(run.count) else { return false }
      var rest = data[item.endIndex...]
      var digitCounts: Set<Int> = [2, 5]
      if let identifier = SymbologyIdentifier(startOf: rest), identifier.isAddOnAlone {
        digitCounts = identifier.modifier == "1" ? [2] : [5]
        rest = rest.dropFirst(SymbologyIdentifier.byteCount)
      } else {
        let separators = rest.prefix { $0 == ASCII.blank || $0 == 0x09 || $0 == UInt8(ascii: "+") }
        guard (1...3).contains(separators.count) else { return false }
        rest = rest.dropFirst(separators.count)
      }
      guard digitCounts.contains(rest.count), rest.allSatisfy(ASCII.isDigit) else { return false }
      guard GTIN(run) != nil || GTIN(upcE: run) != nil else { return false }
      readPlainNumber(run)
      take(addOn: Substring(decoding: rest, as: UTF8.self), afterItemOf: item.count)
      return true
    }

    private mutating func take(addOn digits: Substring, afterItemOf byteCount: Int) {
      addOn = String(digits)
      amend { $0.itemByteCount = byteCount }
    }
  }

  /// What few scans have, kept apart.
  private final class KeptDetails: Hashable, Sendable {
    let details: Details

    init(_ details: Details) { self.details = details }

    static func == (left: KeptDetails, right: KeptDetails) -> Bool { left.details == right.details }

    func hash(into hasher: inout Hasher) { hasher.combine(details.label) }
  }
}
