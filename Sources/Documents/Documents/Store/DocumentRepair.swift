import DocumentFormat
public import LogStore

extension DocumentStore {
  /// Verifies a document store, and rewrites what can be recovered of a damaged one in a new generation; see `Repair`
  /// of LogStore. A readable commit is recovered completely. A log without recoverable data is renamed.
  ///
  /// If anything other than history was lost, the store discards its list of indexes, because the list may be older
  /// than the documents. The next program that opens a collection with its indexes fills them again.
  ///
  /// - Parameters:
  ///   - location: The store's location.
  ///   - lockTimeout: The longest time to wait for a writer.
  /// - Returns: What was repaired, durably; `nil` if the store never had a commit.
  /// - Throws: `DocumentStoreError.unknownState` if the store does not contain documents; `StoreError`. Nothing has
  ///   changed then.
  public static func repair(_ location: StoreLocation, lockTimeout: Duration = .zero) throws -> Repair? {
    // The log contains the table names. Without a commit that has them, the rows cannot be interpreted.
    try Repair.run(location, schema: Schema([]), lockTimeout: lockTimeout, setsAside: true) { state, isComplete, _ in
      if isComplete || state.isEmpty { return state }
      var description = try StoreDescription(state, path: location.path)
      description.forgetIndexes()
      return try description.encoded()
    }
  }
}
