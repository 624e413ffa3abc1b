/// The messages of ISO/IEC 15434:
///
///     [)> RS 06 GS field GS field … RS 12 GS field … RS EOT
///
/// A format is between two RS. Format 05 contains GS1 element strings, format 06 data identifiers of ANSI MH10.8.2.
extension Label {
  /// Parses a message, or the message of old labels of Mouser, which starts with `>[)>06` and has no RS.
  init?(envelope bytes: [UInt8]) {
    let isMisspelt = bytes.first == UInt8(ascii: ">")
    let header = isMisspelt ? 4 : 3
    guard bytes.starts(with: (isMisspelt ? ">[)>" : "[)>").utf8) else { return nil }
    guard let (separators, firstFormat) = EnvelopeSeparators.find(in: bytes, at: header) else { return nil }

    self.init(kind: isMisspelt ? .label : .iso15434)
    var offset = firstFormat
    while offset < bytes.count {
      let record = Record(at: offset, in: bytes, separators)
      read(record, of: bytes, separators)
      offset = record.next
    }
    finish()
  }

  /// A format of a message.
  private struct Record {
    /// The number of the format, two digits; `nil` if something else is at its place.
    var format: Int?
    let start: Int
    /// The fields. An empty one is left out.
    var fields: [Range<Int>] = []
    var hasGroupSeparator = false
    /// The end of the last field.
    var end: Int
    /// The offset of the next format; the number of bytes at the end of the message.
    var next: Int

    init(at start: Int, in bytes: [UInt8], _ separators: EnvelopeSeparators) {
      self.start = start
      var fieldStart = start
      if bytes[start...].prefix(2).count == 2, ASCII.isDigit(bytes[start]), ASCII.isDigit(bytes[start + 1]) {
        format = 10 * Int(bytes[start] - UInt8(ascii: "0")) + Int(bytes[start + 1] - UInt8(ascii: "0"))
        fieldStart = start + 2
      }
      var offset = fieldStart
      next = bytes.count
      end = bytes.count
      scan: while offset < bytes.count {
        guard let (separator, count) = separators.separator(at: offset, in: bytes) else {
          offset += 1
          continue
        }
        switch separator {
        case .group:
          hasGroupSeparator = true
          if fieldStart < offset { fields.append(fieldStart..<offset) }
          offset += count
          fieldStart = offset
        case .record:
          end = offset
          next = offset + count
          break scan
        case .end:
          end = offset
          break scan
        }
      }
      if fieldStart < end { fields.append(fieldStart..<end) }
    }
  }

  private mutating func read(_ record: Record, of bytes: [UInt8], _ separators: EnvelopeSeparators) {
    switch record.format {
    case 6:
      readDataIdentifiers(record, of: bytes)
    case 5:
      readElementStrings(record, of: bytes, separators)
    case let format?:
      let number = format < 10 ? "0\(format)" : "\(format)"
      addFault(nil, at: record.start, "format \(number) of ISO/IEC 15434 is not read")
    case nil:
      if !record.fields.isEmpty {
        addFault(nil, at: record.start, "a format of two digits must follow a record separator")
      }
    }
  }

  private mutating func readDataIdentifiers(_ record: Record, of bytes: [UInt8]) {
    guard record.hasGroupSeparator || record.fields.isEmpty else {
      addFault(
        nil, at: record.fields[0].lowerBound,
        "the scanner has dropped the group separators; set it to send control characters")
      return
    }
    for field in record.fields {
      let data = bytes[field]
      guard let length = DataIdentifier.length(at: data) else {
        addFault(nil, at: field.lowerBound, "no data identifier starts here")
        continue
      }
      addField(String(decoding: data.prefix(length), as: UTF8.self), at: field.lowerBound, data.dropFirst(length))
    }
  }

  private mutating func readElementStrings(_ record: Record, of bytes: [UInt8], _ separators: EnvelopeSeparators) {
    guard let first = record.fields.first else { return }
    guard elementStrings == nil else {
      addFault(nil, at: record.start, "a second format 05 is not read")
      return
    }
    var plain = Array(bytes[..<record.end])
    var offset = record.start
    while offset < plain.count {
      guard let (_, count) = separators.separator(at: offset, in: bytes) else {
        offset += 1
        continue
      }
      for index in offset..<min(offset + count, plain.count) { plain[index] = ASCII.groupSeparator }
      offset += count
    }
    elementStrings = EmbeddedElementStrings(bytes: plain, start: first.lowerBound)
  }

  /// Adds the value of a data identifier, which is also typed if the identifier is known. An identifier without a value
  /// states nothing.
  mutating func addField(_ identifier: String, at position: Int, _ value: some Collection<UInt8>) {
    guard !value.isEmpty else { return }
    addElement(identifier, at: position, value)
    guard let listed = DataIdentifier.listed(identifier) else { return }
    addEntry(listed.name, listed.type, identifier, at: position, value)
  }

  /// Derives the keys for the catalogue from the elements.
  private mutating func finish() {
    let ppn = elements.first { $0.ai == "9N" }.flatMap { PharmacyProductNumber($0.value.utf8) }
    if let ppn {
      if let pzn = ppn.pzn {
        take(pzn)
      } else {
        addPart(ppn.nationalNumber)
      }
    }
    if elements.contains(where: { $0.ai == "9N" }) {
      // On a medicine, D is the date of expiry (IFA coding system, data elements).
      entries = entries.map { $0.identifier == "D" ? $0.renamed("expiry") : $0 }
    }
    for identifier in DataIdentifier.parts {
      for element in elements where element.ai == identifier { addPart(element.value) }
    }
    for element in elements where element.ai == "8P" || element.ai == "3P" {
      if gtin == nil { gtin = GTIN(element.value) }
    }
    // Some distributors write a part number of their own where the GTIN belongs.
    entries = entries.map { entry in
      guard entry.identifier == "3P", DigitRun(entry.value)?.hasLengthOfGTIN != true else { return entry }
      return LabelEntry(name: "part", type: .text, identifier: "3P", position: entry.position, value: entry.value)
    }
  }
}
