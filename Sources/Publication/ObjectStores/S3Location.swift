/// A bucket, and where in it the objects are.
package struct S3Location: Sendable, Equatable, CustomStringConvertible {
  /// What a location begins with.
  package static let scheme = "s3://"

  package let bucket: String
  /// The path before the names of the objects, without slashes at its ends; empty for the bucket as a whole.
  package let prefix: String

  /// - Throws: `ObjectStoreError.invalidLocation`.
  package init(bucket: String, prefix: String = "") throws(ObjectStoreError) {
    let text = Self.scheme + bucket + (prefix.isEmpty ? "" : "/" + prefix)
    guard (3...63).contains(bucket.utf8.count), !bucket.contains("/"), !bucket.contains(".."),
      ObjectName.isValid(bucket)
    else {
      throw .invalidLocation(
        text, reason: "the name of a bucket has 3 to 63 letters, digits, '.', '_' and '-', and begins with no dot")
    }
    guard prefix.isEmpty || ObjectName.isValid(prefix) else {
      throw .invalidLocation(
        text,
        reason:
          "a prefix has letters, digits, '.', '_' and '-' of ASCII, '/' between its parts, and no part that begins"
          + " with a dot")
    }
    self.bucket = bucket
    self.prefix = prefix
  }

  /// Reads `s3://BUCKET` or `s3://BUCKET/PREFIX`.
  ///
  /// - Throws: `ObjectStoreError.invalidLocation`.
  package init(parsing text: String) throws(ObjectStoreError) {
    guard text.hasPrefix(Self.scheme) else { throw .invalidLocation(text, reason: "it does not begin with s3://") }
    var rest = text.dropFirst(Self.scheme.count)
    while rest.hasSuffix("/") { rest.removeLast() }
    let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    try self.init(bucket: parts.first.map(String.init) ?? "", prefix: parts.count == 2 ? String(parts[1]) : "")
  }

  package var description: String { Self.scheme + bucket + (prefix.isEmpty ? "" : "/" + prefix) }

  /// The key of an object in the bucket.
  func key(_ name: String) -> String { prefix.isEmpty ? name : prefix + "/" + name }
}
