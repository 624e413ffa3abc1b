import Platform
import RecordFormat
import Storage

/// A SIGBUS handler that keeps a process alive when a store's file is truncated, or its disk fails, while it is being
/// read.
///
/// Stores are read from mapped memory. If the system cannot load a page of the mapping, it sends SIGBUS, which by
/// default ends the process. With the guard installed, the page reads as zeros, for which no checksum of the format is
/// valid. The lookup throws `StoreError.damaged`, and other files are not affected.
public enum MappingGuard {
  /// Installs the guard for every store of the process, until the process ends. Later calls have no effect.
  ///
  /// A library should not install a signal handler on its own, so a program that wants the guard calls this early:
  /// before it opens a store and before it starts threads that change signal handlers. An existing SIGBUS handler still
  /// receives every other SIGBUS; without one, such a SIGBUS ends the process as usual. A handler that is installed
  /// later must forward the signals that it does not handle, or it disables the guard.
  ///
  /// - Throws: `StoreError.io` if the system rejects the handler.
  public static func install() throws(StoreError) {
    try storage { () throws(StorageError) in try FaultHandler.install() }
  }
}

extension Snapshot {
  /// Whether a page of this snapshot could not be read and now shows zeros; see ``MappingGuard``.
  ///
  /// Every lookup on such a page throws. Data copied from a *lent* record, whose bytes passed their check, is valid if
  /// this property is `false` afterwards, unless the file was truncated inside the record's own page. ``confirm(_:)``
  /// detects that case too.
  package var isLost: Bool { mapping.isLost }

  /// Checks again a record from which data was copied. If this returns, the data copied before is what was committed.
  ///
  /// A record is checked before it is lent, but if the file is truncated after that, its bytes turn into zeros. Confirm
  /// values that outlive the lookup. The cost is one more checksum of the record.
  ///
  /// - Throws: `StoreError.damaged`.
  public func confirm(_ row: RowID) throws(StoreError) {
    // A shared string precedes the records that refer to it: truncating the string also truncates the record.
    // What is opened of a sealed log is a copy, which was found genuine.
    if isSealed { return }
    let object = try object(row.unit)
    if isLost {
      // A failing disk may have lost only the strings.
      let record = try RecordView(object, self)
      for index in 0..<record.sharedCount { _ = try record.shared(index) }
    }
  }
}
