import Essentials
import Platform

/// Finds the credentials of a bucket, and renews those that end.
///
/// In this order: `AWS_ACCESS_KEY_ID` with `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`; the profile's key in the
/// file of credentials; its `credential_process` there, or in the file of settings; its key in the file of settings.
package actor S3CredentialSource {
  /// How long before their end credentials are renewed.
  private static let margin: Int64 = 300

  private let environment: [String: String]
  private let now: @Sendable () -> Int64
  private var kept: S3Credentials?

  package init(environment: [String: String]) {
    self.init(environment: environment) { Int64(Date().timeIntervalSince1970) }
  }

  init(environment: [String: String], now: @escaping @Sendable () -> Int64) {
    self.environment = environment
    self.now = now
  }

  /// Credentials that were given.
  package init(_ credentials: S3Credentials) {
    self.init(environment: [
      "AWS_ACCESS_KEY_ID": credentials.accessKey, "AWS_SECRET_ACCESS_KEY": credentials.secret,
      "AWS_SESSION_TOKEN": credentials.sessionToken ?? "",
    ])
  }

  /// The credentials for the next request.
  ///
  /// - Throws: `ObjectStoreError.credentials`, `ObjectStoreError.storage`.
  package func current() async throws(ObjectStoreError) -> S3Credentials {
    if let kept, kept.expiration.map({ $0 - Self.margin > now() }) ?? true { return kept }
    let (environment, time) = (environment, now())
    let found: S3Credentials
    do { found = try await BlockingThread.run { try Self.find(environment, now: time) } } catch {
      // Nothing else is thrown than what `find` throws.
      throw error as? ObjectStoreError ?? .cancelled
    }
    kept = found
    return found
  }

  /// Drops what was found: the server says that the session has ended.
  ///
  /// - Returns: Whether it is worth to look again.
  package func drop(_ credentials: S3Credentials) -> Bool {
    if kept == credentials { kept = nil }
    return credentials.expiration != nil
  }

  /// Blocks.
  private static func find(
    _ environment: [String: String], now: Int64
  ) throws(ObjectStoreError) -> S3Credentials {
    let variables = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
    if let credentials = try pair(
      variables, token: "AWS_SESSION_TOKEN", of: environment, source: "the environment")
    {
      return credentials
    }
    let profile = try AWSProfile(environment: environment)
    let keys = ["aws_access_key_id", "aws_secret_access_key"]
    func fixed(_ section: AWSProfile.Section?) throws(ObjectStoreError) -> S3Credentials? {
      guard let section else { return nil }
      return try pair(keys, token: "aws_session_token", of: section.values, source: section.source)
    }
    if let credentials = try fixed(profile.credentials) { return credentials }
    for section in [profile.credentials, profile.config] {
      guard let section, let command = section.values.nonEmpty("credential_process") else { continue }
      return try CredentialProcess(command: command, source: section.source).run(environment: environment, now: now)
    }
    if let credentials = try fixed(profile.config) { return credentials }
    throw .credentials(
      reason: "there are no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write"
        + " aws_access_key_id and aws_secret_access_key, or a credential_process, below [\(profile.name)] of"
        + " \(profile.credentialsPath)")
  }

  /// A key with its secret; `nil` if there is neither.
  private static func pair(
    _ names: [String], token: String, of values: [String: String], source: String
  ) throws(ObjectStoreError) -> S3Credentials? {
    guard let key = values.nonEmpty(names[0]) else {
      if values.nonEmpty(names[1]) == nil { return nil }
      throw .credentials(reason: "\(source) has \(names[1]) without \(names[0]); set both")
    }
    guard let secret = values.nonEmpty(names[1]) else {
      throw .credentials(reason: "\(source) has \(names[0]) without \(names[1]); set both")
    }
    for (name, text) in [(names[0], key), (names[1], secret), (token, values[token] ?? "")] {
      // They become parts of a header.
      guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw .credentials(reason: "\(name) of \(source) has a blank, or a character that is not ASCII; copy it again")
      }
    }
    return S3Credentials(accessKey: key, secret: secret, sessionToken: values.nonEmpty(token))
  }
}
