package import LogStore

/// The commits of a catalogue that can be read: those of the current file and, while it is kept, those of the
/// generation that the last full update replaced.
///
/// Sequence numbers continue across generations, so a number identifies one commit. A compaction drops all commits
/// before the one that it compacts.
public struct CatalogHistory: Sendable {
  /// The last commit.
  public let current: CatalogSnapshot
  /// The last commit of the generation that the last full update replaced; `nil` if that generation is not kept or
  /// cannot be read.
  public let previous: CatalogSnapshot?
  /// The time when that generation was replaced, in microseconds since 1970 UTC; `nil` if ``previous`` is `nil`.
  public let replaced: Int64?
  /// The reason why the kept generation cannot be read; `nil` if it can be read or is not kept.
  public let previousFailure: CatalogError?

  /// - Parameters:
  ///   - current: The last commit.
  ///   - openPrevious: A closure that opens the previous generation.
  init(_ current: CatalogSnapshot, _ openPrevious: () throws(StoreError) -> PreviousGeneration?) {
    self.current = current
    do {
      let generation = try openPrevious()
      previous = try generation.map { generation throws(CatalogError) in try CatalogSnapshot(generation.snapshot) }
      replaced = generation?.replaced
      previousFailure = nil
    } catch {
      previous = nil
      replaced = nil
      previousFailure = error as? CatalogError ?? (error as? StoreError).map(CatalogError.store)
    }
  }

  /// Returns all commits, newest first.
  ///
  /// - Complexity: Two reads for each commit.
  public func commits() throws -> [CatalogCommit] {
    try current.history()
      + (previous?.history() ?? []).map { commit in
        var commit = commit
        commit.isPrevious = true
        return commit
      }
  }

  /// Checks the state that is stored with each commit, as `log` and `rollback` read it.
  ///
  /// - Returns: The problems found, those of the newest commit first.
  /// - Throws: `StoreError`.
  /// - Complexity: Two reads for each commit.
  package func verifyStates() throws(StoreError) -> [Finding] {
    var findings: [Finding] = []
    for snapshot in [current, previous].compactMap(\.?.store) {
      for commit in try snapshot.history() where CatalogState(commit.state) == nil {
        findings.append(
          Finding(
            path: snapshot.path, offset: 0, what: "the state of commit \(commit.sequence) cannot be read",
            lost: "the way back to commit \(commit.sequence)"))
      }
    }
    return findings
  }

  /// Returns the catalogue at commit `sequence`; `nil` if that commit is not kept.
  ///
  /// - Throws: ``previousFailure`` if the commit may be in a kept generation that cannot be read; `StoreError`.
  public func at(_ sequence: UInt64) throws -> CatalogSnapshot? {
    if let commit = try current.at(sequence) { return commit }
    if let previousFailure, sequence < current.sequence { throw previousFailure }
    return try previous?.at(sequence)
  }
}

extension CatalogReader {
  /// Returns the commits that can be read: those up to ``snapshot()`` and those of the kept previous generation.
  ///
  /// - Throws: `CatalogError.unknownState`, `.otherStore`. Errors in the kept generation are not thrown; see
  ///   ``CatalogHistory/previousFailure``.
  public func history() throws(CatalogError) -> CatalogHistory {
    CatalogHistory(try snapshot()) { () throws(StoreError) in try store.previousGeneration() }
  }
}
