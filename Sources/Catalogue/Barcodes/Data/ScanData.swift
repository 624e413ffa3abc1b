/// The typed data of a label by name, in the order of the label.
///
/// Names are those of the command line's JSON, for example `expiry`, `lot` and `netWeight`. Where a label states
/// nothing of a kind, or states it wrongly, there is no field; see ``ScanIssue``.
public struct ScanData: Hashable, Sendable {
  /// A named value.
  public struct Field: Hashable, Sendable {
    /// The name, in camel case.
    public let name: String
    /// The value.
    public internal(set) var value: ScanValue

    /// Creates a field.
    public init(_ name: String, _ value: ScanValue) {
      self.name = name
      self.value = value
    }
  }

  /// The fields, in the order of the label. Each name occurs once.
  public private(set) var fields: [Field] = []

  /// Creates data without fields.
  public init() {}

  /// Whether there are no fields.
  public var isEmpty: Bool { fields.isEmpty }

  /// The value with this name; `nil` if the label does not state it. A dot leads into ``ScanValue/fields(_:)``:
  /// `gln.shipTo`.
  ///
  /// - Complexity: Linear in the number of fields.
  public subscript(name: String) -> ScanValue? {
    var list = fields[...]
    var parts = name.split(separator: ".")[...]
    while let part = parts.popFirst() {
      guard let value = list.first(where: { $0.name == part })?.value else { return nil }
      if parts.isEmpty { return value }
      guard case .fields(let inner) = value else { return nil }
      list = inner[...]
    }
    return nil
  }

  /// Makes room for so many fields.
  mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

  /// Adds a value, unless there is one with this name.
  ///
  /// - Parameter name: The name. A dot leads into ``ScanValue/fields(_:)``, which is created if necessary.
  /// - Returns: Whether the value was added.
  @discardableResult
  mutating func add(_ value: ScanValue, _ name: String) -> Bool {
    guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) else {
      guard !fields.contains(where: { $0.name == name }) else { return false }
      fields.append(Field(name, value))
      return true
    }
    let (outer, inner) = (String(name[..<dot]), String(name[name.utf8.index(after: dot)...]))
    guard let index = fields.firstIndex(where: { $0.name == outer }) else {
      fields.append(Field(outer, .fields([Field(inner, value)])))
      return true
    }
    guard case .fields(var members) = fields[index].value, !members.contains(where: { $0.name == inner }) else {
      return false
    }
    members.append(Field(inner, value))
    fields[index].value = .fields(members)
    return true
  }
}

extension ScanData {
  /// The date after which the item must not be used or sold as food: AI (17), or the date of AI (7003).
  public var expiry: ScanDate? { date("expiry") ?? dateTime("expiryTime")?.date }
  /// The date until which the item is at its best: AI (15).
  public var bestBefore: ScanDate? { date("bestBefore") }
  /// The date of production: AI (11).
  public var production: ScanDate? { date("production") }
  /// The date of packaging: AI (13).
  public var packaging: ScanDate? { date("packaging") }
  /// The last date on which the item should be sold: AI (16).
  public var sellBy: ScanDate? { date("sellBy") }
  /// The batch or lot: AI (10).
  public var lot: String? { text("lot") }
  /// The serial number: AI (21).
  public var serial: String? { text("serial") }
  /// The variant: AI (20).
  public var variant: String? { text("variant") }
  /// The number of items in a logistic unit: AI (37), or a quantity of another kind of label.
  public var count: ExactDecimal? {
    guard case .number(let number) = self["count"] else { return nil }
    return number
  }
  /// The net weight and its unit: AI (310n), (320n) or (356n).
  public var netWeight: (value: ExactDecimal, unit: String)? {
    guard case .quantity(let value, let unit) = self["netWeight"] else { return nil }
    return (value, unit)
  }
  /// The price and its currency, if the label states one: AI (392n) or (393n).
  public var price: (value: ExactDecimal, currency: String?)? {
    guard case .money(let value, let currency) = self["price"] else { return nil }
    return (value, currency)
  }
  /// The number of a logistic unit, a pallet for example: AI (00).
  public var sscc: String? { text("sscc") }

  private func date(_ name: String) -> ScanDate? {
    guard case .date(let date) = self[name] else { return nil }
    return date
  }

  private func dateTime(_ name: String) -> ScanDateTime? {
    guard case .dateTime(let dateTime) = self[name] else { return nil }
    return dateTime
  }

  private func text(_ name: String) -> String? {
    guard case .text(let text) = self[name] else { return nil }
    return text
  }
}
