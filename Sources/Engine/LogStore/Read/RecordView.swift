public import Bytes
public import RecordFormat

/// A borrowed view of one live record, valid for as long as its snapshot is borrowed. Its bytes were checked.
///
/// The view has four words, which a function returns in registers.
@safe
public struct RecordView: ~Escapable, BitwiseCopyable {
  @usableFromInline
  let bytes: RawSpan
  @usableFromInline
  let layout: RecordLayout
  private let snapshot: Unmanaged<Snapshot>

  /// Creates a view of a record.
  ///
  /// - Throws: `StoreError.damaged` if the record's lengths are inconsistent.
  @inline(__always)
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, _ snapshot: Snapshot) throws(StoreError) {
    self.bytes = bytes
    // The view cannot outlive the borrow of the snapshot that owns its bytes.
    unsafe self.snapshot = Unmanaged.passUnretained(snapshot)
    guard let layout = RecordLayout(bytes) else {
      throw snapshot.damagedObject(snapshot.unit(of: bytes), "record layout")
    }
    self.layout = layout
  }

  /// The bytes of the record, as they are in the file.
  package var raw: RawSpan {
    @_lifetime(copy self)
    get { bytes }
  }

  /// Identifies the row within its generation.
  public var rowID: RowID { RowID(unit) }

  /// The record's offset in its file.
  var unit: UnitOffset {
    // Safe for the same reason as in ``shared(_:)``.
    unsafe snapshot._withUnsafeGuaranteedRef { $0.unit(of: bytes) }
  }

  /// Returns the key in the table's key space `index`; empty if the record has no such key.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func key(_ index: Int) -> RawSpan {
    guard index < layout.keyCount else { return bytes.slice(0, 0) }
    // The layout was computed from these bytes, and its ranges are in bounds.
    return unsafe bytes.extracting(unchecked: layout.keyRange(index, in: bytes))
  }

  /// The application's data, stored after the keys.
  public var body: RawSpan {
    @inlinable @inline(__always)
    @_lifetime(copy self)
    get {
      // The layout was computed from these bytes, and its ranges are in bounds.
      unsafe bytes.extracting(unchecked: layout.bodyStart..<bytes.byteCount)
    }
  }

  /// The number of keys of the record.
  var keyCount: Int { layout.keyCount }

  /// The offset in the record of the shared strings' offsets, which are stored contiguously.
  var sharedStart: Int { RecordLayout.keyStart(sharedCount: 0, keyCount: layout.keyCount) }

  /// The number of shared strings of the record.
  public var sharedCount: Int { layout.sharedCount }

  /// Returns whether the record refers to a text at `index`. It does not for the empty string and past the last shared
  /// string.
  package func hasShared(_ index: Int) -> Bool { sharedUnit(index) != nil }

  /// Returns the offset of shared string `index`; `nil` for the empty string and past the last shared string.
  func sharedUnit(_ index: Int) -> UnitOffset? {
    index < layout.sharedCount ? layout.shared(index, in: bytes) : nil
  }

  /// Returns the bytes of shared string `index`; empty if the record has no such string.
  ///
  /// - Throws: `StoreError.damaged` if the string fails its check.
  @_lifetime(copy self)
  public func shared(_ index: Int) throws(StoreError) -> RawSpan {
    guard index < layout.sharedCount, let unit = layout.shared(index, in: bytes) else {
      return bytes.slice(0, 0)
    }
    // The snapshot, and so its mapping, is alive as long as this view is.
    let owner = unsafe snapshot.takeUnretainedValue()
    let object = owner.isSealed ? try owner.openedText(unit) : try owner.object(unit)
    guard ObjectHeader.kind(object.u32(at: 4)) == .sharedString else {
      throw owner.damagedObject(unit, "a row names it, but it is no shared string")
    }
    let text = object.slice(ObjectHeader.byteCount, object.byteCount - ObjectHeader.byteCount)
    return unsafe _overrideLifetime(text, copying: self)
  }

  /// Returns the error for a record that passed its checks but whose body is invalid for the application.
  package func damage(_ what: String) -> StoreError {
    // Safe for the same reason as in ``shared(_:)``.
    unsafe snapshot._withUnsafeGuaranteedRef { $0.log.damage($0.unit(of: bytes).byteOffset, what) }
  }

  /// The size of the record in bytes, without padding. In a sealed store, that is its size before it was sealed.
  public var byteCount: Int { bytes.byteCount }

  /// The size of the record in its file in bytes, including padding.
  var paddedByteCount: Int {
    // Safe for the same reason as in ``shared(_:)``.
    unsafe snapshot._withUnsafeGuaranteedRef { owner in
      ObjectHeader.padded(owner.isSealed ? owner.storedByteCount(owner.unit(of: bytes)) : bytes.byteCount)
    }
  }
}
