public import CStorage
import Platform

/// A read-only memory mapping of a file. This object is its only owner: the memory is unmapped with the last reference.
///
/// Invariants: the memory is valid for `byteCount` bytes until `deinit`. Bytes past the end of the file must not be
/// accessed. The mapping does not know where the file ends; its user does.
@safe
public final class Mapping: Sendable {
  /// The address of the first byte, valid while this object lives.
  @usableFromInline
  nonisolated(unsafe) let base: UnsafeRawPointer
  /// The number of mapped bytes, which may exceed the size of the file.
  public let byteCount: Int
  /// The memory's entry in the table of the fault handler; `nil` for memory that is not a mapped file.
  private nonisolated(unsafe) let range: OpaquePointer?
  private let release: @Sendable (UnsafeRawPointer, Int) -> Void

  /// Takes ownership of `byteCount` bytes of memory, which `release` frees.
  @unsafe
  package init(
    base: UnsafeRawPointer, byteCount: Int, range: OpaquePointer? = nil,
    release: @escaping @Sendable (UnsafeRawPointer, Int) -> Void
  ) {
    // The caller transfers ownership of the memory.
    unsafe self.base = base
    self.byteCount = byteCount
    unsafe self.range = range
    unsafe self.release = release
  }

  deinit {
    // Every view borrows this object, so no view of the memory exists any more.
    if let range = unsafe range { unsafe shelfmark_unguard(range) }
    unsafe release(base, byteCount)
  }

  /// Whether some page could not be read, because the file was truncated or its disk failed, and now shows zeros.
  ///
  /// It is meaningful only if ``FaultHandler`` is installed; otherwise the process ends at the fault. If this is
  /// `false`, everything read before was in the file.
  package var isLost: Bool {
    guard let range = unsafe range else { return false }
    // The entry belongs to this object until `deinit`.
    return unsafe shelfmark_is_lost(range)
  }

  /// Returns `count` bytes from `offset` on. Traps if they are not within the mapping. They must also be within the
  /// file.
  ///
  /// Unsafe because nothing ties the span to this object. The caller must give it the lifetime of the object that holds
  /// the mapping.
  @unsafe @inlinable @inline(__always)
  @_lifetime(immortal)
  public func bytes(_ offset: Int, _ count: Int) -> RawSpan {
    precondition(offset >= 0 && count >= 0 && offset <= byteCount &- count, "bytes outside the mapping")
    // In bounds, as just checked; the caller guarantees the lifetime.
    let span = unsafe RawSpan(_unsafeStart: base + offset, byteCount: count)
    return unsafe _overrideLifetime(span, borrowing: ())
  }

  /// Returns the same bytes without a check.
  @unsafe @inlinable @inline(__always)
  @_lifetime(immortal)
  public func bytes(unchecked offset: Int, _ count: Int) -> RawSpan {
    // The caller guarantees the bounds too.
    let span = unsafe RawSpan(_unsafeStart: base + offset, byteCount: count)
    return unsafe _overrideLifetime(span, borrowing: ())
  }

  /// Returns the offset in this mapping of bytes that belong to it.
  package func offset(of bytes: RawSpan) -> Int {
    // The addresses are only compared; nothing is read.
    unsafe bytes.withUnsafeBytes { unsafe $0.baseAddress.map { unsafe $0 - base } ?? 0 }
  }

  /// Advises the kernel to read `count` bytes from `offset` on, which will be needed soon. This is a hint.
  package func adviseWillNeed(_ offset: Int, _ count: Int) {
    // Only a mapped file can be read ahead, and only in complete pages.
    guard unsafe range != nil, offset >= 0, count > 0, offset < byteCount else { return }
    let start = offset & ~0xFFFF
    let end = min(offset + count, byteCount)
    // Within the mapping, as just checked; 64 KiB is a multiple of the page size on every system.
    _ = unsafe madvise(UnsafeMutableRawPointer(mutating: base + start), end - start, MADV_WILLNEED)
  }

  /// Prefetches the cache line at `offset`. This is a hint: an offset outside the mapping has no effect.
  @inlinable @inline(__always)
  public func prefetch(_ offset: Int) {
    // The instruction accepts any address and reads nothing.
    unsafe shelfmark_prefetch(UnsafeRawPointer(bitPattern: UInt(bitPattern: base) &+ UInt(bitPattern: offset)))
  }
}
