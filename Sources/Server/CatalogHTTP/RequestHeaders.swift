import HTTPSupport

/// The headers that a transport sends with each request, except `Host`.
enum RequestHeaders {
  /// The headers of the options, validated.
  ///
  /// - Parameters:
  ///   - credentials: The text `user:password` of the URL, for Basic authentication if the options have no
  ///     authorization.
  ///   - accept: The value of `Accept`, which the options may replace.
  ///   - own: Further names, in lower case, that the transport sets itself.
  /// - Throws: ``TransportError/invalidHeader(name:)``.
  static func list(
    _ options: TransportOptions, credentials: String?, accept: String, own: [String] = []
  ) throws(TransportError) -> [(name: String, value: String)] {
    var headers = [(name: "Accept", value: accept), (name: "User-Agent", value: options.userAgent)]
    if let authorization = options.authorization {
      headers.append(("Authorization", authorization))
    } else if let credentials {
      headers.append(("Authorization", "Basic \(Basic.encoded(credentials))"))
    }
    for (name, value) in options.headers {
      let replaceable = ["accept", "user-agent", "authorization"].contains(name.lowercased())
      if replaceable { headers.removeAll { $0.name.lowercased() == name.lowercased() } }
      headers.append((name, value))
    }
    // Headers that the client sets itself.
    let own = own + ["host", "content-length", "transfer-encoding", "connection", "accept-encoding"]
    for (name, value) in headers where !HeaderField.isSendable(name: name, value: value, own: own) {
      throw .invalidHeader(name: name)
    }
    return headers
  }
}
