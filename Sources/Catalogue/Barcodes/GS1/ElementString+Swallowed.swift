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
      if Self.beginsWithDate(rest, today: today) || beginsWithElement(rest, after: value[..<index], today: today) {
        return (last, String(decoding: rest, as: UTF8.self))
      }
    }
    return nil
  }

  /// Returns an identifier in brackets inside a value; `nil` if there is none.
  static func bracketedIdentifier(in value: some Sequence<UInt8>) -> String? {
    let bytes = Array(value)
    for index in bytes.indices {
      guard let identifier = openedElement(at: index, in: bytes) else { continue }
      return String(decoding: bytes[index..<index + identifier.digitCount + 2], as: UTF8.self)
    }
    return nil
  }

  /// Returns whether a text is a date with its identifier, and nothing or more elements after it.
  private static func beginsWithDate(_ text: ArraySlice<UInt8>, today: ScanDate) -> Bool {
    guard text.count >= 8, text.first == UInt8(ascii: "1"), "13567".utf8.contains(text[text.startIndex + 1]) else {
      return false
    }
    guard isPlausibleDate(text.dropFirst(2), today) else { return false }
    if text.count == 8 { return true }
    let rest = Array(text.dropFirst(8))
    guard let next = ApplicationIdentifier(at: 0, in: rest), [10, 21, 30, 37, 240].contains(next.first) else {
      return false
    }
    return ElementString(separated: rest, from: 0).faults.isEmpty
  }

  private static func isPlausibleDate(_ text: ArraySlice<UInt8>, _ today: ScanDate) -> Bool {
    let digits = text.prefix(6)
    guard digits.count == 6, digits.allSatisfy(ASCII.isDigit),
      let date = ElementReader.date(digits, year: today.year, dayMayBeZero: true)
    else { return false }
    return (today.year - 5...today.year + 10).contains(date.year)
  }

  /// Returns whether a text begins with an identifier, and can be read to its end.
  ///
  /// Numbers with a check digit, times and quantities are recognised by themselves. A lot or a serial number may have
  /// any form, and so may the value before it; one that begins with two digits by chance is told from it by what is
  /// around these: letters after them, or a digit before and a long number after them.
  private func beginsWithElement(
    _ text: ArraySlice<UInt8>, after before: ArraySlice<UInt8>, today: ScanDate
  ) -> Bool {
    let bytes = Array(text)
    guard let first = ApplicationIdentifier(at: 0, in: bytes) else { return false }
    let value = bytes[first.digitCount...]
    let isCommon =
      switch first.first {
      case 0...2: true
      case 7003, 8008: Self.isPlausibleDate(value, today)
      case 10, 21, 240: isSuspicious(value, after: before)
      case 3100...3699: bytes.count == 10 && before.contains { !ASCII.isDigit($0) }
      default: false
      }
    guard isCommon else { return false }
    let read = ElementString(separated: bytes, from: 0)
    guard read.faults.isEmpty, let element = read.elements.first else { return false }
    if first.first > 2, self[element.ai] != nil { return false }
    return first.first != 0 || DigitRun(element.value.utf8)?.endsInCheckDigit == true
  }

  /// Whether two digits between these texts are more likely an identifier than a part of one value.
  private func isSuspicious(_ value: ArraySlice<UInt8>, after before: ArraySlice<UInt8>) -> Bool {
    guard let next = value.first, ASCII.isAlphanumeric(next), let last = before.last, ASCII.isAlphanumeric(last),
      before.contains(where: { !ASCII.isDigit($0) })
    else { return false }
    if value.contains(where: { !ASCII.isDigit($0) }) { return before.count > 1 }
    return value.count >= 6 && before.contains(where: ASCII.isDigit)
  }
}
