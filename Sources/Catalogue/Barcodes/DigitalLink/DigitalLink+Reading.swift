import TextFormat

extension DigitalLink {
  /// The state of parsing an address.
  struct Reading {
    var elements = ElementString()
    var issues: [ScanIssue] = []
    var isCompressed = false

    /// Reads the key and its qualifiers.
    ///
    /// - Parameter parts: The components of the path from the key on, at least two.
    mutating func readPath(_ parts: ArraySlice<ArraySlice<UInt8>>) {
      var qualifiers: [(name: [UInt8], offset: Int)] = []
      var index = parts.startIndex
      let key = DigitalLinkKey.identifier(named: parts[index]) ?? []
      append(key, at: parts[index].startIndex, parts[index + 1])
      index += 2
      while index + 1 < parts.endIndex {
        let name = DigitalLinkKey.identifier(named: parts[index]) ?? Array(parts[index])
        guard append(name, at: parts[index].startIndex, parts[index + 1]) else { break }
        qualifiers.append((name, parts[index].startIndex))
        index += 2
      }
      checkOrder(of: qualifiers, after: key)
      if index + 1 == parts.endIndex, var rest = CompressedLink(parts[index]), rest.unreadable == nil,
        let identifier = ApplicationIdentifier(at: 0, in: key)
      {
        isCompressed = true
        rest.sort(after: identifier)
        append(rest, at: parts[index].startIndex)
      }
    }

    /// Reads a link whose last component contains the key and everything else. Returns whether it does.
    mutating func readCompressed(_ parts: [ArraySlice<UInt8>]) -> Bool {
      guard let last = parts.dropFirst().last(where: { !$0.isEmpty }), let link = CompressedLink(last),
        link.startsWithKey
      else { return false }
      isCompressed = true
      append(link, at: last.startIndex)
      if let ai = link.unreadable {
        let reason = "the link is compressed, and its part from (\(ai)) on cannot be read"
        issues.append(ScanIssue(ai: ai, position: last.startIndex, reason: reason))
      }
      return true
    }

    /// Reads the attributes.
    mutating func readQuery(_ query: ArraySlice<UInt8>) {
      let isSeparator = { (byte: UInt8) in byte == UInt8(ascii: "&") || byte == UInt8(ascii: ";") }
      for attribute in query.split(whereSeparator: isSeparator) {
        guard let equals = attribute.firstIndex(of: UInt8(ascii: "=")) else { continue }
        let name = attribute[..<equals]
        // Other names belong to the web site, and so does a word such as `party`.
        guard let first = name.first, let identifier = DigitalLinkKey.identifier(named: name),
          ASCII.isDigit(first) || !DigitalLinkKey.isKey(identifier)
        else { continue }
        let isRead = append(identifier, at: name.startIndex, attribute[(equals + 1)...])
        if isRead, ApplicationIdentifier(at: 0, in: identifier)?.isLinkAttribute == false {
          let ai = String(decoding: identifier, as: UTF8.self)
          let reason = "(\(ai)) must not be in the query of a Digital Link"
          issues.append(ScanIssue(ai: ai, position: name.startIndex, reason: reason))
        }
      }
    }

    /// Appends the element of an identifier, or records what is wrong with it.
    ///
    /// - Parameters:
    ///   - name: The digits of the identifier.
    ///   - offset: The offset of the identifier in the address.
    ///   - encodedValue: The value, percent-encoded.
    /// - Returns: Whether the element was appended.
    @discardableResult
    private mutating func append(_ name: [UInt8], at offset: Int, _ encodedValue: ArraySlice<UInt8>) -> Bool {
      guard let identifier = ApplicationIdentifier(at: 0, in: name), identifier.digitCount == name.count else {
        // A path may end in a slash or a component of the site's own, so an empty name is not a fault.
        if !name.isEmpty {
          elements.record(.unknownIdentifier(text: ElementString.excerpt(of: name, at: 0)), at: offset)
        }
        return false
      }
      guard var value = PercentEncoding.decoded(encodedValue.span) else {
        elements.record(.wrongCharacter(ai: String(decoding: name, as: UTF8.self)), at: offset)
        return false
      }
      let isGTIN = name.elementsEqual("01".utf8) || name.elementsEqual("02".utf8)
      if isGTIN, let run = DigitRun(value), run.hasLengthOfGTIN {
        value.insert(contentsOf: repeatElement(UInt8(ascii: "0"), count: 14 - value.count), at: 0)
      }
      return elements.append(identifier, name[...], value: ASCII.trimmed(value[...]), offset: offset)
    }

    private mutating func append(_ link: CompressedLink, at offset: Int) {
      for element in link.elements {
        let digits = Array(element.ai.utf8)
        elements.append(element.identifier, digits[...], value: ASCII.trimmed(element.value[...]), offset: offset)
      }
    }

    /// Reports the first qualifier that does not belong to the key, or stands in the wrong place.
    private mutating func checkOrder(of qualifiers: [(name: [UInt8], offset: Int)], after key: [UInt8]) {
      guard let first = qualifiers.first else { return }
      let orders = (ApplicationIdentifier(at: 0, in: key)?.linkQualifiers ?? []).map { order in
        order.map { Array($0.utf8) }
      }
      let names = qualifiers.map(\.name)
      guard !orders.contains(where: { Self.isInOrder(names, $0) }) else { return }
      let wrong = qualifiers.first { qualifier in !orders.contains { $0.contains(qualifier.name) } }
      let ai = String(decoding: (wrong ?? first).name, as: UTF8.self)
      let keyText = String(decoding: key, as: UTF8.self)
      let reason =
        wrong == nil
        ? "the qualifiers of (\(keyText)) are in the wrong order or must not occur together"
        : "(\(ai)) is no qualifier of (\(keyText)); it belongs in the query"
      issues.append(ScanIssue(ai: ai, position: (wrong ?? first).offset, reason: reason))
    }

    /// Returns whether `names` occur in `order` in the same order.
    private static func isInOrder(_ names: [[UInt8]], _ order: [[UInt8]]) -> Bool {
      var rest = order[...]
      for name in names {
        guard let index = rest.firstIndex(of: name) else { return false }
        rest = rest[(index + 1)...]
      }
      return true
    }
  }
}
