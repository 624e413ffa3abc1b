import Glibc
import RecordFormat
import Storage
import Synchronization

/// The directory of a ``SimulatedDevice``.
package struct SimulatedDirectory: StorageDirectory {
  package let device: SimulatedDevice

  package var path: String { "/simulated" }

  package func open(_ name: String, _ mode: OpenMode) throws(StorageError) -> (any StorageFile)? {
    let known = device.state.withLock { $0.names[name] }
    guard mode == .create else { return known.map { SimulatedFile(device, $0, path + "/" + name) } }
    try device.count("create", name)
    let inode = device.state.withLock { state in
      if let known {
        known.truncate(to: 0)
        return known
      }
      let inode = device.makeInode(&state)
      state.names[name] = inode
      state.pendingNames.append([(name, inode)])
      return inode
    }
    return SimulatedFile(device, inode, path + "/" + name)
  }

  package func rename(_ old: String, to new: String) throws(StorageError) {
    try device.count("rename", old)
    try change { state in
      guard let inode = state.names[old] else { return nil }
      return [(old, nil), (new, inode)]
    }
  }

  package func link(_ old: String, to new: String) throws(StorageError) {
    try device.count("link", old)
    try change { state in
      guard let inode = state.names[old], state.names[new] == nil else { return nil }
      return [(new, inode)]
    }
  }

  package func remove(_ name: String) throws(StorageError) -> Bool {
    if device.state.withLock({ $0.names[name] == nil }) { return false }
    try device.count("remove", name)
    try change { _ in [(name, nil)] }
    return true
  }

  private func change(
    _ body: (SimulatedDevice.State) -> [(name: String, inode: SimulatedInode?)]?
  ) throws(StorageError) {
    let isDone = device.state.withLock { state in
      guard let change = body(state) else { return false }
      for (name, inode) in change { state.names[name] = inode }
      state.pendingNames.append(change)
      return true
    }
    if !isDone { throw StorageError(operation: "change names", path: path, code: ENOENT) }
  }

  package func sync() throws(StorageError) {
    try device.count("sync directory", path)
    device.state.withLock { state in
      state.durableNames = state.names
      state.pendingNames = []
    }
  }

  package func identity(of name: String) throws(StorageError) -> FileIdentity? {
    device.state.withLock { $0.names[name]?.identity }
  }

  package func lock(_ name: String) throws(StorageError) -> (any StorageLock)? {
    let isFree = device.state.withLock { $0.locked.insert(name).inserted }
    return isFree ? SimulatedLock(device, name) : nil
  }
}

final class SimulatedLock: StorageLock {
  private let device: SimulatedDevice
  private let name: String
  private let isHeld = Atomic(true)

  init(_ device: SimulatedDevice, _ name: String) {
    self.device = device
    self.name = name
  }

  func release() {
    guard isHeld.exchange(false, ordering: .acquiringAndReleasing) else { return }
    _ = device.state.withLock { $0.locked.remove(name) }
  }
}

/// An open file of a ``SimulatedDevice``.
final class SimulatedFile: StorageFile {
  let path: String
  private let device: SimulatedDevice
  private let inode: SimulatedInode

  init(_ device: SimulatedDevice, _ inode: SimulatedInode, _ path: String) {
    self.device = device
    self.inode = inode
    self.path = path
  }

  var identity: FileIdentity { inode.identity }

  func isNamed(_ path: String) {}

  func size() throws(StorageError) -> Int { inode.size }

  func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8] {
    if device.state.withLock({ $0.readsFail }) {
      throw StorageError(operation: "read", path: path, code: EIO)
    }
    return inode.read(count, at: offset)
  }

  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) {
    try device.count("write", path)
    let fails = device.state.withLock { state in
      state.writes += 1
      return state.writes == state.failingWrite
    }
    let copy = bytes.copied()
    inode.write(fails ? Array(copy.prefix(copy.count / 2)) : copy, at: offset)
    if fails { throw StorageError(operation: "write", path: path, code: ENOSPC) }
  }

  func truncate(to byteCount: Int) throws(StorageError) {
    try device.count("truncate", path)
    inode.truncate(to: byteCount)
  }

  func sync() throws(StorageError) {
    try device.count("sync", path)
    let fails = device.state.withLock { state in
      state.syncs += 1
      return state.syncs == state.failingSync
    }
    if fails {
      inode.loseUnsynced()
      throw StorageError(operation: "sync", path: path, code: EIO)
    }
    inode.sync()
  }

  func map(_ byteCount: Int) throws(StorageError) -> Mapping { inode.map(byteCount) }
}
