import Dispatch

extension FileReference {
  /// As ``check()``, on a thread that no task waits for: a file may be large, and its disk slow or far away.
  func checkAside() async throws { try await Self.aside { try check() } }

  /// Runs what blocks on a thread that no task waits for.
  package static func aside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global(qos: .utility).async { continuation.resume(with: Result(catching: body)) }
    }
  }
}
