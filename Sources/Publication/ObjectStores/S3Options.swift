package import CurlClient

/// How a bucket is reached. What is `nil` comes from the environment, and then from the profile.
package struct S3Options: Sendable {
  /// The region; otherwise `AWS_REGION`, `AWS_DEFAULT_REGION`, the `region` of the profile, `us-east-1`.
  package var region: String?
  /// The URL of the server; otherwise `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, the `endpoint_url` of the profile,
  /// Amazon's.
  package var endpoint: String?
  /// Where a URL has the bucket; otherwise in the host at Amazon's, and in the path elsewhere.
  package var style: S3Style?
  /// A PEM file of the authorities to trust instead of the system's; otherwise `AWS_CA_BUNDLE`.
  package var certificateAuthorityFile: String?
  /// `nil` to connect directly.
  package var proxy: ClientProxy?
  /// The number of attempts of a request that fails for a reason that may pass.
  package var maximumAttempts = 5

  package init(region: String? = nil, endpoint: String? = nil, style: S3Style? = nil) {
    self.region = region
    self.endpoint = endpoint
    self.style = style
  }
}
