/// GS1 element strings: Application Identifiers with their values, in input order.
///
/// Damaged input yields the elements before the damage, and a ``fault`` with the reason why parsing stopped.
///
/// Invariants: each `ai` is an identifier of the GS1 General Specifications (3.2), and each value matches its format,
/// except that check digits and calendar dates may be wrong.
public struct ElementString: Hashable, Sendable {
  /// An Application Identifier and its value.
  public struct Element: Hashable, Sendable {
    /// The identifier, with two to four digits.
    public let ai: String
    /// The value without padding, separators or escapes.
    public let value: String
  }

  /// The elements in input order.
  public internal(set) var elements: [Element] = []

  /// The first fault; `nil` if everything was parsed and every GTIN has a valid check digit.
  public internal(set) var fault: Fault?

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

  /// Appends the field `value` of the identifier in `bytes` at `offset`, or records why it is invalid.
  ///
  /// - Returns: Whether the field was appended. A field with a wrong check digit is appended: it can be read, but not
  ///   used as a key.
  mutating func append(_ format: ElementFormat, at offset: Int, in bytes: [UInt8], value: ArraySlice<UInt8>)
    -> Bool
  {
    append(format, bytes[offset..<offset + format.identifierLength], value: value)
  }

  mutating func append(_ format: ElementFormat, _ identifier: ArraySlice<UInt8>, value: ArraySlice<UInt8>)
    -> Bool
  {
    let ai = String(decoding: identifier, as: UTF8.self)
    if let defect = format.defect(of: value) {
      record(Fault(defect, ai: ai))
      return false
    }
    // (01), (02) and (03) hold a GTIN.
    if format.isNumeric, format.isPredefined, format.maximumLength == 14, GTIN(utf8: value) == nil {
      record(.wrongCheckDigit(ai: ai))
    }
    elements.append(Element(ai: ai, value: String(decoding: value, as: UTF8.self)))
    return true
  }

  /// Records a fault unless there is an earlier one. Later faults are often consequences of the first.
  mutating func record(_ newFault: Fault) {
    if fault == nil { fault = newFault }
  }
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
