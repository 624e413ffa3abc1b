import LogStore

extension Threads {
  /// The number of documents that are changed before the changes are written.
  static let batchCount = 4096
  /// The number of rows from which several threads scan a collection. One thread needs about ten milliseconds.
  static let scannedCount = 100_000
}
