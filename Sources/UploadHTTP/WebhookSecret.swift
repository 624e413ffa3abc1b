import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A secret of signatures as in Standard Webhooks (HMAC-SHA256). It is never shown.
public struct WebhookSecret: Sendable, Equatable {
  /// The fewest bytes of a secret, as Standard Webhooks asks for.
  public static let minimumByteCount = 24
  /// The beginning of a secret that is written in base64.
  private static let prefix = "whsec_"

  private let key: SymmetricKey

  /// Creates a secret from the contents of a file.
  ///
  /// - Parameter bytes: What a file of a secret holds: `whsec_` and base64, or the bytes of the secret themselves. White space around a
  ///   text is not a part of it.
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
    key = SymmetricKey(data: secret)
  }

  /// Begins the signature of a request.
  func hash(id: String, timestamp: Int64) -> HMAC<SHA256> {
    var hash = HMAC<SHA256>(key: key)
    hash.update(data: Array("\(id).\(timestamp).".utf8))
    return hash
  }
}

extension WebhookSecret: CustomStringConvertible, CustomReflectable {
  /// A fixed text, so that the secret is never printed.
  public var description: String { "(secret)" }
  /// A mirror without children, so that `dump(_:)` and debuggers do not print the secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The headers by which a receiver tells who sent a request, and that nobody changed it: those of Standard Webhooks.
///
/// A signature is that of `ID.TIMESTAMP.BODY`, where the body is what the request carries, packed if it is packed. While two secrets
/// are in use there are two signatures, so that receivers change to the new one when they like.
struct WebhookSignature {
  static let headerNames = ["webhook-id", "webhook-timestamp", "webhook-signature"]

  private let id: String
  private let timestamp: Int64
  private var hashes: [HMAC<SHA256>]

  /// - Parameters:
  ///   - id: What a repetition is told by.
  ///   - timestamp: Seconds since 1970, of this attempt.
  init(_ secrets: [WebhookSecret], id: String, timestamp: Int64) {
    self.id = id
    self.timestamp = timestamp
    hashes = secrets.map { $0.hash(id: id, timestamp: timestamp) }
  }

  /// Adds the next bytes of the body.
  mutating func update(_ bytes: [UInt8]) {
    for index in hashes.indices { hashes[index].update(data: bytes) }
  }

  var headers: [(name: String, value: String)] {
    let signatures = hashes.map { "v1," + Data($0.finalize()).base64EncodedString() }
    return [
      ("webhook-id", id), ("webhook-timestamp", "\(timestamp)"),
      ("webhook-signature", signatures.joined(separator: " ")),
    ]
  }
}
