/// GS1 element strings: Application Identifiers with their values, in the order in which they were read.
///
/// A damaged source yields what could be read up to the damage, and a ``fault`` that tells where reading
/// ended.
///
/// Invariants: each `ai` is an identifier of the GS1 General Specifications (3.2) and each value fits its
/// format, except that check digits and calendar dates may be wrong.
public struct ElementString: Hashable, Sendable {
  /// One Application Identifier and its value.
  public struct Element: Hashable, Sendable {
    /// The identifier, two to four digits.
    public let ai: String
    /// The value without padding, separators or escapes.
    public let value: String
  }

  /// The elements in the order of the source.
  public internal(set) var elements: [Element] = []

  /// What was first found wrong; nil when all was read and every GTIN has a right check digit.
  public internal(set) var fault: Fault?

  init() {}

  /// The value of the first element with the identifier `ai`, such as `"10"` for the lot.
  public subscript(ai: String) -> String? {
    elements.first { $0.ai == ai }?.value
  }

  /// The trade item: (01), provided that its check digit is right.
  public var gtin: GTIN? { self["01"].flatMap { GTIN($0) } }

  /// The trade items *inside* a logistic unit: (02), provided that its check digit is right. The unit itself
  /// is something else and contains (37) of them.
  public var contentGTIN: GTIN? { self["02"].flatMap { GTIN($0) } }

  /// Adds the field `value` of the identifier in `bytes` at `offset`, or says why it cannot be one.
  ///
  /// - Returns: True when the field was added. A wrong check digit does not prevent that: the number was
  ///   read, and only its use as a key is out of the question.
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
      note(Fault(defect, ai: ai))
      return false
    }
    // (01), (02) and (03) hold a GTIN.
    if format.isNumeric, format.isPredefined, format.maximumLength == 14, GTIN(utf8: value) == nil {
      note(.wrongCheckDigit(ai: ai))
    }
    elements.append(Element(ai: ai, value: String(decoding: value, as: UTF8.self)))
    return true
  }

  /// Keeps the first fault: later ones are often its consequence.
  mutating func note(_ newFault: Fault) {
    if fault == nil { fault = newFault }
  }
}

extension ElementString: CustomStringConvertible {
  /// The bracketed form, `(01)05296849398452(10)KGL`. An opening bracket inside a value is written `\(`.
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
