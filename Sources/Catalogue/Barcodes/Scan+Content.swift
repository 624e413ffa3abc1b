extension Scan {
  /// What a scanned label states, and what is wrong with it.
  public struct Content: Hashable, Sendable {
    /// The typed data. Values that are wrong are missing.
    public internal(set) var data = ScanData()
    /// What is wrong, in the order of the label.
    public internal(set) var issues: [ScanIssue] = []
  }

  /// Returns the typed data of the label and what is wrong with it.
  ///
  /// - Parameter today: The date of the day, which determines the century of years with two digits.
  /// - Complexity: Linear in the length of ``text``; computed on each call. A plain number has no content, and costs
  ///   nothing.
  public func content(today: ScanDate) -> Content {
    var content = Content()
    if let elements {
      content = elements.content(today: today)
      content.issues += details.linkIssues
    }
    if let label {
      for field in label.data(today: today).fields { content.data.add(field.value, field.name) }
      content.issues += label.issues(today: today)
      for element in label.elements {
        guard let token = Separators.firstToken(in: element.value.utf8) else { continue }
        content.add(
          element, "the value of \(element.ai) contains '\(token)', which some scanners send for a separator")
      }
      if details.hasSwappedCase {
        let reason = "the letters were read in the other case: the label seems to have been typed with caps lock on"
        content.issues.insert(ScanIssue(ai: nil, position: 0, reason: reason), at: 0)
      }
    }
    if !content.issues.isEmpty { content.issues = content.issues.map(atPlaceInText) }
    content.issues += issuesOfFrame
    if content.issues.count > 1 { content.issues.sort { $0.position < $1.position } }
    return content
  }

  /// What is wrong around the payload: characters that were removed there, although no reader sends them as noise.
  public var issuesOfFrame: [ScanIssue] {
    guard hasDetails, details.hasInvisible else { return [] }
    let payload = Array(payload.utf8)
    let bytes = Array(text.utf8)
    var start = payloadOffset(in: bytes)
    var issues: [ScanIssue] = []
    var offset = 0
    let visible = Separators(configuration.separators).afterStart(of: Noise.trimmed(bytes[...]))
    if let symbology, visible.starts(with: symbology.description.utf8) {
      offset = visible.startIndex
      appendRemoved(bytes[..<offset], "before", at: 0, to: &issues)
      offset += SymbologyIdentifier.byteCount
    }
    appendRemoved(bytes[offset..<max(offset, start)], "before", at: offset, to: &issues)
    start += payload.count
    appendRemoved(bytes[min(start, bytes.count)...], "after", at: start, to: &issues)
    return issues
  }

  private func appendRemoved(
    _ bytes: ArraySlice<UInt8>, _ place: String, at offset: Int, to issues: inout [ScanIssue]
  ) {
    let removed = String(decoding: bytes, as: UTF8.self).unicodeScalars.filter { !Noise.isNoise($0) }
    guard !removed.isEmpty else { return }
    if !removed.allSatisfy(Noise.isInvisible) {
      let text = String(String.UnicodeScalarView(removed.filter { !Noise.isInvisible($0) }))
      let reason = "'\(text)' \(place) the code was left out: scanners send it for a separator"
      issues.append(ScanIssue(ai: nil, position: offset, reason: reason))
      return
    }
    let names = removed.prefix(4).map { scalar in
      let digits = String(scalar.value, radix: 16, uppercase: true)
      return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
    let list = names.joined(separator: ", ") + (removed.count > names.count ? ", …" : "")
    issues.append(
      ScanIssue(ai: nil, position: offset, reason: "\(list) \(place) the code was left out: nobody sees it"))
  }

  /// Returns the offset of the payload in the bytes of ``text``.
  private func payloadOffset(in bytes: [UInt8]) -> Int {
    let payload = Array(payload.utf8)
    var data = Separators(configuration.separators).afterStart(of: Noise.trimmed(bytes[...]))
    if SymbologyIdentifier(startOf: data) != nil {
      data = data.dropFirst(SymbologyIdentifier.byteCount)
    } else {
      data = Noise.visibleFromStart(bytes[...])
    }
    // The payload begins after characters that are removed at its start, and it does not begin with one of them.
    while data.count > payload.count, !data.starts(with: payload) { data.removeFirst() }
    return data.startIndex
  }

  /// Returns an issue of the payload with its position in ``text``.
  private func atPlaceInText(_ issue: ScanIssue) -> ScanIssue {
    let bytes = Array(text.utf8)
    let data = bytes[payloadOffset(in: bytes)...]
    let isAsSent = kind == .digitalLink || label != nil
    let separators = Separators(configuration.separators, countsTokens: !(hasDetails && details.hasTokensAsData))
    let offset = isAsSent ? issue.position : separators.originalOffset(of: issue.position, in: data)
    return ScanIssue(ai: issue.ai, position: data.startIndex + offset, reason: issue.reason)
  }
}

extension ElementString {
  /// Returns the typed data of the elements and what is wrong with them. Positions are offsets in the bytes that were
  /// parsed.
  func content(today: ScanDate) -> Scan.Content {
    let reader = ElementReader(today: today)
    var content = Scan.Content()
    content.data.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      guard let identifier = element.identifier else {
        content.add(element, "no application identifier (\(element.ai)) is known")
        continue
      }
      if let earlier = elements[..<index].first(where: { $0.ai == element.ai }) {
        // The same value twice is a common way to be sure that it is read.
        if earlier.value != element.value {
          content.add(element, "(\(element.ai)) occurs again with another value: '\(element.value)'; the first counts")
        }
        continue
      }
      do {
        if try !reader.add(element, identifier, to: &content.data) {
          content.add(element, "(\(element.ai)) states \(identifier.name) again; the first counts")
        }
      } catch { content.add(element, error.reason) }
      // %1D has only characters that a value may have, and random values have them.
      if let token = Separators.firstToken(in: element.value.utf8), token.first != "%" {
        content.add(
          element, "the value of (\(element.ai)) contains '\(token)', which some scanners send for a separator")
      } else if lacksSeparators, let bracketed = Self.bracketedIdentifier(in: element.value.utf8) {
        content.add(element, "the value of (\(element.ai)) contains '\(bracketed)', which begins another element")
      }
    }
    if let (element, text) = swallowed(today: today) {
      content.add(
        element,
        "the value of (\(element.ai)) may contain another element, '\(text)': there is no separator after it;"
          + " set the scanner to send FNC1 as GS")
    }
    addFaults(to: &content)
    return content
  }

  /// Adds the faults of elements that could not be read, and of separators.
  private func addFaults(to content: inout Scan.Content) {
    if faults.isEmpty { return }
    for (fault, offset) in faults {
      switch fault {
      // Found again when the value is converted.
      case .wrongCheckDigit: continue
      case .unknownIdentifier where elements.contains(where: { $0.offset == offset }): continue
      default: content.issues.append(ScanIssue(ai: fault.ai, position: offset, reason: fault.description))
      }
    }
    content.issues.sort { $0.position < $1.position }
  }
}

extension Scan.Content {
  fileprivate mutating func add(_ element: ElementString.Element, _ reason: String) {
    issues.append(ScanIssue(ai: element.ai, position: element.offset, reason: reason))
  }
}
