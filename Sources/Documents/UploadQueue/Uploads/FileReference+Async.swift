import Platform

extension FileReference {
  /// Like ``check()``, on a thread outside the cooperative pool: a file may be large, and its disk slow or remote.
  func checkOffPool() async throws { try await BlockingThread.run { try check() } }
}
