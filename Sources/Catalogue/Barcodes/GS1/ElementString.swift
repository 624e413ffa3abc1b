/// GS1 element strings: Application Identifiers with their values, in input order.
///
/// Damaged input yields the elements that can be delimited, and a ``fault``. What an element says is checked when it is
/// converted to typed data; see ``Scan/content(today:)``.
///
/// Invariants: each `ai` consists of two to four digits; each value of a known identifier matches its format, except
/// that check digits and calendar dates may be wrong.
public struct ElementString: Sendable {
  /// An Application Identifier and its value.
  public struct Element: Hashable, Sendable {
    /// The identifier, with two to four digits; or the data identifier of a label that is not GS1's.
    public let ai: String
    /// The value without padding, separators or escapes.
    public let value: String
    /// The offset of the identifier in the bytes that were parsed.
    let offset: Int
    /// What the identifier means; `nil` if it is unknown, or not one of GS1.
    let identifier: ApplicationIdentifier?

    init(ai: String, value: String, offset: Int = 0, identifier: ApplicationIdentifier? = nil) {
      self.ai = ai
      self.value = value
      self.offset = offset
      self.identifier = identifier
    }

    /// Compares identifiers and values, wherever they stand.
    public static func == (left: Element, right: Element) -> Bool { left.ai == right.ai && left.value == right.value }

    /// Hashes the identifier and the value.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(ai)
      hasher.combine(value)
    }
  }

  /// The elements in input order.
  public internal(set) var elements: [Element] = []

  /// The first fault that concerns a value; `nil` if everything was parsed and every GTIN has a valid check digit.
  public var fault: Fault? { faults.first { !$0.fault.isHarmless }?.fault }

  /// All faults in input order, each with the offset of its element in the bytes that were parsed.
  var faults: [(fault: Fault, offset: Int)] = []

  /// Whether the data could have had separators, and had none: a scanner that is set to drop them sends such data.
  var lacksSeparators = false

  init() {}

  /// Returns the value of the first element with the identifier `ai`, for example `"10"` for the lot; `nil` if there is
  /// no such element.
  public subscript(ai: String) -> String? {
    elements.first { $0.ai == ai }?.value
  }

  /// The trade item: the GTIN of AI (01); `nil` if its check digit is wrong.
  public var gtin: GTIN? { self["01"].flatMap { GTIN($0) } }

  /// The trade items *inside* a logistic unit: the GTIN of AI (02); `nil` if its check digit is wrong. The unit itself
  /// is a different item and contains (37) of them.
  public var contentGTIN: GTIN? { self["02"].flatMap { GTIN($0) } }

  /// Appends the element of the identifier in `bytes` at `offset`, or records why its value is wrong.
  ///
  /// - Returns: Whether the element was appended. One with a wrong check digit is appended: it can be read, but not
  ///   used as a key.
  @discardableResult
  mutating func append(
    _ identifier: ApplicationIdentifier, at offset: Int, in bytes: [UInt8], value: ArraySlice<UInt8>
  ) -> Bool {
    append(identifier, bytes[offset..<offset + identifier.digitCount], value: value, offset: offset)
  }

  /// Appends an element, or records why its value is wrong.
  ///
  /// - Parameters:
  ///   - digits: The digits of the identifier.
  ///   - offset: Where the element begins.
  @discardableResult
  mutating func append(
    _ identifier: ApplicationIdentifier, _ digits: ArraySlice<UInt8>, value: ArraySlice<UInt8>, offset: Int
  ) -> Bool {
    let ai = String(decoding: digits, as: UTF8.self)
    // (01), (02) and (03) hold a GTIN.
    let isGTIN = identifier.isPredefined && identifier.isNumeric && identifier.maximumLength == 14
    if isGTIN, value.count < 14, GTIN(utf8: value) != nil {
      record(.shortGTIN(ai: ai), at: offset)
      let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: 14 - value.count)
      return append(identifier, digits, value: (zeros + value)[...], offset: offset)
    }
    if let defect = identifier.defect(of: value) {
      record(Fault(defect, ai: ai), at: offset)
      return false
    }
    if isGTIN, GTIN(utf8: value) == nil {
      record(.wrongCheckDigit(ai: ai), at: offset)
    }
    let text = String(decoding: value, as: UTF8.self)
    elements.append(Element(ai: ai, value: text, offset: offset, identifier: identifier))
    return true
  }

  /// Records a fault.
  mutating func record(_ fault: Fault, at offset: Int) { faults.append((fault, offset)) }
}

extension ElementString: Hashable {
  /// Compares the elements and the first fault, wherever they stand.
  public static func == (left: ElementString, right: ElementString) -> Bool {
    left.elements == right.elements && left.fault == right.fault
  }

  /// Hashes the elements.
  public func hash(into hasher: inout Hasher) { hasher.combine(elements) }
}

extension ElementString: CustomStringConvertible {
  /// The bracketed form, `(01)05296849398452(10)KGL`. An opening bracket inside a value is escaped as `\(`.
  public var description: String {
    var text = ""
    for element in elements {
      text += "("
      text += element.ai
      text += ")"
      for scalar in element.value.unicodeScalars {
        if scalar == "(" { text.unicodeScalars.append("\\") }
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
