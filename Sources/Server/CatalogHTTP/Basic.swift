import Essentials

/// Basic authentication (RFC 7617).
enum Basic {
  /// The text `user:password`, encoded for the header.
  static func encoded(_ credentials: String) -> String { Data(credentials.utf8).base64EncodedString() }
}
