/// A GS1 application identifier, or a range of them that differ only in their last digit: how long its value is, what
/// the value contains, and what it means (GS1 General Specifications 3.2).
public struct ApplicationIdentifier: Sendable {
  /// The row of the table. All values share the table's rows, so that copying one costs little.
  private let row: Row

  /// A row of the table.
  private final class Row: Sendable {
    let first: Int
    let last: Int
    let digitCount: Int
    let title: String
    let format: String
    let name: String
    let isPredefined: Bool
    let isLinkAttribute: Bool
    let linkQualifiers: [[Substring]]?
    let type: ElementType
    let components: [ElementComponent]
    let minimumLength: Int
    let maximumLength: Int
    let leadingDigitCount: Int

    init(range: String, format: String, title: String, name: String, type: ElementType, options: Options, key: String?)
    {
      let ends = range.split(separator: "-").compactMap { Int($0) }
      guard let first = ends.first, let last = ends.last else { preconditionFailure("an identifier is a number") }
      self.first = first
      self.last = last
      digitCount = range.prefix { $0 != "-" }.count
      self.title = title
      self.format = format
      self.name = name
      self.type = type
      isPredefined = options.contains(.predefined)
      isLinkAttribute = options.contains(.link)
      linkQualifiers = key.map { $0.split(separator: "|").map { $0.split(separator: ",") } }
      components = format.split(separator: " ").map { ElementComponent(notation: $0) }
      minimumLength = components.reduce(0) { $0 + ($1.isOptional ? 0 : $1.minimumLength) }
      maximumLength = components.reduce(0) { $0 + $1.maximumLength }
      leadingDigitCount = components.prefix { $0.characters == .digits }.reduce(0) { $0 + $1.maximumLength }
    }
  }

  /// The first identifier of the range as a number, for example 3100. Identifiers of 2, 3 and 4 digits never collide as
  /// numbers, because only those of two digits start with zero.
  var first: Int { row.first }
  /// The last identifier of the range.
  var last: Int { row.last }
  /// The number of digits of the identifier, 2 to 4.
  var digitCount: Int { row.digitCount }
  /// The title that the standard gives the value, for example `BATCH/LOT`.
  public var title: String { row.title }
  /// The format of the value in the notation of the GS1 Barcode Syntax Dictionary, for example `N3,iso4217 N..15`.
  public var format: String { row.format }
  /// The name of the value in ``ScanData``, for example `lot`. A dot leads into ``ScanValue/fields(_:)``.
  public var name: String { row.name }
  /// Whether the length of the value follows from the first two digits of the identifier, so that no separator is
  /// needed after it. The list of such identifiers is closed (General Specifications 7.8).
  public var isPredefined: Bool { row.isPredefined }
  /// Whether a Digital Link may have this identifier as an attribute.
  var isLinkAttribute: Bool { row.isLinkAttribute }
  /// The alternative orders of the qualifiers that may follow this identifier as the key of a Digital Link; `nil` if it
  /// is not a key.
  var linkQualifiers: [[Substring]]? { row.linkQualifiers }
  /// The type of the value.
  var type: ElementType { row.type }
  /// The components of the value, in order.
  var components: [ElementComponent] { row.components }
  /// The least number of characters of the value.
  var minimumLength: Int { row.minimumLength }
  /// The greatest number of characters of the value.
  var maximumLength: Int { row.maximumLength }
  /// The number of leading characters that must be digits; `maximumLength` for a numeric value.
  var leadingDigitCount: Int { row.leadingDigitCount }
  /// Whether the value consists of digits only.
  var isNumeric: Bool { leadingDigitCount == maximumLength }
  /// Whether all values have the same length.
  var isFixed: Bool { minimumLength == maximumLength }
  /// The identifiers of the range as people write them: `10`, or `3100-3105`.
  public var range: String { first == last ? Self.text(first, digitCount) : "\(first)-\(last)" }

  /// Properties of a row of the table.
  struct Options: OptionSet {
    let rawValue: UInt8
    static let predefined = Options(rawValue: 1)
    static let link = Options(rawValue: 2)
  }

  /// Creates a row of the table.
  static func row(
    _ range: String, _ format: String, _ title: String, _ name: String, _ type: ElementType, _ options: Options = [],
    key: String? = nil
  ) -> ApplicationIdentifier {
    ApplicationIdentifier(
      row: Row(range: range, format: format, title: title, name: name, type: type, options: options, key: key))
  }

  private static func text(_ identifier: Int, _ digitCount: Int) -> String {
    let digits = String(identifier)
    return String(repeating: "0", count: digitCount - digits.count) + digits
  }
}

// MARK: Finding an identifier

extension ApplicationIdentifier {
  /// The row of each identifier, plus one, by the identifier as a number; 0 if there is no such identifier.
  private static let rowNumbers: [UInt8] = {
    var rows = [UInt8](repeating: 0, count: 10_000)
    for (index, row) in all.enumerated() {
      for identifier in row.first...row.last { rows[identifier] = UInt8(index + 1) }
    }
    return rows
  }()

  /// Finds an identifier, for example `3103`; `nil` if GS1 has no such identifier.
  public init?(_ identifier: some StringProtocol) {
    let bytes = Array(identifier.utf8)
    guard let found = ApplicationIdentifier(at: 0, in: bytes), found.digitCount == bytes.count else { return nil }
    self = found
  }

  /// Finds the identifier at `offset` in `bytes`; `nil` if there is no identifier at that offset.
  init?(at offset: Int, in bytes: [UInt8]) {
    guard let count = Self.digitCount(at: offset, in: bytes) else { return nil }
    var identifier = 0
    for byte in bytes[offset..<offset + count] { identifier = identifier * 10 + Int(byte - UInt8(ascii: "0")) }
    let number = Self.rowNumbers[identifier]
    guard number > 0 else { return nil }
    let found = Self.all[Int(number) - 1]
    guard found.digitCount == count else { return nil }
    self = found
  }

  /// Returns the number of digits of the identifier at `offset`, known or not; `nil` if there are not that many digits.
  ///
  /// The first two digits determine it (General Specifications 7.8).
  static func digitCount(at offset: Int, in bytes: [UInt8]) -> Int? {
    guard offset + 2 <= bytes.count, ASCII.isDigit(bytes[offset]), ASCII.isDigit(bytes[offset + 1]) else { return nil }
    let count =
      switch (bytes[offset], bytes[offset + 1]) {
      case (0x32, 0x33...0x35), (0x34, 0x30...0x32), (0x37, 0x31): 3
      case (0x33, 0x31...0x36), (0x33, 0x39), (0x34, 0x33), (0x37, 0x30), (0x37, 0x32), (0x38, 0x30...0x32): 4
      default: 2
      }
    guard offset + count <= bytes.count, bytes[offset..<offset + count].allSatisfy(ASCII.isDigit) else { return nil }
    return count
  }
}

// MARK: Delimiting a value

extension ApplicationIdentifier {
  /// A reason why a value cannot be delimited or read at all.
  enum Defect { case tooShort, tooLong, wrongCharacter }

  /// Returns what is wrong with the form of `value`: its length, its digits or its characters; `nil` if it can be read.
  ///
  /// Text may contain any printable ASCII character except the backslash. That is more than character set 82 (General
  /// Specifications 7.11) allows, because lots with blanks or `#` are printed in practice and should be returned
  /// unchanged; the typed data leave them out. The backslash is excluded because it is the escape character of the
  /// bracketed form.
  func defect(of value: ArraySlice<UInt8>) -> Defect? {
    for (index, byte) in value.prefix(maximumLength).enumerated() {
      if index < leadingDigitCount {
        guard ASCII.isDigit(byte) else { return .wrongCharacter }
      } else {
        guard ASCII.isPrintable(byte), byte != ASCII.backslash else { return .wrongCharacter }
      }
    }
    if value.count < minimumLength { return .tooShort }
    if value.count > maximumLength { return .tooLong }
    return nil
  }
}
