/// An object that owns a copy of bytes, which never change.
///
/// It lends them without another reference; an array in an object would have to be retained for each access.
@safe
open class OwnedBytes {
  /// The address of the first byte, valid until `deinit`.
  @usableFromInline
  final let base: UnsafeMutableRawPointer
  /// The number of bytes.
  public final let byteCount: Int

  /// Copies `bytes`.
  public init(copying bytes: RawSpan) {
    byteCount = bytes.byteCount
    unsafe base = .allocate(byteCount: max(1, byteCount), alignment: 1)
    // The memory has as many bytes as `bytes`, which is read inside the call only.
    unsafe bytes.withUnsafeBytes { source in
      if let start = source.baseAddress { unsafe base.copyMemory(from: start, byteCount: source.count) }
    }
  }

  deinit {
    // Every span borrows this object, so no span of the memory exists any more.
    unsafe base.deallocate()
  }

  /// The bytes.
  @inlinable @inline(__always)
  public final var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      let span = unsafe RawSpan(_unsafeStart: base, byteCount: byteCount)
      // The memory is valid as long as this object.
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }
}
