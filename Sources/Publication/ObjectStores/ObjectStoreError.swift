package import Cryptography
package import Platform
import TextFormat

/// Why an object could not be read, written or deleted. Messages never contain a secret.
package enum ObjectStoreError: Error, Sendable, Equatable {
  // MARK: Before anything is asked

  /// The name of an object is not one, see ``ObjectName``.
  case invalidName(String)
  /// A text is not the location of a bucket.
  case invalidLocation(String, reason: String)
  /// A setting, by its name, has a value that cannot be used.
  case invalidSetting(name: String, value: String, reason: String)
  /// There are no credentials that can be used, and why.
  case credentials(reason: String)
  /// The system's libcurl cannot be used, and why.
  case noLibrary(reason: String)
  case cryptography(CryptographyError)

  // MARK: In a directory

  /// The file system has refused.
  case storage(StorageError)
  /// Another process holds the lock of a directory.
  case locked(path: String)

  // MARK: In a bucket

  /// No answer arrived.
  case unreachable(store: String, reason: String)
  /// The server refuses the key.
  case denied(store: String, name: String, key: String, answer: S3Refusal)
  /// The bucket lies in another region.
  case wrongRegion(store: String, used: String, actual: String)
  /// The server refuses the time of the request.
  case clock(store: String, answer: S3Refusal)
  /// There is no such bucket.
  case noBucket(store: String, bucket: String, host: String)
  /// The server does not take conditions.
  case conditionRefused(store: String, name: String, answer: S3Refusal)
  /// The server refuses for any other reason.
  case refused(store: String, name: String, answer: S3Refusal)

  // MARK: Anywhere

  /// An object has more bytes than the caller takes.
  case tooLarge(store: String, name: String, limit: Int)
  /// The task was cancelled.
  case cancelled
}

/// A server's answer that refuses a request.
package struct S3Refusal: Sendable, Equatable {
  package var status: Int
  /// The `Code` of the answer; empty if it has none.
  package var code = ""
  /// The `Message` of the answer; empty if it has none.
  package var message = ""

  package init(status: Int, code: String = "", message: String = "") {
    self.status = status
    self.code = code
    self.message = message
  }
}

extension S3Refusal: CustomStringConvertible {
  package var description: String {
    let words = [code, message == code ? "" : message].filter { !$0.isEmpty }.joined(separator: ": ")
    return words.isEmpty ? "status \(status)" : "status \(status), \(words)"
  }
}

extension ObjectStoreError: CustomStringConvertible {
  /// What failed, why, and what to do.
  package var description: String {
    switch self {
    case .invalidName(let name):
      "'\(TerminalText.shown(name))' cannot be the name of an object: a name has letters, digits, '.', '_' and '-' of"
        + " ASCII, '/' between its parts, and no part that begins with a dot"
    case .invalidLocation(let text, let reason):
      "'\(TerminalText.shown(text))' is not the location of a bucket: \(reason); write s3://BUCKET/PREFIX"
    case .invalidSetting(let name, let value, let reason):
      "\(name) is '\(TerminalText.shown(value))': \(reason)"
    case .credentials(let reason): reason
    case .noLibrary(let reason): reason
    case .cryptography(let error): "\(error)"
    case .storage(let error): "\(error)"
    case .locked(let path):
      "another process is writing to \(path): it holds the lock \(path)/\(DirectoryStore.lockName); wait for it to end"
        + " (lslocks names it) and try again"
    case .unreachable(let store, let reason): "\(store): no answer: \(reason)"
    case .denied(let store, let name, let key, let answer):
      "\(store): the server refuses the key \(TerminalText.shown(key)) for \(name) (\(answer)); \(Self.advice(answer))"
    case .wrongRegion(let store, let used, let actual):
      "\(store): the bucket lies in the region \(actual), not in \(used); use that one (AWS_REGION=\(actual))"
    case .clock(let store, let answer):
      "\(store): the server says that the clock of this machine is wrong (\(answer)); set the clock and try again"
    case .noBucket(let store, let bucket, let host):
      "\(store): there is no bucket '\(bucket)' at \(host); create it, or correct the name or the endpoint"
    case .conditionRefused(let store, let name, let answer):
      "\(store): the server takes no conditions for writing \(name) (\(answer))"
    case .refused(let store, let name, let answer): "\(store): the server refuses the request for \(name) (\(answer))"
    case .tooLarge(let store, let name, let limit): "\(store): \(name) has more than \(limit) bytes"
    case .cancelled: "cancelled"
    }
  }

  private static func advice(_ answer: S3Refusal) -> String {
    switch answer.code {
    case "InvalidAccessKeyId": "check the key (AWS_ACCESS_KEY_ID or the file of credentials), and the endpoint"
    case "SignatureDoesNotMatch": "check the secret of the key (AWS_SECRET_ACCESS_KEY or the file of credentials)"
    case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
      "the session has ended: get new credentials, with their AWS_SESSION_TOKEN"
    default:
      "the key needs s3:GetObject, s3:PutObject and s3:DeleteObject for the objects, and s3:ListBucket for the bucket,"
        + " without which a missing object is answered by a refusal"
    }
  }
}

extension ObjectStoreError: ProgramError {
  package var exitStatus: ExitStatus {
    switch self {
    case .invalidName, .invalidLocation, .invalidSetting: .usage
    case .credentials, .denied: .permission
    case .storage(let error): error.exitStatus
    case .locked, .cancelled: .temporary
    case .tooLarge: .data
    case .noLibrary, .cryptography, .unreachable, .wrongRegion, .clock, .noBucket, .conditionRefused, .refused:
      .unavailable
    }
  }
}
