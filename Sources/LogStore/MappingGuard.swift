import RecordFormat
import Storage

/// Keeps a process alive when a store's file is truncated, or its disk fails, under a reader.
///
/// Stores are read from mapped memory. Where the system cannot bring a page of it, it sends SIGBUS, and by default that
/// ends the process. With the guard installed the page reads as zeros, which no checksum of the format passes:
/// the lookup throws `StoreError.damaged`, and other files are not affected.
public enum MappingGuard {
  /// Installs the guard, for every store of the process and until its end. Later calls change nothing.
  ///
  /// A library does not take a signal unasked: a program that wants it calls this early, before it opens a store and
  /// before there are threads that change signal handlers. A handler of SIGBUS that was there before still gets
  /// every other SIGBUS; with none, such a SIGBUS ends the process as always. Whoever installs a handler later
  /// has to hand on what is not his, or takes the guard away.
  ///
  /// - Throws: `StoreError.io` if the system refuses the handler.
  public static func install() throws(StoreError) {
    try storage { () throws(StorageError) in try FaultHandler.install() }
  }
}

extension Snapshot {
  /// Whether a page of this snapshot could not be read, and shows zeros since; see ``MappingGuard``.
  ///
  /// Whatever is looked up on such a page throws. What was taken from a *lent* record, whose bytes had passed their check,
  /// is right if this is false afterwards, except where the file was cut inside the record's own page:
  /// ``confirm(_:)`` sees that too.
  public var isLost: Bool { mapping.isLost }

  /// Checks again a record from which something was copied: what was copied before this returns is what was committed.
  ///
  /// A record is checked before it is lent. A file that is truncated after that leaves zeros in its place. Values that
  /// outlive the lookup are confirmed; it costs one more checksum of the record.
  ///
  /// - Throws: `StoreError.damaged`.
  public func confirm(_ row: RowID) throws(StoreError) {
    // A shared string stands before the records that name it: a cut that takes the string takes the record too.
    let object = try object(row.unit)
    if isLost {
      // A failing disk may have taken the strings alone.
      let record = try RecordView(object, self)
      for index in 0..<record.sharedCount { _ = try record.shared(index) }
    }
  }
}
