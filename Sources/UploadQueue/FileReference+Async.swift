import Dispatch

extension FileReference {
  /// Like ``check()``, on a thread outside the cooperative pool: a file may be large, and its disk slow or remote.
  func checkOffPool() async throws { try await Self.aside { try check() } }

  /// Runs a blocking closure on a thread outside the cooperative pool.
  package static func aside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global(qos: .utility).async { continuation.resume(with: Result(catching: body)) }
    }
  }
}
