import Testing

@testable import ObjectStores

@Suite struct S3LocationTests {
  @Test func `a location is a bucket and a prefix`() throws {
    for (text, bucket, prefix) in [
      ("s3://shop", "shop", ""), ("s3://shop/", "shop", ""), ("s3://shop/a", "shop", "a"),
      ("s3://shop.example/a/b//", "shop.example", "a/b"),
    ] {
      let location = try S3Location(parsing: text)
      #expect(location.bucket == bucket)
      #expect(location.prefix == prefix)
    }
    let location = try S3Location(parsing: "s3://shop/a/b/")
    #expect(location.description == "s3://shop/a/b")
    #expect(location.key("objects/x") == "a/b/objects/x")
    #expect(try S3Location(bucket: "shop").key("x") == "x")
  }

  @Test(arguments: [
    "shop", "S3://shop", "s3://", "s3:///a", "s3://ab", "s3://shop/a//b", "s3://shop/../a", "s3://sh op/a",
  ])
  func `anything else is refused, with what to write`(text: String) {
    let error = #expect(throws: ObjectStoreError.self) { try S3Location(parsing: text) }
    #expect(error?.description.hasSuffix("write s3://BUCKET/PREFIX") == true)
    #expect(error?.exitStatus == .usage)
  }

  private func endpoint(
    _ url: String?, bucket: String = "shop", region: String = "eu-central-1", style: S3Style? = nil
  ) throws(ObjectStoreError) -> S3Endpoint {
    try S3Endpoint(bucket: bucket, region: region, endpoint: url, style: style, source: "the endpoint")
  }

  @Test func `a URL has the bucket in its host at Amazon's, and in its path elsewhere`() throws {
    #expect(try endpoint(nil).base == "https://shop.s3.eu-central-1.amazonaws.com/")
    #expect(try endpoint(nil, region: "cn-north-1").base == "https://shop.s3.cn-north-1.amazonaws.com.cn/")
    #expect(try endpoint(nil, style: .path).base == "https://s3.eu-central-1.amazonaws.com/shop/")
    // The certificate is for one part before the server's name.
    #expect(try endpoint(nil, bucket: "a.b").base == "https://s3.eu-central-1.amazonaws.com/a.b/")
    #expect(try endpoint("http://127.0.0.1:9000/").base == "http://127.0.0.1:9000/shop/")
    #expect(try endpoint("HTTPS://s.example/s3/v1").base == "https://s.example/s3/v1/shop/")
    #expect(try endpoint("https://s.example:8443", style: .virtualHost).base == "https://shop.s.example:8443/")
    #expect(try endpoint("https://s.example", style: .virtualHost).host == "shop.s.example")
  }

  @Test(arguments: [
    "s.example", "ftp://s.example", "https://", "https://s.example/?a", "https://s example", "https://:80",
  ])
  func `an endpoint that is no URL of a server is refused`(url: String) {
    let error = #expect(throws: ObjectStoreError.self) { try endpoint(url) }
    #expect(error?.description.hasPrefix("the endpoint is '\(url)'") == true)
  }

  @Test func `the password of an endpoint is not repeated, and an address has no bucket before it`() {
    let error = #expect(throws: ObjectStoreError.self) { try endpoint("https://user:pa55@s.example") }
    #expect(error?.description.contains("pa55") == false)
    #expect(throws: ObjectStoreError.self) { try endpoint("http://127.0.0.1:9000", style: .virtualHost) }
    #expect(throws: ObjectStoreError.self) { try endpoint("http://[::1]:9000", style: .virtualHost) }
  }

  @Test func `region and endpoint come from the caller, the environment, or the profile, in this order`() throws {
    let location = try S3Location(bucket: "shop")
    let variables = [
      "AWS_REGION": "r-1", "AWS_DEFAULT_REGION": "r-2", "AWS_ENDPOINT_URL_S3": "http://one.example",
      "AWS_ENDPOINT_URL": "http://two.example",
    ]
    func store(_ options: S3Options = S3Options(), without names: [String] = []) throws -> S3Store {
      try S3Store(location, options: options, environment: variables.filter { !names.contains($0.key) })
    }
    #expect(try store(S3Options(region: "r-0", endpoint: "http://zero.example")).region == "r-0")
    #expect(try store(S3Options(endpoint: "http://zero.example")).endpoint.host == "zero.example")
    #expect(try store().region == "r-1")
    #expect(try store().endpoint.host == "one.example")
    #expect(try store(without: ["AWS_REGION", "AWS_ENDPOINT_URL_S3"]).region == "r-2")
    #expect(try store(without: ["AWS_REGION", "AWS_ENDPOINT_URL_S3"]).endpoint.host == "two.example")
    #expect(
      try S3Store(location, environment: ["AWS_CA_BUNDLE": "/a.pem"]).options.certificateAuthorityFile == "/a.pem")
    let none = try S3Store(location, environment: [:])
    #expect(none.region == "us-east-1")
    #expect(none.endpoint.host == "shop.s3.us-east-1.amazonaws.com")
    let error = #expect(throws: ObjectStoreError.self) {
      try S3Store(location, environment: ["AWS_REGION": "eu central"])
    }
    #expect(error?.description.hasPrefix("AWS_REGION is 'eu central'") == true)
  }
}
