import DocumentFormat
public import LogStore

extension DocumentStore {
  /// Verifies a store of documents, and writes what can be saved of a damaged one into a new generation; see
  /// `Repair` of LogStore. A commit that can be read is kept whole. A log of which nothing can be
  /// saved is renamed.
  ///
  /// If anything but history was lost the store forgets which indexes it has: what it knew of them may be older than the
  /// documents. Who opens a collection with its indexes then gives them their keys anew.
  ///
  /// - Parameters:
  ///   - location: which store.
  ///   - waiting: how long to wait for a writer to finish.
  /// - Returns: what was done, durable; `nil` if nothing was ever committed.
  /// - Throws: `DocumentStoreError.unknownState` for a store that holds no documents; `StoreError`. Nothing changed then.
  public static func repair(_ location: StoreLocation, waiting: Duration = .zero) throws -> Repair? {
    // The names of the tables stand in the log: without a commit that tells them, nobody knows what its rows are.
    try Repair.run(location, schema: Schema([]), waiting: waiting, setsAside: true) { state, isComplete, _ in
      if isComplete || state.isEmpty { return state }
      var description = try StoreDescription(state, path: location.path)
      description.forgetIndexes()
      return try description.encoded()
    }
  }
}
