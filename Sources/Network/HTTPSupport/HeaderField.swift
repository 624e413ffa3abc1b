/// Validation of request headers.
package enum HeaderField {
  /// Whether a field can be sent: the name must be a token (RFC 9110, 5.6.2), and the value must have no control
  /// characters except tabs.
  ///
  /// - Parameter own: The names, in lower case, that the client sets itself.
  package static func isSendable(name: String, value: String, own: [String]) -> Bool {
    let isToken =
      !name.isEmpty
      && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
    return isToken && !own.contains(name.lowercased())
      && value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
  }
}
