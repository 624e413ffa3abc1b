import Testing

@testable import CurlClient

@Suite struct ClientSignatureTests {
  @Test(
    arguments: [
      ("libcurl/7.88.1 OpenSSL/3.0.19 zlib/1.2.13", true), ("libcurl/8.0.0-DEV", true), ("libcurl/10.1.2", true),
      ("libcurl/7.100.0", true), ("libcurl/7.87.0 GnuTLS/3.7.9", false), ("libcurl/7.9.8", false),
      ("curl 8.1.0", false), ("", false),
    ])
  func `only a libcurl that signs the body's hash and all headers is used`(version: String, expected: Bool) {
    #expect(ClientSignature.isSupported(byVersion: version) == expected)
  }

  @Test func `no description has the secret`() {
    let signature = ClientSignature(provider: "aws:amz:eu-central-1:s3", accessKey: "KEY", secret: "s3cr")
    var text = "\(signature) \(String(reflecting: signature)) "
    dump(signature, to: &text)
    #expect(text.contains("KEY"))
    #expect(!text.contains("s3cr"))
  }
}
