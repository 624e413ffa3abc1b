import LogStore
import Sealing
import Storage

/// A sealed store that is older than a commit that was seen: an older file was put in its place.
package struct StoreGoneBack: Sendable, Equatable {
  /// The name of the store, such as `catalogue`.
  package let store: String
  /// The number of the commit at which the store was found.
  package let found: UInt64
  /// The number of the highest commit that was seen.
  package let marked: UInt64
  /// When that commit was seen, in microseconds since 1970 UTC.
  package let time: Int64
}

extension KeyFile {
  /// Writes the mark of a store after a commit. The caller has the lock of the store.
  ///
  /// This is an attempt: without a key, or without a keys file, there is no mark, and the commit counts all the same.
  ///
  /// - Complexity: About ten system calls, and no sync. One for a user in clear.
  static func mark(_ name: String, _ commit: DurableCommit, in directory: any StorageDirectory, _ ring: KeyRing) {
    guard let file = (try? KeyFile.read(in: directory)) ?? nil, let key = try? ring.keys(of: file).current else {
      return
    }
    let now = StoreEnvironment.system.now()
    let old = ((try? file.marks(key)) ?? []).first { $0.name == name }
    let new =
      old?.after(commit, time: now)
      ?? StoreMark(
        name: name, storeID: commit.storeID, generation: commit.generation, sequence: commit.sequence, time: now)
    try? update(new, key, in: directory)
  }
}

extension WorkspaceDirectory {
  /// The sealed stores of a user that are older than their marks. They are readable all the same.
  ///
  /// - Throws: `WorkspaceError.keys` without a key.
  /// - Complexity: About ten system calls for each store that has a mark.
  package func storesGoneBack(of id: String) throws -> [StoreGoneBack] {
    guard let directory = try directory(of: id) else { return [] }
    // The marks are read first: what is committed meanwhile only makes a store newer.
    return try marks(in: directory).compactMap { mark in
      guard let present = try StoreReader.open(location(directory, mark.name))?.snapshot.sequence,
        let found = mark.wentBack(present: present)
      else { return nil }
      return StoreGoneBack(store: mark.name, found: found, marked: mark.sequence, time: mark.time)
    }
  }

  /// Accepts the sealed stores of a user as they are: their marks are set to their last commits.
  ///
  /// - Returns: The stores that had gone back.
  /// - Throws: `WorkspaceError.keys`; `StoreError.locked` and others, with some stores accepted.
  package func acceptStores(of id: String) throws -> [StoreGoneBack] {
    let gone = try storesGoneBack(of: id)
    for store in gone { try acceptStore(store.store, of: id) }
    return gone
  }

  /// Sets the mark of a store to its last commit, whatever it was before. Does nothing to a clear store.
  func acceptStore(_ name: String, of id: String?) throws {
    guard let directory = try directory(of: id) else { return }
    do throws(KeyError) { if try !KeyFile.exists(in: directory) { return } } catch { throw WorkspaceError.keys(error) }
    let writer = try StoreWriter(location(directory, name), schema: Schema([]), lockTimeout: lockTimeout)
    defer { writer.close() }
    guard let snapshot = writer.snapshot else { return }
    KeyFile.mark(name, DurableCommit(.everything, snapshot), in: directory, keyRing)
  }

  private func marks(in directory: any StorageDirectory) throws(WorkspaceError) -> [StoreMark] {
    do throws(KeyError) {
      guard let file = try KeyFile.read(in: directory) else { return [] }
      let key = try keyRing.keys(of: file).current
      return try sealing { () throws(SealingError) in try file.marks(key) }
    } catch { throw .keys(error) }
  }
}
