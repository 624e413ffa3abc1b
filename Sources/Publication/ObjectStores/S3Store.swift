import CurlClient
import Essentials
import HTTPSupport
import Platform

/// A bucket of an S3-compatible store. Requests are signed by the system's libcurl.
///
/// A version is the `ETag` of the server. A request that fails for a reason that may pass is repeated, see
/// ``S3Options/maximumAttempts``. If the answer to a write with a condition was lost, and the repetition finds that the
/// condition no longer holds, the object is compared with what was written: it may have been this writer.
package struct S3Store: ObjectStore {
  package let location: S3Location
  package let region: String
  let endpoint: S3Endpoint
  let options: S3Options
  let credentials: S3CredentialSource
  let timing: S3Timing
  let client = HTTPClient()

  /// Creates a store. No request is made, and no credentials are looked for yet.
  ///
  /// - Parameters:
  ///   - location: The bucket, and the prefix of the names.
  ///   - options: What the caller was told.
  ///   - environment: The variables of the environment.
  ///   - credentials: `nil` for those of the environment and of the profile.
  /// - Throws: `ObjectStoreError.invalidSetting`, `ObjectStoreError.storage`, `ObjectStoreError.credentials` if
  ///   `AWS_PROFILE` names no profile.
  package init(
    _ location: S3Location, options: S3Options = S3Options(), environment: [String: String],
    credentials: S3CredentialSource? = nil
  ) throws(ObjectStoreError) {
    try self.init(location, options: options, environment: environment, credentials: credentials, timing: .live)
  }

  init(
    _ location: S3Location, options: S3Options, environment: [String: String], credentials: S3CredentialSource?,
    timing: S3Timing
  ) throws(ObjectStoreError) {
    // The profile is not needed by a caller that has its own credentials.
    let profile = credentials == nil ? try AWSProfile(environment: environment).config : nil
    func setting(
      _ given: (value: String?, name: String), _ variables: [String], _ key: String
    ) -> (value: String, name: String)? {
      if let value = given.value { return (value, given.name) }
      for name in variables {
        if let value = environment.nonEmpty(name) { return (value, name) }
      }
      return profile.flatMap { profile in profile.values.nonEmpty(key).map { ($0, "\(key) of \(profile.source)") } }
    }
    let region = setting((options.region, "the region"), ["AWS_REGION", "AWS_DEFAULT_REGION"], "region")
    self.region = region?.value ?? "us-east-1"
    let isName = self.region.utf8.allSatisfy { byte in
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "-")
    }
    guard isName, !self.region.isEmpty else {
      throw .invalidSetting(
        name: region?.name ?? "", value: self.region, reason: "a region is a name such as eu-central-1")
    }
    let url = setting(
      (options.endpoint, "the endpoint"), ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"], "endpoint_url")
    endpoint = try S3Endpoint(
      bucket: location.bucket, region: self.region, endpoint: url?.value, style: options.style,
      source: url?.name ?? "the endpoint")
    self.location = location
    var options = options
    if options.certificateAuthorityFile == nil {
      options.certificateAuthorityFile = environment.nonEmpty("AWS_CA_BUNDLE")
    }
    self.options = options
    self.credentials = credentials ?? S3CredentialSource(environment: environment)
    self.timing = timing
  }

  package var description: String { location.description }

  /// The URL under which the server has the objects.
  package var url: String { endpoint.base + location.prefix }

  package func get(_ name: String, limit: Int) async throws(ObjectStoreError) -> StoredObject? {
    let answer = try await send("GET", name, limit: limit)
    switch answer.status {
    case 200: return StoredObject(bytes: answer.body, version: try await version(in: answer, of: name))
    case 404 where answer.refusal.code != "NoSuchBucket": return nil
    default: throw failure(answer, name)
    }
  }

  package func put(
    _ name: String, _ bytes: [UInt8], _ condition: PutCondition, _ type: ObjectType
  ) async throws(ObjectStoreError) -> PutResult {
    var headers = [("Content-Type", type.mediaType), ("Cache-Control", type.cacheControl)]
    switch condition {
    case .none: break
    case .ifAbsent: headers.append(("If-None-Match", "*"))
    case .ifVersion(let version): headers.append(("If-Match", version))
    }
    for (name, value) in headers where !HeaderField.isSendable(name: name, value: value, own: []) {
      throw .invalidSetting(name: name, value: value, reason: "no header can have this value")
    }
    let answer = try await send("PUT", name, headers: headers.filter { !$0.1.isEmpty }, body: bytes)
    let isConditional = condition != .none
    switch (answer.status, answer.refusal.code) {
    case (200...299, _): return .written(version: try await version(in: answer, of: name))
    case (412, _) where isConditional, (409, "ConditionalRequestConflict") where isConditional:
      // An attempt whose answer was lost may have been the one that wrote.
      guard answer.mayHaveWritten, let version = try await version(of: name, ifEqualTo: bytes) else {
        return .preconditionFailed
      }
      return .written(version: version)
    case (404, let code) where isConditional && condition != .ifAbsent && code != "NoSuchBucket":
      return .preconditionFailed
    case (501, _) where isConditional, (400, "NotImplemented") where isConditional:
      throw .conditionRefused(store: description, name: name, answer: answer.refusal)
    default: throw failure(answer, name)
    }
  }

  package func delete(_ name: String) async throws(ObjectStoreError) {
    let answer = try await send("DELETE", name)
    switch answer.status {
    case 200...299: return
    case 404 where answer.refusal.code != "NoSuchBucket": return
    default: throw failure(answer, name)
    }
  }

  package func exists(_ name: String) async throws(ObjectStoreError) -> Bool {
    let answer = try await send("HEAD", name)
    switch answer.status {
    case 200: return true
    case 404: return false
    default: throw failure(answer, name)
    }
  }

  /// Finds out whether the server keeps the conditions of writes, by writing and deleting the object `probe/RANDOM`.
  package func probeConditions() async throws(ObjectStoreError) -> ConditionalWrites {
    let name = "probe/" + String(UInt64.random(in: 0 ... .max), radix: 36)
    let result: ConditionalWrites
    do { result = try await probe(name) } catch {
      // The first error is the one to report.
      try? await delete(name)
      throw error
    }
    try await delete(name)
    return result
  }

  private func probe(_ name: String) async throws(ObjectStoreError) -> ConditionalWrites {
    let type = ObjectType(mediaType: "text/plain", cacheControl: "no-store")
    // Two texts: a server that compares contents must not take the second write for the first one.
    let (first, second) = (Array("shelfmark 1\n".utf8), Array("shelfmark 2\n".utf8))
    do {
      guard case .written(let version) = try await put(name, first, .ifAbsent, type) else {
        // Nothing has this name: the server takes the condition for something else.
        return .refused
      }
      guard try await put(name, second, .ifAbsent, type) == .preconditionFailed else { return .ignored }
      let other = "\"00000000000000000000000000000000\""
      guard try await put(name, second, .ifVersion(other), type) == .preconditionFailed else { return .ignored }
      guard case .written = try await put(name, second, .ifVersion(version), type) else { return .refused }
      return .honoured
    } catch {
      if case .conditionRefused = error { return .refused }
      throw error
    }
  }

  /// The version of an object that has these bytes; `nil` if it has others.
  private func version(of name: String, ifEqualTo bytes: [UInt8]) async throws(ObjectStoreError) -> String? {
    do {
      guard let stored = try await get(name, limit: bytes.count), stored.bytes == bytes else { return nil }
      return stored.version
    } catch {
      if case .tooLarge = error { return nil }
      throw error
    }
  }

  /// The version that an answer names, or else that of the object as it is now.
  private func version(in answer: S3Answer, of name: String) async throws(ObjectStoreError) -> String {
    if let version = answer.version { return version }
    let head = try await send("HEAD", name)
    if head.status == 200, let version = head.version { return version }
    if head.status != 200 { throw failure(head, name) }
    throw .refused(
      store: description, name: name,
      answer: S3Refusal(status: 200, message: "the server names no ETag, without which nobody can see a change"))
  }

  /// The error of an answer.
  private func failure(_ answer: S3Answer, _ name: String) -> ObjectStoreError {
    let refusal = answer.refusal
    if let region = answer.region, region != self.region, [301, 307, 308, 400, 403].contains(answer.status) {
      return .wrongRegion(store: description, used: self.region, actual: region)
    }
    switch (answer.status, refusal.code) {
    case (_, "RequestTimeTooSkewed"), (_, "RequestExpired"): return .clock(store: description, answer: refusal)
    case (404, _): return .noBucket(store: description, bucket: location.bucket, host: endpoint.host)
    case (401, _), (403, _), (_, "ExpiredToken"), (_, "InvalidToken"), (_, "TokenRefreshRequired"):
      return .denied(store: description, name: name, key: answer.key, answer: refusal)
    default: return .refused(store: description, name: name, answer: refusal)
    }
  }
}

/// The clock and the randomness of repetitions.
struct S3Timing: Sendable {
  var sleep: @Sendable (Duration) async throws -> Void
  /// From 0 to 1.
  var random: @Sendable () -> Double
  /// Seconds since 1970 UTC.
  var now: @Sendable () -> Int64

  static let live = S3Timing(
    sleep: { try await Task.sleep(for: $0) }, random: { .random(in: 0...1) },
    now: { Int64(Date().timeIntervalSince1970) })
}
