import Bytes
import Platform
import RecordFormat
import Storage

/// An older state of a store, from which it can continue if nothing in its own log can be read.
public struct RepairSource: Sendable {
  /// The origin of an older state.
  public enum Kind: Sendable {
    /// The generation that the last full update replaced.
    case previous
    /// The base that the store shared with other stores, which have since continued from it.
    case sharedBase
  }

  /// Where the older state comes from.
  public let kind: Kind
  /// The commit to continue from.
  public let snapshot: Snapshot
}

extension StoreLocation {
  /// Returns the older states of a store next to its log, the newest commit first. States of another kind of store are
  /// left out. Damaged states are left out if there is an undamaged one.
  ///
  /// - Parameter schema: The tables that the store must have.
  /// - Throws: `StoreError.io`; the error of an older state if no state is undamaged.
  /// - Complexity: As opening the store, once for each state.
  package func repairSources(_ schema: Schema) throws(StoreError) -> [RepairSource] {
    var sources: [RepairSource] = []
    var damage: StoreError?
    for kind in [RepairSource.Kind.previous, .sharedBase] {
      do throws(StoreError) {
        guard let snapshot = try kind == .previous ? previousGeneration(before: nil)?.snapshot : baseSnapshot(),
          (try? schema.adopt(snapshot.manifest, path: path)) != nil
        else { continue }
        sources.append(RepairSource(kind: kind, snapshot: snapshot))
      } catch {
        guard error.isDamage else { throw error }
        damage = error
      }
    }
    if sources.isEmpty, let damage { throw damage }
    return sources.sorted { $0.snapshot.time > $1.snapshot.time }
  }

  /// Returns the last commit of the log whose first part this store shares; `nil` if there is no such log.
  private func baseSnapshot() throws(StoreError) -> Snapshot? {
    guard let file = try storage({ () throws(StorageError) in try directory.open(base, .read) }) else { return nil }
    let log = try LogFile(file, keys: keys)
    guard log.header.base == nil, let footer = try log.recover().footer else { return nil }
    return try Snapshot(log, log.mapping(reaching: Int(footer.end), reusing: nil), footer)
  }

  /// Returns the highest sequence number and generation in the log, which may be damaged, and in the previous
  /// generation. The log's replacement continues from these numbers.
  ///
  /// - Throws: `StoreError.io`.
  func highestNumbers() throws(StoreError) -> (sequence: UInt64, generation: UInt64) {
    var (sequence, generation) = try numbersAfterPrevious()
    guard let file = try storage({ () throws(StorageError) in try directory.open(log, .read) }) else {
      return (sequence, generation)
    }
    let head = try readable(file, FileHeader.byteCount, at: 0)
    if let header = try? FileHeader(head.rawSpan) {
      generation = max(generation, header.generation)
    }
    for offset in AcknowledgementSlot.offsets {
      let page = try readable(file, AcknowledgementSlot.byteCount, at: offset)
      guard let slot = try? AcknowledgementSlot(page.rawSpan) else { continue }
      sequence = max(sequence, slot.sequence)
      generation = max(generation, slot.generation)
    }
    return (sequence, generation)
  }

  /// Returns the numbers of the first commit after the kept generation; 0 if no generation is kept.
  ///
  /// - Throws: `StoreError.io`.
  func numbersAfterPrevious() throws(StoreError) -> (sequence: UInt64, generation: UInt64) {
    do throws(StoreError) {
      guard let previous = try previousGeneration(before: nil)?.snapshot else { return (0, 0) }
      // At least one commit followed it.
      return (previous.sequence + 1, previous.generation + 1)
    } catch {
      guard error.isDamage else { throw error }
      return (0, 0)
    }
  }

  /// Returns bytes of a damaged file; empty if the device cannot read them.
  private func readable(_ file: any StorageFile, _ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    do { return try file.read(count, at: offset) } catch {
      guard error.isUnreadable else { throw .io(error) }
      return []
    }
  }

  /// Renames a previous generation that cannot be read and keeps it for inspection.
  ///
  /// - Returns: The new path.
  func setAsidePrevious() throws(StoreError) -> String {
    try storage { () throws(StorageError) in
      let name = try freeDamagedName()
      try directory.rename(previous, to: name)
      try directory.sync()
      return directory.path + "/" + name
    }
  }

  /// Returns the first unused name for a damaged file.
  func freeDamagedName() throws(StorageError) -> String {
    var number = 1
    while try directory.identity(of: damaged(number)) != nil { number += 1 }
    return damaged(number)
  }
}
