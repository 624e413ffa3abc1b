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

@Suite struct StorageErrorTests {
  @Test(arguments: [
    ("rename", EBUSY, "mount the directory, not the single file"), ("open", EROFS, "mounted read-only"),
    ("write", EDQUOT, "the quota of"), ("write", EFBIG, "ulimit -f"), ("open", ELOOP, "symbolic link"),
    ("rename", EXDEV, "keep the stores on a volume"),
  ])
  func `an error says what to do about it`(operation: String, code: Int32, remedy: String) {
    let error = StorageError(operation: operation, path: "/nonexistent/file", code: code)
    #expect(error.description.hasPrefix("cannot \(operation) /nonexistent/file: "))
    #expect(error.description.contains(remedy), "\(error)")
  }

  @Test func `a busy file that is not renamed is no mount`() {
    #expect(!StorageError(operation: "remove", path: "/f", code: EBUSY).description.contains("mount"))
  }

  @Test(arguments: [
    ("plain/path-1.log", "plain/path-1.log"), ("with blank", "'with blank'"), ("it's", #"'it'\''s'"#), ("", "''"),
    ("用户", "'用户'"), ("$(x)", "'$(x)'"),
  ])
  func `a path is one word of a shell`(path: String, word: String) { #expect(path.shellWord == word) }
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
