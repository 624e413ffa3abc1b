public import LogStore

extension CatalogObservation {
  /// The difference between two states of a catalogue: the one that was delivered last, and that of the last commit.
  ///
  /// It holds both states, so everything about it can be read for as long as it is referenced, even after another file
  /// has replaced the catalogue. The files use disk space for that time.
  public struct Change: Sendable {
    /// The state that was delivered last: that of the change before, or the one at which the iteration began.
    public let before: CatalogSnapshot
    /// The state at the last commit.
    public let after: CatalogSnapshot
    /// The commits that lead from ``before`` to ``after``, oldest first, as far as they can be read.
    ///
    /// Commits of a file that was replaced are among them, unless two files or more were replaced meanwhile. A
    /// compaction drops the commits before it from the new file. If ``isReplacement`` is true, only the last commit is
    /// listed.
    public let commits: [CatalogCommit]
    /// Whether ``after`` is not a later state of the same catalogue: the file was replaced by an older one, for example
    /// a backup, or by that of another catalogue. Its sequence number may be lower.
    public let isReplacement: Bool
    /// Whether both states are commits of one file, so that ``differences()`` reads only what was written between them.
    /// It is false after a full update, a compaction, a repair or a replacement, and for the first change of a
    /// catalogue that did not exist before.
    public let isWithinGeneration: Bool

    /// The sequence number of the last commit.
    public var sequence: UInt64 { after.sequence }

    /// Whether ``commits`` contains every commit from ``before`` to ``after``.
    public var hasAllCommits: Bool {
      !isReplacement && after.sequence > before.sequence && after.sequence - before.sequence == UInt64(commits.count)
    }

    /// The numbers of rows that the merged commits changed, added up: a product that two commits changed counts twice.
    /// For the numbers of the rows that differ now, count those of ``differences()``.
    ///
    /// A number is `nil` if a commit does not store it: a full update stores all its products, and not what it left
    /// out. All are `nil` unless ``hasAllCommits`` is true.
    public var counts: ChangeCounts {
      guard hasAllCommits, let first = commits.first else { return ChangeCounts() }
      return commits.dropFirst().reduce(first.counts) { $0 + $1.counts }
    }

    /// Returns the products and relations that differ between the two states, by content. A row that was written again
    /// unchanged, or changed and changed back, does not differ.
    ///
    /// - Throws: `StoreError.damaged`, also for a file that was truncated or written over while it was kept.
    /// - Complexity: If ``isWithinGeneration`` is true, time and memory are proportional to what was written between
    ///   the two states. Otherwise each row of both is looked up in the other and compared; memory holds the
    ///   differences and the ids of all sets.
    public func differences() throws(StoreError) -> CatalogChanges { try after.changes(since: before) }

    /// Compares two states; returns `nil` if the second one is the same commit.
    ///
    /// - Throws: `StoreError.damaged`, `.unreadable`, `.io`; `CatalogError.unknownState`.
    init?(from before: CatalogSnapshot, to after: CatalogSnapshot) throws {
      if before.store === after.store { return nil }
      self.before = before
      self.after = after
      guard let old = before.store, let new = after.store else {
        isWithinGeneration = false
        isReplacement = after.store == nil
        commits = try after.history(after: 0).reversed()
        return
      }
      isWithinGeneration = try new.descends(from: old)
      let isNewGeneration = !new.isSameGeneration(as: old) && new.generation > old.generation
      isReplacement = !isWithinGeneration && !isNewGeneration
      if isReplacement {
        commits = try after.history(after: after.sequence == 0 ? 0 : after.sequence - 1)
        return
      }
      if new.sequence == old.sequence { return nil }
      commits = try Self.commits(from: before, to: after)
    }

    private static func commits(from before: CatalogSnapshot, to after: CatalogSnapshot) throws -> [CatalogCommit] {
      var commits = try after.history(after: before.sequence)
      guard let old = before.store, let new = after.store, !new.isSameGeneration(as: old),
        let first = commits.last?.commit.sequence
      else { return commits.reversed() }
      // The file that was replaced is still open. If it cannot be read, its commits are missing from the list.
      let rest = try? CatalogSnapshot(old.lastOfFile()).history(after: before.sequence)
      commits += (rest ?? []).filter { $0.commit.sequence < first }
      return commits.reversed()
    }
  }
}
