extension ElementString {
  /// What a value may contain besides itself, because the scanner has dropped the separator after it.
  ///
  /// Only the last element can contain others: the length of every other one is known. It is a guess for users, and
  /// changes nothing: a lot may well look like this.
  ///
  /// - Parameter today: The date of the day; other dates than those of the years around it are taken for numbers.
  func swallowed(today: ScanDate) -> (element: Element, text: String)? {
    guard lacksSeparators, let last = elements.last, let identifier = last.identifier, !identifier.isFixed,
      !identifier.isNumeric
    else { return nil }
    let value = Array(last.value.utf8)
    for index in value.indices.dropFirst() {
      let rest = value[index...]
      if Self.beginsWithDate(rest, today: today)
        || beginsWithElement(rest, isAfterDigit: ASCII.isDigit(value[index - 1]))
      {
        return (last, String(decoding: rest, as: UTF8.self))
      }
    }
    return nil
  }

  /// Returns whether a text is a date with its identifier, and nothing or more elements after it.
  private static func beginsWithDate(_ text: ArraySlice<UInt8>, today: ScanDate) -> Bool {
    guard text.count >= 8, text.first == UInt8(ascii: "1"), "13567".utf8.contains(text[text.startIndex + 1]) else {
      return false
    }
    let digits = text.dropFirst(2).prefix(6)
    guard digits.allSatisfy(ASCII.isDigit),
      let date = ElementReader.date(digits, year: today.year, dayMayBeZero: true),
      (today.year - 5...today.year + 10).contains(date.year)
    else { return false }
    return text.count == 8 || ElementString(separated: Array(text.dropFirst(8)), from: 0).faults.isEmpty
  }

  /// Returns whether a text begins with an identifier that the label does not have yet, and can be read to its end: a
  /// number of fixed length wherever it begins, a lot or a serial number only after a letter.
  private func beginsWithElement(_ text: ArraySlice<UInt8>, isAfterDigit: Bool) -> Bool {
    let bytes = Array(text)
    guard let first = ApplicationIdentifier(at: 0, in: bytes) else { return false }
    let isCommon =
      switch first.first {
      case 0...2: true
      case 10, 21, 240: !isAfterDigit
      case 3100...3699: bytes.count == 10
      default: false
      }
    guard isCommon else { return false }
    let read = ElementString(separated: bytes, from: 0)
    guard read.faults.isEmpty, let element = read.elements.first, self[element.ai] == nil else { return false }
    return first.first != 0 || DigitRun(element.value.utf8)?.endsInCheckDigit == true
  }
}
