extension FetchAttempt {
  /// Passes the body of a server's answer on chunk by chunk, and verifies that it is complete.
  ///
  /// - Returns: The length of the body in bytes.
  nonisolated(nonsending) func readBody(
    _ answer: Answer, onChunk: (Span<UInt8>) throws -> Void
  ) async throws -> Int {
    let url = answer.url
    let encoding = answer.head["Content-Encoding"] ?? "identity"
    guard encoding.lowercased() == "identity" else {
      throw misunderstanding(url, "Content-Encoding was not asked for")
    }
    let expected = try contentLength(of: answer)
    let tooLong = failure(.bodyTooLong(url: shown(url), maximum: options.maximumBodyByteCount))
    if let expected, expected > options.maximumBodyByteCount { throw tooLong }

    // Only its content tells then that the body is complete.
    var content = expected == nil && answer.head["Transfer-Encoding"] == nil ? JSONCompleteness() : nil
    var received = 0
    var rate = RateGuard(bytesPerSecond: options.minimumRate, window: options.minimumRateWindow)
    while let chunk = try await nextPiece(of: answer, &rate, received: received, expected: expected) {
      guard chunk.count <= options.maximumBodyByteCount - received else { throw tooLong }
      received += chunk.count
      content?.consume(chunk.span)
      try onChunk(chunk.span)
    }
    guard expected == nil || expected == received, content?.isCutShort != true else {
      throw cutShort(url, received: received, expected: expected)
    }
    return received
  }
}
