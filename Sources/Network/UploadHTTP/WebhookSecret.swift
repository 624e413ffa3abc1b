import Cryptography
import Essentials

/// A secret for signatures according to Standard Webhooks (HMAC-SHA256). It is never printed.
public struct WebhookSecret: Sendable, Equatable {
  /// The minimum number of bytes of a secret, as required by Standard Webhooks.
  public static let minimumByteCount = 24
  /// The prefix of a secret in base64.
  private static let prefix = "whsec_"

  private let key: [UInt8]

  /// Creates a secret from the contents of a file.
  ///
  /// - Parameter bytes: The contents of the file: `whsec_` and base64, or the bytes of the secret. White space around a
  ///   text is ignored.
  /// - Throws: `UploadHTTPError.secret` for invalid base64, or fewer bytes than ``minimumByteCount``.
  public init(_ bytes: [UInt8]) throws(UploadHTTPError) {
    var secret = bytes
    if let text = String(validating: bytes, as: UTF8.self) {
      let isSpace: (Character) -> Bool = { $0.isWhitespace }
      let trimmed = String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
      secret = Array(trimmed.utf8)
      if trimmed.hasPrefix(Self.prefix) {
        guard let data = Data(base64Encoded: String(trimmed.dropFirst(Self.prefix.count))) else {
          throw .secret("what follows \(Self.prefix) is to be base64")
        }
        secret = Array(data)
      }
    }
    guard secret.count >= Self.minimumByteCount else {
      throw .secret("it has \(secret.count) bytes, and is to have at least \(Self.minimumByteCount)")
    }
    key = secret
  }

  /// Begins the signature of a request.
  ///
  /// - Throws: `CryptographyError`.
  func hash(id: String, timestamp: Int64) throws(CryptographyError) -> Hash {
    let hash = try Hash.hmacSHA256(key: key)
    try hash.update(Array("\(id).\(timestamp).".utf8))
    return hash
  }

  /// Compares in a time that does not depend on how many bytes are equal.
  public static func == (left: WebhookSecret, right: WebhookSecret) -> Bool {
    left.key.count == right.key.count && zip(left.key, right.key).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension WebhookSecret: CustomStringConvertible, CustomReflectable {
  /// A fixed text, so that the secret is never printed.
  public var description: String { "(secret)" }
  /// A mirror without children, so that `dump(_:)` and debuggers do not print the secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The headers by which a receiver verifies the sender and the body of a request, according to Standard Webhooks.
///
/// A signature covers `ID.TIMESTAMP.BODY`, where the body is what the request carries, compressed if it is compressed.
/// While two secrets are in use, there are two signatures, so that receivers can change to the new secret at any time.
struct WebhookSignature {
  static let headerNames = ["webhook-id", "webhook-timestamp", "webhook-signature"]

  private let id: String
  private let timestamp: Int64
  private let hashes: [Hash]

  /// - Parameters:
  ///   - id: The id of the message, the same for each retry, so that the receiver can drop duplicates.
  ///   - timestamp: Seconds since 1970, of this attempt.
  /// - Throws: `CryptographyError`.
  init(_ secrets: [WebhookSecret], id: String, timestamp: Int64) throws(CryptographyError) {
    self.id = id
    self.timestamp = timestamp
    hashes = try secrets.map { secret throws(CryptographyError) in try secret.hash(id: id, timestamp: timestamp) }
  }

  /// Adds the next bytes of the body.
  func update(_ bytes: [UInt8]) throws(CryptographyError) {
    for hash in hashes { try hash.update(bytes) }
  }

  /// The headers for the bytes so far; none without secrets.
  func headers() throws -> [(name: String, value: String)] {
    if hashes.isEmpty { return [] }
    let signatures = try hashes.map { "v1," + Data(try $0.digest()).base64EncodedString() }
    return [
      ("webhook-id", id), ("webhook-timestamp", "\(timestamp)"),
      ("webhook-signature", signatures.joined(separator: " ")),
    ]
  }
}
