/// A key of an S3-compatible store, with its secret. The secret is in no description.
package struct S3Credentials: Sendable, Equatable {
  package var accessKey: String
  package var secret: String
  /// Part of credentials that end.
  package var sessionToken: String?
  /// When they end, in seconds since 1970 UTC; `nil` for credentials that do not.
  package var expiration: Int64?

  package init(accessKey: String, secret: String, sessionToken: String? = nil, expiration: Int64? = nil) {
    self.accessKey = accessKey
    self.secret = secret
    self.sessionToken = sessionToken
    self.expiration = expiration
  }
}

extension S3Credentials: CustomStringConvertible, CustomReflectable {
  package var description: String { "key \(accessKey)" }
  package var customMirror: Mirror { Mirror(self, children: ["accessKey": accessKey]) }
}
