import CStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Read-only memory that shows a file, and its only owner: the memory goes with the last reference.
///
/// Invariants: the memory is valid for `byteCount` bytes until `deinit`. Bytes beyond the end of the file must
/// not be touched; the mapping does not know where that is, its user does.
@safe
public final class Mapping: Sendable {
  /// The first byte; valid while this object lives.
  @usableFromInline
  nonisolated(unsafe) let base: UnsafeRawPointer
  /// Mapped bytes, which may be more than the file has.
  public let byteCount: Int
  /// The memory's entry in the table of the fault handler; `nil` for memory that is no file's.
  private nonisolated(unsafe) let range: OpaquePointer?
  private let release: @Sendable (UnsafeRawPointer, Int) -> Void

  /// Takes over `byteCount` bytes of memory that `release` gives back.
  @unsafe
  public init(
    base: UnsafeRawPointer, byteCount: Int, range: OpaquePointer? = nil,
    release: @escaping @Sendable (UnsafeRawPointer, Int) -> Void
  ) {
    // The caller hands the memory over.
    unsafe self.base = base
    self.byteCount = byteCount
    unsafe self.range = range
    unsafe self.release = release
  }

  deinit {
    // Every view borrows this object, so nobody sees the memory any more.
    if let range = unsafe range { unsafe shelfmark_unguard(range) }
    unsafe release(base, byteCount)
  }

  /// Whether some page could not be read, because the file was cut or its disk failed, and shows zeros since.
  ///
  /// Only where ``FaultHandler`` is installed; the process would not live to ask otherwise. What was read before this
  /// was found false is what the file held.
  package var isLost: Bool {
    guard let range = unsafe range else { return false }
    // The entry is ours until `deinit`.
    return unsafe shelfmark_is_lost(range)
  }

  /// `count` bytes from `offset` on. Both have to lie in the mapping, or it traps; they have to lie in the file too.
  ///
  /// Unsafe because nothing ties the span to this object: the caller does, with the lifetime of whoever holds it.
  @unsafe @inlinable @inline(__always)
  @_lifetime(immortal)
  public func bytes(_ offset: Int, _ count: Int) -> RawSpan {
    precondition(offset >= 0 && count >= 0 && offset <= byteCount &- count, "bytes outside the mapping")
    // In bounds as just checked; how long they are valid is the caller's promise.
    let span = unsafe RawSpan(_unsafeStart: base + offset, byteCount: count)
    return unsafe _overrideLifetime(span, borrowing: ())
  }

  /// The same without a check.
  @unsafe @inlinable @inline(__always)
  @_lifetime(immortal)
  public func bytes(unchecked offset: Int, _ count: Int) -> RawSpan {
    // The caller promises what is checked above, too.
    let span = unsafe RawSpan(_unsafeStart: base + offset, byteCount: count)
    return unsafe _overrideLifetime(span, borrowing: ())
  }

  /// Where bytes of this mapping begin in it.
  public func offset(of bytes: RawSpan) -> Int {
    // The addresses are compared, and nothing is read.
    unsafe bytes.withUnsafeBytes { unsafe $0.baseAddress.map { unsafe $0 - base } ?? 0 }
  }

  /// Asks the kernel to read `count` bytes from `offset` on, which will be needed soon. It is a hint.
  package func expect(_ offset: Int, _ count: Int) {
    // Only of a file there is something to read; only whole pages can be named.
    guard unsafe range != nil, offset >= 0, count > 0, offset < byteCount else { return }
    let start = offset & ~0xFFFF
    let end = min(offset + count, byteCount)
    // In the mapping as just checked, and 64 KiB are whole pages everywhere.
    _ = unsafe madvise(UnsafeMutableRawPointer(mutating: base + start), end - start, MADV_WILLNEED)
  }

  /// Asks for the cache line at `offset` ahead of its use. It is a hint: an offset outside the mapping asks for nothing.
  @inlinable @inline(__always)
  public func prefetch(_ offset: Int) {
    // The instruction takes any address, and reads nothing.
    unsafe shelfmark_prefetch(UnsafeRawPointer(bitPattern: UInt(bitPattern: base) &+ UInt(bitPattern: offset)))
  }
}
