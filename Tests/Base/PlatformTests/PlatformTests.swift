import Foundation
import Platform
import Testing

@Suite struct SequentialFileTests {
  private func file(_ bytes: [UInt8]) throws -> String {
    let path = FileManager.default.temporaryDirectory.appending(path: "sequential-\(UUID())").path
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }

  @Test func `a file is read to its end, piece by piece, and no further than the limit`() throws {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
    let path = try file(bytes)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let pieces = try SequentialFile(path)
    var read: [UInt8] = []
    while true {
      let piece = try pieces.read(upTo: 300)
      if piece.isEmpty { break }
      #expect(piece.count <= 300)
      read += piece
    }
    #expect(read == bytes)
    #expect(try SequentialFile(path).readAll(limit: 10_000) == bytes)
    #expect(try SequentialFile(path).readAll(limit: 10) == Array(bytes[..<10]))
  }

  @Test func `what cannot be opened or read is an error with its path`() throws {
    let missing = #expect(throws: StorageError.self) { try SequentialFile("/nonexistent/file") }
    #expect(missing?.kind == .missing && missing?.description.contains("cannot open /nonexistent/file") == true)
    let folder = try SequentialFile("/tmp")
    let unreadable = #expect(throws: StorageError.self) { try folder.read(upTo: 1) }
    #expect(unreadable?.operation == "read" && unreadable?.code == EISDIR)
  }
}

@Suite struct BlockingThreadTests {
  @Test func `calls of one thread run in their order, and errors come back`() async throws {
    struct Failure: Error {}
    let thread = BlockingThread("test")
    async let first = thread.run { 1 }
    let second = try await thread.run { 2 }
    #expect(try await (first, second) == (1, 2))
    await #expect(throws: Failure.self) { try await thread.run { throw Failure() } }
  }
}

@Suite struct ExitStatusTests {
  @Test(arguments: [
    ("write", ENOSPC, Platform.ExitStatus.io), ("open", EACCES, .permission), ("open", ENOENT, .io),
    ("open", ENOTDIR, .cannotCreate),
    ("create", EEXIST, .cannotCreate), ("create", EROFS, .permission),
  ])
  func `errors of the file system have their codes`(operation: String, code: Int32, expected: Platform.ExitStatus) {
    #expect(Platform.ExitStatus(StorageError(operation: operation, path: "/x", code: code)) == expected)
  }
}

@Suite struct RetryingTests {
  @Test func `a call that a signal interrupts is made again, and no other`() {
    var calls = 0
    let result = retrying { () -> Int32 in
      calls += 1
      errno = calls < 3 ? EINTR : EIO
      return -1
    }
    #expect(result == -1 && calls == 3)
  }
}

@Suite struct BackoffTests {
  @Test func `pauses double up to the longest, and their jitter is in the upper half`() {
    let backoff = Backoff(first: .seconds(2), longest: .seconds(60))
    let pauses = (0...8).map { backoff.pause(afterFailure: $0) }
    #expect(pauses == [2, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
    #expect(backoff.pause(afterFailure: .max) == .seconds(60))
    #expect(backoff.pause(afterFailure: 3, fraction: 0) == .seconds(4))
    #expect(backoff.pause(afterFailure: 3, fraction: 1) == .seconds(8))
  }
}
