/// The labels of LCSC: names and values in braces.
///
///     {pbn:PICK2009291337,on:SO2009291337,pc:C312270,pm:ST-1-102-A01-T000-RS,qty:2,mc:,cc:1,pdi:34421807}
extension Label {
  /// Parses a label of LCSC. Blanks around names and values are ignored, and a lost brace at the end is reported.
  init?(lcsc bytes: [UInt8]) {
    guard bytes.first == UInt8(ascii: "{"), let first = Self.name(at: 1, in: bytes), Self.names.contains(first.name)
    else { return nil }
    self.init(kind: .label)
    let isClosed = bytes.last == UInt8(ascii: "}")
    let end = isClosed ? bytes.count - 1 : bytes.count
    var next: (name: String, start: Int, value: Int)? = first
    while let (name, start, valueStart) = next {
      var offset = valueStart
      next = nil
      // A comma inside a value is text unless a name follows it.
      while offset < end {
        if bytes[offset] == UInt8(ascii: ",") {
          next = Self.name(at: offset + 1, in: bytes)
          if next != nil { break }
        }
        offset += 1
      }
      add(name, at: start, ASCII.trimmed(bytes[valueStart..<max(valueStart, min(offset, end))]))
    }
    guard elements.contains(where: { ["pc", "pm", "pbn"].contains($0.ai) }) else { return nil }
    for identifier in ["pc", "pm"] {
      for element in elements where element.ai == identifier { addPart(element.value) }
    }
    if !isClosed { addFault(nil, at: bytes.count - 1, "the end of the label is missing") }
  }

  private mutating func add(_ name: String, at position: Int, _ value: ArraySlice<UInt8>) {
    guard !value.isEmpty else { return }
    addElement(name, at: position, value)
    switch name {
    case "pbn": addEntry("pickList", .text, name, at: position, value)
    case "on": addEntry("order", .text, name, at: position, value)
    case "pc": addEntry("supplierPart", .text, name, at: position, value)
    case "pm": addEntry("manufacturerPart", .text, name, at: position, value)
    case "qty": addEntry("count", .number, name, at: position, value)
    default: break
    }
  }

  /// The names that LCSC prints.
  private static let names: Set<String> = ["pbn", "on", "pc", "pm", "qty", "mc", "cc", "pdi", "hp", "wc"]

  /// Returns the name at `offset`, its start, and the start of its value. A name is one of ``names`` and is followed by
  /// a colon; other names would be indistinguishable from text after a comma.
  private static func name(at offset: Int, in bytes: [UInt8]) -> (name: String, start: Int, value: Int)? {
    var start = offset
    while start < bytes.count, bytes[start] == ASCII.blank { start += 1 }
    var end = start
    while end < bytes.count, end - start < 4, bytes[end] >= UInt8(ascii: "a"), bytes[end] <= UInt8(ascii: "z") {
      end += 1
    }
    guard end < bytes.count, bytes[end] == UInt8(ascii: ":") else { return nil }
    let name = String(decoding: bytes[start..<end], as: UTF8.self)
    return names.contains(name) ? (name, start, end + 1) : nil
  }
}
