import Bytes
public import CSealing
import RecordFormat
import Synchronization

/// A scope in which what is opened of a sealed store lies in the scratch memory of the thread, which is used again when
/// the scope ends.
///
///     for row in rows {
///       let scope = ScratchScope(snapshot)
///       defer { scope.end() }
///       guard let record = try snapshot.record(row, table: 0) else { continue }
///
/// A record that is returned outside of any scope is kept as long as its snapshot. So a scope belongs around what looks
/// up many records one after another. Calls that lend records to a closure have scopes of their own. In a clear store a
/// scope does nothing.
///
/// A record must not be used after the scope in which it was returned: a function that returns one has no scope. Scopes
/// end on the thread on which they begin, the last one first.
@safe
public struct ScratchScope {
  @usableFromInline
  let mark: shelfmark_scratch_state?

  /// Begins a scope for records of `snapshot`, if that is sealed.
  @inlinable @inline(__always)
  public init(_ snapshot: borrowing Snapshot) {
    // The state belongs to this thread.
    unsafe mark = snapshot.isSealed ? shelfmark_scratch_enter() : nil
  }

  /// Begins a scope as above; does nothing without a snapshot.
  @inlinable @inline(__always)
  public init(_ snapshot: Snapshot?) {
    unsafe mark = snapshot?.isSealed ?? false ? shelfmark_scratch_enter() : nil
  }

  /// Ends the scope.
  @inlinable @inline(__always)
  public func end() {
    // Scopes end in the opposite order, as they do with `defer`.
    if let mark = unsafe mark { unsafe shelfmark_scratch_leave(mark) }
  }
}

/// What was opened outside of any scope: records that a snapshot returned. Each is opened once and kept as long as the
/// snapshot, since nothing tells when the last view of it is gone.
@safe
final class OpenedObjects: Sendable {
  // Only used with the lock, except for what was filled before its address was returned.
  @safe
  private struct State: ~Copyable {
    var arena: OpaquePointer?
    var objects: [UInt64: UInt] = [:]
  }

  private let state = Mutex(State())

  deinit {
    state.withLock { state in
      if let arena = unsafe state.arena { unsafe shelfmark_arena_free(arena) }
    }
  }

  /// The number of objects that are kept.
  var count: Int { state.withLock { $0.objects.count } }

  /// Returns `count` bytes that `fill` fills, unless it did already for the same `number`; `nil` if there is no memory or
  /// if `fill` returns `false`.
  @unsafe
  func bytes(
    _ number: UInt64, _ count: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Bool
  ) -> UnsafeMutablePointer<UInt8>? {
    let address = state.withLock { state -> UInt? in
      if let known = state.objects[number] { return known }
      if unsafe state.arena == nil { unsafe state.arena = shelfmark_arena_new() }
      guard let arena = unsafe state.arena, let taken = unsafe shelfmark_arena_take(arena, count) else { return nil }
      if unsafe !fill(taken.assumingMemoryBound(to: UInt8.self)) { return nil }
      state.objects[number] = UInt(bitPattern: taken)
      return UInt(bitPattern: taken)
    }
    return unsafe address.flatMap { unsafe UnsafeMutablePointer(bitPattern: $0) }
  }
}

extension Snapshot {
  /// Opens the object at `unit`, whose checksum is valid. The result has the form of a plain object, with its unit offset
  /// in place of the checksum.
  @inline(never)
  @_lifetime(borrow self)
  func opened(_ stored: RawSpan, at unit: UnitOffset) throws(StoreError) -> RawSpan {
    let inBase = unit.byteOffset < baseEnd
    let length = stored.byteCount &- LogSealing.overhead(inBase: inBase)
    guard length >= ObjectHeader.byteCount else { throw notGenuine(unit) }
    guard let sealing = unsafe sealing else { throw log.needsKey }
    // The memory is large enough, and belongs to the scope or to this snapshot.
    if shelfmark_scratch_is_open() {
      guard let taken = unsafe shelfmark_scratch_take(length) else { throw noMemory(unit) }
      let memory = unsafe taken.assumingMemoryBound(to: UInt8.self)
      guard unsafe sealing.open(stored, at: unit, inBase: inBase, to: memory) else { throw notGenuine(unit) }
      return unsafe view(memory, length)
    }
    var isGenuine = true
    let kept = unsafe openedObjects?.bytes(UInt64(unit.rawValue), length) { memory in
      isGenuine = unsafe sealing.open(stored, at: unit, inBase: inBase, to: memory)
      return isGenuine
    }
    if !isGenuine { throw notGenuine(unit) }
    guard let memory = unsafe kept else { throw noMemory(unit) }
    return unsafe view(memory, length)
  }

  /// Opens the page at `unit`, whose checksum is valid. The result has the form of a plain page, without a checksum.
  @inline(never)
  @_lifetime(borrow self)
  func opened(page stored: RawSpan, at unit: UnitOffset) throws(StoreError) -> RawSpan {
    let length = stored.byteCount &- SealedForm.overhead
    guard length >= 4 else { throw notGenuine(page: unit) }
    guard let sealing = unsafe sealing else { throw log.needsKey }
    if shelfmark_scratch_is_open() {
      guard let taken = unsafe shelfmark_scratch_take(length) else { throw noMemory(unit) }
      let memory = unsafe taken.assumingMemoryBound(to: UInt8.self)
      guard unsafe sealing.open(page: stored, at: unit, to: memory) else { throw notGenuine(page: unit) }
      return unsafe view(memory, length)
    }
    var isGenuine = true
    let kept = unsafe openedObjects?.bytes(1 << 32 | UInt64(unit.rawValue), length) { memory in
      isGenuine = unsafe sealing.open(page: stored, at: unit, to: memory)
      return isGenuine
    }
    if !isGenuine { throw notGenuine(page: unit) }
    guard let memory = unsafe kept else { throw noMemory(unit) }
    return unsafe view(memory, length)
  }

  /// Returns the opened shared string at `unit`, which the log keeps for all of its snapshots if there is room.
  @inline(__always)
  @_lifetime(borrow self)
  func openedText(_ unit: UnitOffset) throws(StoreError) -> RawSpan {
    if let sealing = unsafe sealing, let kept = unsafe sealing.keptText(at: unit) {
      // The log keeps the text as long as it lives, and this snapshot keeps the log.
      let word = unsafe UnsafeRawPointer(kept).loadUnaligned(fromByteOffset: 4, as: UInt32.self).littleEndian
      return unsafe view(kept, ObjectHeader.length(word))
    }
    let text = try object(unit)
    unsafe text.withUnsafeBytes { bytes in
      if ObjectHeader.kind(text.u32(at: 4)) == .sharedString, let first = bytes.baseAddress {
        unsafe sealing?.keep(first.assumingMemoryBound(to: UInt8.self), bytes.count)
      }
    }
    return text
  }

  /// Unsafe because the memory must live as long as this snapshot is borrowed, or as the scope in which it was taken.
  @unsafe @inline(__always)
  @_lifetime(borrow self)
  private func view(_ memory: UnsafePointer<UInt8>, _ count: Int) -> RawSpan {
    let span = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(memory), byteCount: count)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  private func notGenuine(_ unit: UnitOffset) -> StoreError {
    damagedObject(unit, "it is not what was sealed here")
  }

  private func notGenuine(page unit: UnitOffset) -> StoreError {
    log.damage(unit.byteOffset, "page of an ordered block: it is not what was sealed here")
  }

  private func noMemory(_ unit: UnitOffset) -> StoreError { damagedObject(unit, "there is no memory to open it") }
}
