import Glibc
import RandomTestSupport
import Storage
import Synchronization

/// A device in memory with one directory, which knows what was written from what is durable, and can lose power.
///
/// ``operationLimit`` stops it after so many changes; ``crashed(_:)`` gives the device that the next start finds.
package final class SimulatedDevice: Sendable {
  struct State {
    var names: [String: SimulatedInode] = [:]
    var durableNames: [String: SimulatedInode] = [:]
    /// Changes of names, which become durable one by one or not at all. A rename is one change.
    var pendingNames: [[(name: String, inode: SimulatedInode?)]] = []
    var locked: Set<String> = []
    var nextInode: UInt64 = 1
    var operations = 0
    var operationLimit = Int.max
    var syncs = 0
    var failingSync: Int?
    var failingWrite: Int?
    var writes = 0
    var readsFail = false
    var capacity: Int?
  }

  let state = Mutex(State())

  package init() {}

  package var directory: SimulatedDirectory { SimulatedDirectory(device: self) }

  /// Changes so far: writes, truncations, syncs, changes of names.
  package var operations: Int { state.withLock { $0.operations } }

  /// Power fails before the change after this one.
  package func stop(after limit: Int) { state.withLock { $0.operationLimit = limit } }

  /// The sync with this number, counted from now, fails, and what it should have made durable never will be.
  package func failSync(_ number: Int) { state.withLock { $0.failingSync = $0.syncs + number } }

  /// The write with this number, counted from now, writes half of its bytes and fails.
  package func failWrite(_ number: Int) { state.withLock { $0.failingWrite = $0.writes + number } }

  /// From now on no file can be read, except through a mapping.
  package func failReads() { state.withLock { $0.readsFail = true } }

  /// From now on the device says that all of its files together can have so many bytes. It does not enforce it.
  package func setCapacity(_ byteCount: Int?) { state.withLock { $0.capacity = byteCount } }

  /// Counts a change; throws once power has failed.
  func count(_ operation: String, _ path: String) throws(StorageError) {
    let isOn = state.withLock { state in
      if state.operations >= state.operationLimit { return false }
      state.operations += 1
      return true
    }
    if !isOn { throw StorageError(operation: operation, path: path, code: EIO) }
  }

  /// The bytes of a file as programs see them; `nil` for none.
  package func contents(_ name: String) -> [UInt8]? { state.withLock { $0.names[name]?.contents } }

  /// The names in the directory, sorted.
  package var names: [String] { state.withLock { $0.names.keys.sorted() } }

  /// Puts a file there as if it always had been.
  package func place(_ bytes: [UInt8], as name: String) {
    state.withLock { state in
      let inode = SimulatedInode(FileIdentity(device: 1, inode: state.nextInode), bytes)
      state.nextInode += 1
      state.names[name] = inode
      state.durableNames[name] = inode
    }
  }

  func makeInode(_ state: inout State) -> SimulatedInode {
    defer { state.nextInode += 1 }
    return SimulatedInode(FileIdentity(device: 1, inode: state.nextInode))
  }
}

extension SimulatedDevice {
  /// How much of what was not synced a crash leaves.
  package enum Survival: Sendable {
    case nothing, everything
    /// The changes up to some point.
    case beginning
    /// Each sector and each change of a name with this probability.
    case some(Double)
    /// One sector, or change, that is missing.
    case allButOne

    package static func random(_ random: inout SeededGenerator) -> Survival {
      switch Int.random(in: 0..<10, using: &random) {
      case 8, 9: .allButOne
      case 0: .nothing
      case 1: .everything
      case 2: .beginning
      case 3: .some(0.03)
      case 4: .some(0.97)
      default: .some(Double.random(in: 0.1...0.9, using: &random))
      }
    }
  }

  /// The device after a loss of power now, with nobody holding a lock.
  package func crashed(_ survival: Survival, _ random: inout SeededGenerator) -> SimulatedDevice {
    let after = SimulatedDevice()
    let hasGarbage = Int.random(in: 0..<4, using: &random) == 0
    var names: [String: SimulatedInode] = [:]
    state.withLock { state in
      names = state.durableNames
      var keeps = Keeping(survival, changes: state.pendingNames.count, &random)
      for change in state.pendingNames where keeps.next(&random) {
        for (name, inode) in change { names[name] = inode }
      }
    }
    // A file with two names stays one file.
    var images: [FileIdentity: SimulatedInode] = [:]
    for (name, inode) in names.sorted(by: { $0.key < $1.key }) {
      let image: SimulatedInode
      if let known = images[inode.identity] {
        image = known
      } else {
        image = SimulatedInode(inode.identity, inode.image(survival, hasGarbage: hasGarbage, &random))
        images[inode.identity] = image
      }
      after.state.withLock { state in
        state.names[name] = image
        state.durableNames[name] = image
        state.nextInode = max(state.nextInode, inode.identity.inode + 1)
      }
    }
    return after
  }

  /// Decides change by change whether it survives.
  struct Keeping {
    private let survival: Survival
    private var left: Int

    init(_ survival: Survival, changes: Int, _ random: inout SeededGenerator) {
      self.survival = survival
      left = Int.random(in: 0...changes, using: &random)
    }

    mutating func next(_ random: inout SeededGenerator) -> Bool {
      switch survival {
      case .nothing: return false
      case .everything: return true
      case .beginning:
        left -= 1
        return left >= 0
      case .allButOne:
        left -= 1
        return left != 0
      case .some(let share): return Double.random(in: 0..<1, using: &random) < share
      }
    }
  }
}

extension SimulatedInode {
  /// What of the file a crash leaves: sectors of 512 bytes and lengths survive one by one.
  func image(
    _ survival: SimulatedDevice.Survival, hasGarbage: Bool, _ random: inout SeededGenerator
  ) -> [UInt8] {
    let sector = 512
    var image = durable
    var size = durable.count
    var pieces = pending.count
    if case .allButOne = survival {
      for case .write(let offset, let bytes) in pending {
        pieces += (offset + bytes.count + sector - 1) / sector - offset / sector
      }
    }
    var changes = SimulatedDevice.Keeping(survival, changes: pieces, &random)
    for change in pending {
      switch change {
      case .truncate(let count):
        guard changes.next(&random) else { continue }
        if image.count > count { image.removeLast(image.count - count) }
        size = count
      case .write(let offset, let bytes):
        // In order: a write survives as a whole or not at all. Otherwise each of its sectors has its own fate.
        let inOrder = if case .beginning = survival { changes.next(&random) } else { true }
        var start = 0
        while start < bytes.count {
          let end = min(bytes.count, (offset + start) / sector * sector + sector - offset)
          let survives = if case .beginning = survival { inOrder } else { changes.next(&random) }
          if image.count < offset + end {
            image.append(contentsOf: repeatElement(0, count: offset + end - image.count))
          }
          if survives {
            image.replaceSubrange((offset + start)..<(offset + end), with: bytes[start..<end])
          } else if hasGarbage, offset + start >= durable.count {
            image.replaceSubrange((offset + start)..<(offset + end), with: random.bytes(end - start))
          }
          start = end
        }
        let growth = if case .beginning = survival { inOrder } else { changes.next(&random) }
        if growth { size = max(size, offset + bytes.count) }
      }
    }
    if image.count > size { image.removeLast(image.count - size) }
    image.append(contentsOf: repeatElement(0, count: size - image.count))
    return image
  }
}
