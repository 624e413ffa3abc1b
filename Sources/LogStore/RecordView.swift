import Bytes
import RecordFormat

/// One live record, lent for as long as its snapshot is borrowed. Its bytes were checked.
///
/// Four words, which a function returns in registers.
@safe
public struct RecordView: ~Escapable, BitwiseCopyable {
  @usableFromInline
  let bytes: RawSpan
  @usableFromInline
  let layout: RecordLayout
  private let snapshot: Unmanaged<Snapshot>

  /// - Throws: `StoreError.damaged` where the record's lengths contradict each other.
  @inline(__always)
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, _ snapshot: Snapshot) throws(StoreError) {
    self.bytes = bytes
    // The view cannot outlive the borrow of the snapshot that its bytes come from.
    unsafe self.snapshot = Unmanaged.passUnretained(snapshot)
    guard let layout = RecordLayout(bytes) else {
      throw snapshot.damagedObject(snapshot.unit(of: bytes), "record layout")
    }
    self.layout = layout
  }

  /// Identifies the row within its generation.
  public var rowID: RowID { RowID(unit) }

  /// The record's offset in its file.
  var unit: UnitOffset {
    // As in ``shared(_:)``.
    unsafe snapshot._withUnsafeGuaranteedRef { $0.unit(of: bytes) }
  }

  /// The key in the table's key space `index`; empty where the record has none.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func key(_ index: Int) -> RawSpan {
    guard index < layout.keyCount else { return bytes.slice(0, 0) }
    // The layout is that of these bytes, and its ranges lie inside.
    return unsafe bytes.extracting(unchecked: layout.keyRange(index, in: bytes))
  }

  /// What the application stored behind the keys.
  public var body: RawSpan {
    @inlinable @inline(__always)
    @_lifetime(copy self)
    get {
      // The layout is that of these bytes, and its ranges lie inside.
      unsafe bytes.extracting(unchecked: layout.bodyStart..<bytes.byteCount)
    }
  }

  /// Keys of the record.
  var keyCount: Int { layout.keyCount }

  /// The first byte of the shared strings' places, which stand one behind the other.
  var sharedStart: Int { RecordLayout.keyStart(sharedCount: 0, keyCount: layout.keyCount) }

  /// Shared strings of the record.
  public var sharedCount: Int { layout.sharedCount }

  /// Whether the record refers to a text at `index`: false for the empty string, and past the last shared string.
  package func hasShared(_ index: Int) -> Bool { sharedUnit(index) != nil }

  /// The offset of shared string `index`; `nil` for the empty string, and past the last one.
  func sharedUnit(_ index: Int) -> UnitOffset? {
    index < layout.sharedCount ? layout.shared(index, in: bytes) : nil
  }

  /// The bytes of shared string `index`; empty where the record has none.
  ///
  /// - Throws: `StoreError.damaged` if the string does not pass its check.
  @_lifetime(copy self)
  public func shared(_ index: Int) throws(StoreError) -> RawSpan {
    guard index < layout.sharedCount, let unit = layout.shared(index, in: bytes) else {
      return bytes.slice(0, 0)
    }
    // The snapshot is alive while this view is, and so are all bytes of its mapping.
    let owner = unsafe snapshot.takeUnretainedValue()
    let object = try owner.object(unit)
    guard ObjectHeader.kind(object.u32(at: 4)) == .sharedString else {
      throw owner.damagedObject(unit, "a row names it, but it is no shared string")
    }
    let text = object.slice(ObjectHeader.byteCount, object.byteCount - ObjectHeader.byteCount)
    return unsafe _overrideLifetime(text, copying: self)
  }

  /// The error for a record that passed its checks, and whose body the application finds wrong.
  package func damage(_ what: String) -> StoreError {
    // As in ``shared(_:)``.
    unsafe snapshot._withUnsafeGuaranteedRef { $0.log.damage($0.unit(of: bytes).byteOffset, what) }
  }

  /// The record's length without padding.
  public var byteCount: Int { bytes.byteCount }
}
