/// A line end: a sequence of bytes that ends a line.
public struct LineEnd: Sendable, Hashable {
  /// One or two bytes.
  let bytes: [UInt8]

  /// CR, 0x0D.
  public static let carriageReturn = LineEnd(byte: 0x0D)
  /// LF, 0x0A.
  public static let lineFeed = LineEnd(byte: 0x0A)
  /// CR followed by LF. Each of them alone belongs to the line, unless it is a line end itself.
  public static let carriageReturnLineFeed = LineEnd(bytes: [0x0D, 0x0A])
  /// HT, 0x09.
  public static let tab = LineEnd(byte: 0x09)
  /// ETX, 0x03.
  public static let endOfText = LineEnd(byte: 0x03)

  /// Creates a line end of any single byte.
  public init(byte: UInt8) { bytes = [byte] }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Whether the Enter key types it.
  var isNewline: Bool { self == .carriageReturn || self == .lineFeed || self == .carriageReturnLineFeed }
}
