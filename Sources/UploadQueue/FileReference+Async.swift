import Storage

extension FileReference {
  /// As ``check()``, on a thread that no task waits for: a file may be large, and its disk slow or far away.
  func checkAside() async throws { try await BlockingThread.run { try check() } }
}
