/// Something on a label that is wrong: a value that cannot be read as its identifier demands.
///
/// The value stays available as it is, in ``ElementString/elements`` or in the scanned text.
public struct ScanIssue: Hashable, Sendable {
  /// The identifier whose value is wrong, for example `17` or, on a label of ISO/IEC 15434, `9D`; `nil` if the issue
  /// concerns none.
  public let ai: String?
  /// The offset in the scanned text, in bytes of UTF-8, where the element with the issue begins.
  public let position: Int
  /// What is wrong, for users.
  public let reason: String
  /// The codes that came in one transmission, if that is the issue; otherwise empty.
  public let codes: [String]

  /// Creates an issue.
  public init(ai: String?, position: Int, reason: String, codes: [String] = []) {
    self.ai = ai
    self.position = position
    self.reason = reason
    self.codes = codes
  }
}
