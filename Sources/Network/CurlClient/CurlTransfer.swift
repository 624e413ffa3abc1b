internal import CCurl

/// libcurl's handle of one request at a time, with the connections that the next one reuses.
///
/// Unsafe: the handle belongs to this object alone and is freed with it. Everything except ``wake()`` is called on one
/// thread at a time, which ``Connection`` sees to. Pointers that libcurl returns are read before the next call.
@safe
final class CurlTransfer: @unchecked Sendable {
  private let handle: OpaquePointer
  /// Whether the request goes through a proxy that speaks TLS.
  private var isProxySecure = false

  /// - Throws: `ClientError.noLibrary`; `ClientError.other` if there is no memory.
  init() throws(ClientError) {
    // The reason is a constant text.
    if let reason = unsafe shelfmark_curl_load() { throw .noLibrary(unsafe String(cString: reason)) }
    guard let handle = unsafe shelfmark_curl_new() else { throw .other("there is no memory for a request") }
    unsafe self.handle = handle
  }

  deinit { unsafe shelfmark_curl_free(handle) }

  /// The version of libcurl and of the libraries that it uses.
  ///
  /// - Throws: `ClientError.noLibrary`.
  static func version() throws(ClientError) -> String {
    if let reason = unsafe shelfmark_curl_load() { throw .noLibrary(unsafe String(cString: reason)) }
    return unsafe String(cString: shelfmark_curl_version())
  }

  /// Begins a request.
  ///
  /// - Returns: Whether that succeeded.
  func begin(_ request: ClientRequest, closesConnection: Bool) -> Bool {
    isProxySecure = request.proxy?.url.hasPrefix("https:") ?? false
    // A field without a value ends with a semicolon for libcurl. It adds an `Expect` to bodies and an `Accept` to all
    // requests, unless it is told not to. Before version 8.3 it would sign what it is told not to send.
    let lines = request.headers.map { $0.value.isEmpty ? $0.name + ";" : "\($0.name): \($0.value)" }
    let hasAccept = request.headers.contains { $0.name.lowercased() == "accept" }
    let omitted = request.signature == nil ? ["Expect:"] + (hasAccept ? [] : ["Accept:"]) : []
    let texts = [
      request.url, request.method, request.proxy?.url ?? "", request.proxy?.user ?? "", request.proxy?.password ?? "",
      request.certificateAuthorityFile ?? "", request.signature?.provider ?? "", request.signature?.accessKey ?? "",
      request.signature?.secret ?? "",
    ]
    let all = texts + lines + omitted
    return unsafe Self.withCStrings(all) { all in
      let headers = unsafe UnsafeBufferPointer(rebasing: all[texts.count...])
      // The texts before the headers are in the same buffer.
      guard let list = headers.baseAddress else { return false }
      var raw = unsafe shelfmark_curl_request(
        url: all[0], method: all[1], headers: list, header_count: headers.count,
        body_length: request.body.map { Int64($0.byteCount ?? -1) } ?? -2, proxy: all[2], proxy_user: all[3],
        proxy_password: all[4], authorities: all[5], signature: all[6], signature_key: all[7], signature_secret: all[8],
        verifies_certificates: request.verifiesCertificates, is_http1_only: request.isHTTP1Only,
        closes_connection: closesConnection, only_connects: request.onlyConnects)
      return unsafe shelfmark_curl_begin(handle, &raw)
    }
  }

  /// Ends the request.
  func end() { unsafe shelfmark_curl_end(handle) }

  /// Does what can be done without waiting.
  ///
  /// - Returns: Whether the request is still going on.
  func perform() -> Bool { unsafe shelfmark_curl_perform(handle) }

  /// Waits until something can be done, or until ``wake()``.
  func wait(atMost duration: Duration) {
    let milliseconds = (duration / .milliseconds(1)).rounded(.up)
    unsafe shelfmark_curl_wait(handle, Int32(max(0, min(milliseconds, 60_000))))
  }

  /// Ends a wait, also the next one. From any thread.
  func wake() { unsafe shelfmark_curl_wake(handle) }

  /// Whether the connection is open, and the request is being sent.
  var isConnected: Bool { unsafe shelfmark_curl_is_connected(handle) }

  /// Whether the next bytes of the request's body are waited for.
  var needsBody: Bool { unsafe shelfmark_curl_needs_body(handle) }

  /// Whether the body has to be given once more, from its beginning. Asked once each time.
  func needsBodyAgain() -> Bool { unsafe shelfmark_curl_needs_body_again(handle) }

  /// Gives the next bytes of the request's body.
  ///
  /// - Returns: Whether there was memory for them.
  func give(_ bytes: [UInt8], isLast: Bool) -> Bool {
    unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe shelfmark_curl_give_body(handle, buffer.baseAddress, buffer.count, isLast)
    }
  }

  /// The head of the answer, once it is complete.
  var head: ResponseHead? {
    var count = 0
    guard let text = unsafe shelfmark_curl_head(handle, &count) else { return nil }
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: count)
    return ResponseHead(
      status: unsafe Int(shelfmark_curl_status(handle)), text: unsafe String(decoding: bytes, as: UTF8.self))
  }

  /// Whether bytes of the answer's body have arrived.
  var hasBody: Bool {
    var count = 0
    unsafe _ = shelfmark_curl_body(handle, &count)
    return count > 0
  }

  /// Takes the bytes of the body that have arrived: at most 256 KiB.
  func takeBody() -> [UInt8] {
    var count = 0
    let start = unsafe shelfmark_curl_body(handle, &count)
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    unsafe shelfmark_curl_take_body(handle)
    return bytes
  }

  /// Why the request ended; `nil` after a complete answer.
  func failure() -> ClientError? {
    var result = shelfmark_curl_result()
    unsafe shelfmark_curl_get_result(handle, &result)
    if result.code == 0 { return nil }
    let message = unsafe withUnsafeBytes(of: &result.message) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return ClientError(
      code: result.code, systemError: result.system_error, proxyStatus: result.proxy_status,
      isProxySecure: isProxySecure, message: message)
  }

  /// A field of the server's certificate after a request that only connects.
  func certificateField(_ name: String) -> String? {
    guard let text = unsafe shelfmark_curl_certificate(handle, name) else { return nil }
    return unsafe String(cString: text)
  }

  /// Lends texts as C strings.
  private static func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafeBufferPointer<UnsafePointer<CChar>>) -> Result
  ) -> Result {
    // One buffer for all of them, each with its end.
    var bytes: [CChar] = []
    var offsets: [Int] = []
    for text in texts {
      offsets.append(bytes.count)
      bytes += text.utf8.map { CChar(bitPattern: $0) } + [0]
    }
    return unsafe bytes.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return unsafe body(UnsafeBufferPointer(start: nil, count: 0)) }
      let pointers = unsafe offsets.map { unsafe start + $0 }
      return unsafe pointers.withUnsafeBufferPointer { unsafe body($0) }
    }
  }
}
