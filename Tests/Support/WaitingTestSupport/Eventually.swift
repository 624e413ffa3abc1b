/// Waits until something is so.
///
/// - Parameters:
///   - what: What is waited for, in a few words.
///   - isSo: Whether it is so. It is called again and again.
/// - Throws: ``NotInTime`` after five minutes: next to tests that keep every processor busy a task may wait long for a
///   thread. What `isSo` throws.
package func eventually(
  _ what: String = "it", file: String = #fileID, line: Int = #line, _ isSo: () async throws -> Bool
) async throws {
  let deadline = ContinuousClock.now + .seconds(300)
  while try await !isSo() {
    guard ContinuousClock.now < deadline else {
      throw NotInTime(description: "\(file):\(line): not so after five minutes: \(what)")
    }
    try await Task.sleep(for: .milliseconds(2))
  }
}

/// Something did not come about in time.
package struct NotInTime: Error, CustomStringConvertible {
  package let description: String
}
