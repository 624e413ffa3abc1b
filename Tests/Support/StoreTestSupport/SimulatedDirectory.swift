import Bytes
import Glibc
import Platform
import Storage
import Synchronization

/// The directory of a ``SimulatedDevice``.
package struct SimulatedDirectory: StorageDirectory {
  package let device: SimulatedDevice

  package var path: String { "/simulated" }

  package func open(_ name: String, _ mode: OpenMode) throws(StorageError) -> (any StorageFile)? {
    let path = path + "/" + name
    let known = device.state.withLock { state in state.disk.names[name].flatMap { state.inodes[$0] } }
    guard mode == .create else {
      try device.begin(.open, "open", path)
      return known.map { SimulatedFile(device, $0, path) }
    }
    try device.begin(.create, "open", path, isChange: true)
    let inode = device.state.withLock { state in
      if let known {
        known.truncate(to: 0)
        state.disk.files[known.identity.inode]?.pending.append(.truncate(0))
        return known
      }
      let inode = SimulatedInode(FileIdentity(device: 1, inode: state.nextInode))
      state.nextInode += 1
      state.inodes[inode.identity.inode] = inode
      state.disk.files[inode.identity.inode] = SimulatedDisk.File()
      state.change([(name, inode.identity.inode)])
      return inode
    }
    device.changed()
    return SimulatedFile(device, inode, path)
  }

  package func rename(_ old: String, to new: String) throws(StorageError) {
    try device.begin(.rename, "rename", path + "/" + old, isChange: true)
    try change { state in
      guard let inode = state.disk.names[old] else { return nil }
      return [(old, nil), (new, inode)]
    }
  }

  package func link(_ old: String, to new: String) throws(StorageError) {
    try device.begin(.link, "link", path + "/" + old, isChange: true)
    try change { state in
      guard let inode = state.disk.names[old], state.disk.names[new] == nil else { return nil }
      return [(new, inode)]
    }
  }

  package func link(_ old: String, of other: any StorageDirectory, to new: String) throws(StorageError) {
    guard let other = other as? SimulatedDirectory, other.device === device else {
      throw StorageError(operation: "link", path: path + "/" + old, code: EXDEV)
    }
    try link(old, to: new)
  }

  package func names() throws(StorageError) -> [String] {
    try device.begin(.identity, "list", path)
    return device.names
  }

  package func remove(_ name: String) throws(StorageError) -> Bool {
    let isThere = device.state.withLock { $0.disk.names[name] != nil }
    try device.begin(.remove, "remove", path + "/" + name, isChange: isThere)
    if isThere { try change { _ in [(name, nil)] } }
    return isThere
  }

  private func change(
    _ body: (SimulatedDevice.State) -> [(name: String, inode: UInt64?)]?
  ) throws(StorageError) {
    let isDone = device.state.withLock { state in
      guard let change = body(state) else { return false }
      state.change(change)
      return true
    }
    if !isDone { throw StorageError(operation: "change names", path: path, code: ENOENT) }
    device.changed()
  }

  package func sync() throws(StorageError) {
    try device.begin(.syncDirectory, "sync directory", path, isChange: true)
    device.state.withLock { $0.disk.syncNames() }
    device.changed()
  }

  package func availableByteCount() -> Int? {
    device.state.withLock { max(0, $0.capacity - $0.byteCount) }
  }

  package func byteCount(of name: String) throws(StorageError) -> Int? {
    try device.begin(.identity, "look at", path + "/" + name)
    return device.state.withLock { state in state.disk.names[name].flatMap { state.inodes[$0]?.size } }
  }

  package func modificationTime(of name: String) throws(StorageError) -> Int64? {
    try device.begin(.identity, "look at", path + "/" + name)
    return device.state.withLock { state in state.disk.names[name].map { state.times[$0] ?? 0 } }
  }

  package func setModificationTime(of name: String, to microseconds: Int64) throws(StorageError) {
    try device.begin(.identity, "set the time of", path + "/" + name)
    device.state.withLock { state in
      if let inode = state.disk.names[name] { state.times[inode] = microseconds }
    }
  }

  package func identity(of name: String) throws(StorageError) -> FileIdentity? {
    try device.begin(.identity, "look at", path + "/" + name)
    return device.state.withLock { state in state.disk.names[name].flatMap { state.inodes[$0]?.identity } }
  }

  package func lock(_ name: String) throws(StorageError) -> (any StorageLock)? {
    try device.begin(.lock, "lock", path + "/" + name)
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

  func wasRenamed(to path: String) {}

  func size() throws(StorageError) -> Int {
    try device.begin(.size, "look at", path)
    return inode.size
  }

  func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8] {
    try device.begin(.read, "read", path)
    let isReadable = device.state.withLock { state in
      state.largestRead = max(state.largestRead, count)
      guard let (inode, bytes) = state.unreadable, inode == identity.inode else { return true }
      return !bytes.overlaps(offset..<offset + count)
    }
    if !isReadable { throw StorageError(operation: "read", path: path, code: EIO) }
    return inode.read(count, at: offset)
  }

  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) {
    var fault = device.admit(.write, path, isChange: true)
    let count = bytes.byteCount
    var written = fault.map { Int(Double(count) * $0.written) } ?? count
    let room = device.state.withLock { $0.capacity - $0.byteCount } + inode.size - offset
    if fault == nil, written > room {
      fault = DeviceFault(ENOSPC)
      written = min(count, max(0, room))
    }
    if written > 0 {
      let copy = bytes.slice(0, written).copied()
      inode.write(copy, at: offset)
      device.state.withLock { $0.disk.files[identity.inode]?.pending.append(.write(offset, copy)) }
    }
    device.changed()
    if let fault { throw StorageError(operation: "write", path: path, code: fault.code) }
  }

  func truncate(to byteCount: Int) throws(StorageError) {
    try device.begin(.truncate, "truncate", path, isChange: true)
    inode.truncate(to: byteCount)
    device.state.withLock { $0.disk.files[identity.inode]?.pending.append(.truncate(byteCount)) }
    device.changed()
  }

  func sync() throws(StorageError) {
    let fault = device.admit(.sync, path, isChange: true)
    device.state.withLock { state in
      if let fault {
        if !fault.isPowerLoss { state.disk.files[identity.inode]?.loseUnsynced(except: fault.written) }
      } else {
        state.disk.files[identity.inode]?.sync()
      }
    }
    device.changed()
    if let fault { throw StorageError(operation: "sync", path: path, code: fault.code) }
  }

  func map(_ byteCount: Int) throws(StorageError) -> Mapping {
    try device.begin(.map, "map", path)
    return inode.map(byteCount)
  }

  func map(_ range: Range<Int>, at address: UnsafeMutableRawPointer) throws(StorageError) {
    try device.begin(.map, "map", path)
    // The addresses are the caller's.
    unsafe inode.map(range, at: address)
  }

  func linkCount() throws(StorageError) -> Int {
    try device.begin(.size, "look at", path)
    return device.state.withLock { state in state.disk.names.values.count { $0 == identity.inode } }
  }
}
