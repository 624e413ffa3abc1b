internal import CSealing

/// Bytes that nobody else may see, such as a key. They are in memory of their own: between guard pages, locked where the
/// system allows it, left out of core dumps, and wiped when the last reference is gone. They are never printed.
@safe
package final class SecretBytes: Sendable {
  /// The number of bytes, at least 1.
  package let count: Int
  // The memory belongs to this object alone, and is not changed after the initializer.
  private nonisolated(unsafe) let memory: UnsafeMutableRawPointer

  /// - Parameter fill: A closure that sets all of the bytes, which are not zero before.
  package init(count: Int, filling fill: (UnsafeMutableRawBufferPointer) -> Void) throws(SealingError) {
    precondition(count > 0, "a secret has at least one byte")
    try SealingError.loadLibrary()
    guard let memory = unsafe shelfmark_secret_allocate(count) else { throw .noMemory }
    unsafe self.memory = memory
    self.count = count
    unsafe fill(UnsafeMutableRawBufferPointer(start: memory, count: count))
  }

  /// Copies bytes. Wipe the original as soon as possible: see ``wipe(_:)``.
  package convenience init(copying bytes: [UInt8]) throws(SealingError) {
    unsafe try self.init(count: bytes.count) { memory in unsafe memory.copyBytes(from: bytes) }
  }

  /// Returns random bytes, good enough for keys.
  package static func random(_ count: Int) throws(SealingError) -> SecretBytes {
    unsafe try SecretBytes(count: count) { memory in
      unsafe shelfmark_secret_random(memory.baseAddress!.assumingMemoryBound(to: UInt8.self), memory.count)
    }
  }

  deinit { unsafe shelfmark_secret_free(memory) }

  /// Calls `body` with the bytes, which it must not keep.
  package func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // The object lives until the call returns.
    try withExtendedLifetime(self) { () throws(Failure) in
      unsafe try body(UnsafeRawBufferPointer(start: memory, count: count))
    }
  }

  /// The address of the first byte. Unsafe because nothing keeps the object alive.
  @unsafe var bytes: UnsafePointer<UInt8> { unsafe UnsafePointer(memory.assumingMemoryBound(to: UInt8.self)) }

  /// Compares with other bytes in a time that depends on their number alone.
  package func isEqual(to other: SecretBytes) -> Bool {
    guard count == other.count else { return false }
    return withExtendedLifetime((self, other)) { unsafe shelfmark_secret_is_equal(bytes, other.bytes, count) }
  }

  /// Derives bytes with HKDF-SHA256 (RFC 5869).
  ///
  /// - Parameters:
  ///   - salt: Bytes that need not be secret.
  ///   - info: The use of the derived bytes, which makes those of different uses independent of each other.
  ///   - count: The number of bytes to derive, at most 8160.
  package func derived(salt: [UInt8], info: [UInt8], count: Int) throws(SealingError) -> SecretBytes {
    unsafe try SecretBytes(count: count) { memory in
      withExtendedLifetime(self) {
        unsafe shelfmark_hkdf_sha256(
          bytes, self.count, salt, salt.count, info, info.count,
          memory.baseAddress!.assumingMemoryBound(to: UInt8.self), count)
      }
    }
  }

  /// Derives bytes from this passphrase with Argon2id (RFC 9106), version 1.3 with one lane.
  ///
  /// - Parameters:
  ///   - salt: 16 bytes that need not be secret.
  ///   - passes: The number of passes, at least 1.
  ///   - memoryByteCount: The memory to use, at least 8 KiB.
  ///   - count: The number of bytes to derive, at least 16.
  /// - Throws: `SealingError.noMemory`.
  package func stretched(
    salt: [UInt8], passes: Int, memoryByteCount: Int, count: Int
  ) throws(SealingError) -> SecretBytes {
    precondition(salt.count == Int(shelfmark_argon2id_salt_size), "a salt of Argon2id has 16 bytes here")
    var isDone = false
    let derived = unsafe try SecretBytes(count: count) { memory in
      withExtendedLifetime(self) {
        isDone = unsafe shelfmark_argon2id(
          bytes, self.count, salt, UInt64(passes), memoryByteCount,
          memory.baseAddress!.assumingMemoryBound(to: UInt8.self), count)
      }
    }
    if !isDone { throw .noMemory }
    return derived
  }

  /// Overwrites an array that held a secret with zeros, and empties it. Copies of the array are not found.
  package static func wipe(_ bytes: inout [UInt8]) {
    if !bytes.isEmpty, (try? SealingError.loadLibrary()) != nil {
      unsafe bytes.withUnsafeMutableBytes { unsafe shelfmark_wipe($0.baseAddress!, $0.count) }
    }
    bytes = []
  }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
  /// A fixed text, so that a secret is never printed.
  package var description: String { "(\(count) secret bytes)" }
  /// A mirror without children, for the same reason.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
