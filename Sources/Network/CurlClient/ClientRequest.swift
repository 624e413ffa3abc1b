/// A request of an ``HTTPClient``.
package struct ClientRequest: Sendable {
  /// An `http` or `https` URL, without a user.
  package var url: String
  package var method = "GET"
  /// The fields of the head, in order. `Host` and what frames the body are the client's own.
  package var headers: [(name: String, value: String)] = []
  /// `nil` for a request without a body.
  package var body: ClientBody?
  /// `nil` to connect directly. Variables of the environment are not read.
  package var proxy: ClientProxy?
  /// A PEM file of the authorities to trust instead of the system's.
  package var certificateAuthorityFile: String?
  /// `nil` for a request that is not signed. libcurl signs all of ``headers``.
  package var signature: ClientSignature?
  package var verifiesCertificates = true
  /// Whether to speak HTTP/1.1 even where the server offers HTTP/2.
  package var isHTTP1Only = false
  /// The longest time for name resolution, TCP, TLS and a proxy's tunnel together.
  package var connectTimeout: Duration = .seconds(10)
  /// The longest time from the open connection to the head of the answer, and between two pieces of its body; `nil` for
  /// no limit. The time that the caller spends on a piece does not count.
  package var silenceTimeout: Duration?
  /// The longest time from the beginning to the head of the answer; `nil` for no limit.
  package var headTimeout: Duration?
  /// The end of all waits; `nil` for no limit.
  package var deadline: ContinuousClock.Instant?
  /// Whether to end after the TLS handshake: ``HTTPExchange/certificateDates()``.
  var onlyConnects = false

  package init(url: String) { self.url = url }
}

/// A proxy of an ``HTTPClient``.
package struct ClientProxy: Sendable {
  /// `SCHEME://HOST:PORT`, where the scheme is one that libcurl knows: `http`, `https`, `socks4`, `socks4a`, `socks5`,
  /// `socks5h`.
  package var url: String
  package var user: String?
  package var password: String?

  package init(url: String, user: String? = nil, password: String? = nil) {
    self.url = url
    self.user = user
    self.password = password
  }
}

/// How libcurl signs a request: AWS Signature Version 4.
///
/// A body is sent after a server's `100 Continue`, or after a tenth of a second without one.
///
/// The `x-amz-content-sha256` header is the caller's: libcurl does not see a body before it is sent.
package struct ClientSignature: Sendable, Equatable {
  /// `aws:amz:REGION:SERVICE`.
  package var provider: String
  package var accessKey: String
  package var secret: String

  package init(provider: String, accessKey: String, secret: String) {
    self.provider = provider
    self.accessKey = accessKey
    self.secret = secret
  }

  /// Whether a libcurl signs as S3 needs it. Versions before 7.88 ignore the hash of the body, or leave headers out.
  ///
  /// - Parameter version: The version of libcurl and of what it uses: `libcurl/7.88.1 OpenSSL/3.0.19`.
  static func isSupported(byVersion version: String) -> Bool {
    guard let own = version.split(separator: " ").first, own.hasPrefix("libcurl/") else { return false }
    let numbers = own.dropFirst("libcurl/".count).split { !$0.isNumber }.prefix(2).map { Int($0) ?? 0 }
    return numbers.count == 2 && (numbers[0], numbers[1]) >= (7, 88)
  }
}

extension ClientSignature: CustomStringConvertible, CustomReflectable {
  /// Without the secret, so that no log or message has it.
  package var description: String { "\(provider), key \(accessKey)" }
  package var customMirror: Mirror { Mirror(self, children: ["provider": provider, "accessKey": accessKey]) }
}

/// The body of a request, read piece by piece.
package struct ClientBody: Sendable {
  /// Returns the next bytes; `nil` at the end. Called on a thread that no task waits for, so it may block.
  package typealias Reader = () throws -> [UInt8]?

  /// The number of bytes; `nil` if it is not known before.
  let byteCount: Int?
  /// Begins at the first byte. Called again if the request has to be sent again on another connection.
  let makeReader: @Sendable () throws -> Reader

  package init(byteCount: Int?, makeReader: @escaping @Sendable () throws -> Reader) {
    self.byteCount = byteCount
    self.makeReader = makeReader
  }

  /// A body of bytes in memory.
  package init(_ bytes: [UInt8]) {
    self.init(byteCount: bytes.count) {
      var rest: [UInt8]? = bytes
      return { rest.take() }
    }
  }
}

/// The head of an answer.
package struct ResponseHead: Sendable {
  package let status: Int
  /// The size of the head in bytes, as libcurl gives it: HTTP/2 transfers fewer.
  package let byteCount: Int
  /// In the order of the answer.
  private let fields: [(name: String, value: String)]

  /// - Parameter text: The lines of the head, with the status line.
  init(status: Int, text: String) {
    self.status = status
    byteCount = text.utf8.count
    fields = text.split(whereSeparator: \.isNewline).dropFirst().compactMap { line in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
      let value = line[line.index(after: colon)...].drop(while: isBlank)
      let end = value.lastIndex { !isBlank($0) }.map(value.index(after:)) ?? value.startIndex
      return (line[..<colon].lowercased(), String(value[..<end]))
    }
  }

  /// The first value of a field; `nil` if the answer has none. Upper and lower case are the same.
  package subscript(name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name == name }?.value
  }
}
