extension Label {
  /// Parses a number of a book, a periodical or printed music as it is printed:
  ///
  ///     ISBN 3-16-148410-X    3-16-148410-X    978-3-16-148410-0    0306406152
  ///     ISSN 0317-8471        0317-8471
  ///     ISMN M-2306-7118-7    M-2306-7118-7    979-0-2306-7118-7
  ///
  /// Without its name, a number with a wrong check character is rejected, except for the thirteen digits of a book.
  init?(printed bytes: [UInt8]) {
    guard bytes.count <= 48 else { return nil }
    var rest = bytes[...]
    var name: String?
    for candidate in ["isbn", "issn", "ismn"] where rest.prefix(4).map(ASCII.lowercased).elementsEqual(candidate.utf8) {
      name = candidate
      rest = rest.dropFirst(4)
      // ISBN-10 and ISBN-13 name the length.
      for length in ["-10", "-13"] where candidate == "isbn" && rest.starts(with: length.utf8) {
        let next = rest.dropFirst(3).first
        if next == ASCII.blank || next == UInt8(ascii: ":") { rest = rest.dropFirst(3) }
      }
      rest = rest.drop { $0 == UInt8(ascii: ":") || $0 == ASCII.blank || $0 == UInt8(ascii: "-") }
    }
    guard let printed = PrintedNumber(rest) else { return nil }
    switch name {
    case nil: self.init(unnamed: printed)
    case "issn": self.init(issn: printed, isNamed: true)
    case "ismn": self.init(ismn: printed, isNamed: true)
    default: self.init(isbn: printed, isNamed: true)
    }
  }

  private init?(unnamed printed: PrintedNumber) {
    let label =
      Label(ismn: printed, isNamed: false) ?? Label(isbn: printed, isNamed: false)
      ?? Label(issn: printed, isNamed: false)
    guard let label else { return nil }
    self = label
  }

  private init?(isbn printed: PrintedNumber, isNamed: Bool) {
    let number = printed.characters
    if BookNumber.hasForm(number, digitCount: 9) {
      let isSound = BookNumber.endsInCheckCharacter(number)
      let isGrouped = printed.separatorCount == 0 || printed.separatorCount == 3
      guard isNamed || (isSound && isGrouped) else { return nil }
      self.init(kind: .isbn)
      isWeak = !isNamed
      addElement("ISBN", at: 0, number)
      if isSound { takeISBN(BookNumber.gtin("978", number.dropLast())) } else { addWrongCheck("ISBN") }
    } else if number.count == 13, number.allSatisfy(ASCII.isDigit),
      number.starts(with: "978".utf8) || number.starts(with: "979".utf8)
    {
      guard isNamed || printed.separatorCount > 0 else { return nil }
      self.init(kind: .isbn)
      addElement("ISBN", at: 0, number)
      if let gtin = GTIN(utf8: number) { takeISBN(gtin) } else { addWrongCheck("ISBN") }
    } else {
      return nil
    }
  }

  private mutating func takeISBN(_ book: GTIN?) {
    guard let book else { return }
    gtin = book
    let digits = String(book.digits.suffix(13))
    addPart(digits)
    if digits.hasPrefix("978") {
      let body = Array(digits.utf8.dropFirst(3).dropLast())
      addPart(String(decoding: body + [BookNumber.checkCharacter(modulo11: body)], as: UTF8.self))
    }
    addEntry("isbn", .text, "ISBN", at: 0, digits.utf8)
  }

  private init?(issn printed: PrintedNumber, isNamed: Bool) {
    let number = printed.characters
    guard BookNumber.hasForm(number, digitCount: 7) else { return nil }
    let isSound = BookNumber.endsInCheckCharacter(number)
    guard isNamed || (isSound && printed.separatorOffsets == [4] && printed.isHyphenated) else { return nil }
    self.init(kind: .issn)
    isWeak = !isNamed
    addElement("ISSN", at: 0, number)
    guard isSound else {
      addWrongCheck("ISSN")
      return
    }
    gtin = BookNumber.gtin("977", number.dropLast(), "00")
    let compact = String(decoding: number, as: UTF8.self).uppercased()
    let text = compact.prefix(4) + "-" + compact.suffix(4)
    addPart(String(text))
    addPart(compact)
    addEntry("issn", .text, "ISSN", at: 0, text.utf8)
  }

  private init?(ismn printed: PrintedNumber, isNamed: Bool) {
    var number = printed.characters
    if number.first == UInt8(ascii: "M") {
      number = Array("9790".utf8) + number.dropFirst()
    } else {
      guard number.starts(with: "9790".utf8), isNamed || printed.separatorCount > 0 else { return nil }
    }
    guard number.count == 13, number.allSatisfy(ASCII.isDigit) else { return nil }
    let music = GTIN(utf8: number)
    let hasM = printed.characters.first == UInt8(ascii: "M")
    guard isNamed || !hasM || music != nil else { return nil }
    self.init(kind: .ismn)
    isWeak = hasM && !isNamed
    addElement("ISMN", at: 0, printed.characters)
    guard let music else {
      addWrongCheck("ISMN")
      return
    }
    gtin = music
    let digits = String(decoding: number, as: UTF8.self)
    addPart(digits)
    addPart("M" + digits.dropFirst(4))
    addEntry("ismn", .text, "ISMN", at: 0, digits.utf8)
  }

  private mutating func addWrongCheck(_ name: String) {
    addFault(name, at: 0, "the check digit of the \(name) is wrong")
  }
}

/// A number as it is printed, with single hyphens or blanks between its digits and letters.
private struct PrintedNumber {
  /// The digits and letters, at most 13.
  private(set) var characters: [UInt8] = []
  /// How many characters precede each separator.
  private(set) var separatorOffsets: [Int] = []
  /// Whether all separators are hyphens.
  private(set) var isHyphenated = true

  var separatorCount: Int { separatorOffsets.count }

  /// Returns `nil` if there is any other character, a separator at an end or next to another one, or too much.
  init?(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while let byte = rest.popFirst() {
      if ASCII.isDigit(byte) || byte == UInt8(ascii: "X") || byte == UInt8(ascii: "x") || byte == UInt8(ascii: "M") {
        guard characters.count < 13, byte != UInt8(ascii: "M") || characters.isEmpty else { return nil }
        characters.append(byte)
        continue
      }
      if byte == ASCII.blank {
        isHyphenated = false
      } else if byte == 0xE2, rest.count >= 2, rest[rest.startIndex] == 0x80,
        (0x90...0x93).contains(rest[rest.startIndex + 1])
      {
        // U+2010 to U+2013: hyphens and the dash of numbers.
        rest = rest.dropFirst(2)
      } else if byte != UInt8(ascii: "-") {
        return nil
      }
      guard !characters.isEmpty, separatorOffsets.last != characters.count else { return nil }
      separatorOffsets.append(characters.count)
    }
    guard !characters.isEmpty, separatorOffsets.last != characters.count else { return nil }
  }
}
