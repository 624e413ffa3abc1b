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
      content.issues += linkIssues
    }
    if let label {
      for field in label.data(today: today).fields { content.data.add(field.value, field.name) }
      content.issues += label.issues(today: today)
    }
    if !content.issues.isEmpty {
      content.issues = content.issues.map(atPlaceInText).sorted { $0.position < $1.position }
    }
    return content
  }

  /// Returns an issue of the payload with its position in ``text``.
  private func atPlaceInText(_ issue: ScanIssue) -> ScanIssue {
    let bytes = Array(text.utf8)
    var data = Noise.trimmed(bytes[...])
    if SymbologyIdentifier(startOf: data) != nil {
      data = Noise.trimmedAtStart(data.dropFirst(SymbologyIdentifier.byteCount))
    }
    let separators = kind == .digitalLink || label != nil ? [] : configuration.separators
    let offset = Separators.originalOffset(of: issue.position, in: data, separators)
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
