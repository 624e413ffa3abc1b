import Glibc
import Platform
import RandomTestSupport
import Storage
import Synchronization

/// A device in memory with one directory, which knows what was written from what is durable; it can lose power, fail
/// and fill up.
///
/// ``stop(after:)`` ends it after so many changes; ``crashed(_:_:)`` gives the device that the next start finds. With
/// ``record()`` it keeps its disk as it was before each change: one run of a workload then gives every crash point.
package final class SimulatedDevice: Sendable {
  struct State {
    var disk = SimulatedDisk()
    /// The files that have a name.
    var inodes: [UInt64: SimulatedInode] = [:]
    var locked: Set<String> = []
    var nextInode: UInt64 = 1
    var operations = 0
    var operationLimit = Int.max
    var recorded: [SimulatedDisk]?
    var calls: [DeviceCall]?
    /// A call that will fail: the one with this number, counted down over the calls of this kind, or of any.
    var awaited: [(call: DeviceCall?, left: Int, fault: DeviceFault)] = []
    var failedPath: String?
    var refused: [DeviceCall: Int32] = [:]
    var unreadable: (inode: UInt64?, bytes: Range<Int>)?
    var capacity = 1 << 50
    var largestRead = 0
    var observer: (@Sendable () -> Void)?
    /// When a file was last changed, where somebody set it.
    var times: [UInt64: Int64] = [:]
  }

  let state = Mutex(State())

  package init() {}

  /// A device that has started with `image` on its disk.
  package init(_ image: DiskImage) {
    state.withLock { state in
      for (number, bytes) in image.files {
        state.inodes[number] = SimulatedInode(FileIdentity(device: 1, inode: number), bytes)
        state.disk.files[number] = SimulatedDisk.File(durable: bytes)
        state.nextInode = max(state.nextInode, number + 1)
      }
      state.disk.names = image.names
      state.disk.durableNames = image.names
    }
  }

  package var directory: SimulatedDirectory { SimulatedDirectory(device: self) }

  /// The bytes of a file as programs see them; `nil` for none.
  package func contents(_ name: String) -> [UInt8]? {
    state.withLock { state in state.disk.names[name].flatMap { state.inodes[$0]?.contents } }
  }

  /// The names in the directory, sorted.
  package var names: [String] { state.withLock { $0.disk.names.keys.sorted() } }

  /// Everything as programs see it now: what a start without a crash finds.
  package var image: DiskImage {
    state.withLock { state in
      var image = DiskImage()
      image.names = state.disk.names
      for inode in Set(image.names.values) { image.files[inode] = state.inodes[inode]?.contents }
      return image
    }
  }

  /// Puts a file there as if it always had been.
  package func place(_ bytes: [UInt8], as name: String) {
    state.withLock { state in
      let number = state.nextInode
      state.nextInode += 1
      state.inodes[number] = SimulatedInode(FileIdentity(device: 1, inode: number), bytes)
      state.disk.files[number] = SimulatedDisk.File(durable: bytes)
      state.disk.names[name] = number
      state.disk.durableNames[name] = number
    }
  }

  // MARK: Losing power

  /// Changes so far: writes, truncations, syncs, changes of names.
  package var operations: Int { state.withLock { $0.operations } }

  /// Power fails before the change after this one.
  package func stop(after limit: Int) { state.withLock { $0.operationLimit = limit } }

  /// The disk as it is now.
  package var disk: SimulatedDisk { state.withLock { $0.disk } }

  /// The device after a loss of power now, with nobody holding a lock.
  package func crashed(_ survival: SimulatedDisk.Survival, _ random: inout SeededGenerator) -> SimulatedDevice {
    SimulatedDevice(disk.crashed(survival, &random))
  }

  /// From now on keeps the disk before each change, and the kind of each call.
  package func record() {
    state.withLock { state in
      state.operations = 0
      state.recorded = []
      state.calls = []
    }
  }

  /// The disk after 0, 1, 2, … changes since ``record()``.
  package var recorded: [SimulatedDisk] { state.withLock { ($0.recorded ?? []) + [$0.disk] } }

  /// The calls since ``record()``.
  package var calls: [DeviceCall] { state.withLock { $0.calls ?? [] } }

  /// Calls `observer` after each change.
  package func observe(_ observer: (@Sendable () -> Void)?) { state.withLock { $0.observer = observer } }

  // MARK: Failing

  /// The call of this kind, or of any, with this number, counted from now, fails. What a failed sync should have made
  /// durable never will be.
  package func fail(_ call: DeviceCall?, _ number: Int, _ fault: DeviceFault) {
    state.withLock { $0.awaited.append((call, number, fault)) }
  }

  /// Takes back the failures that have not come yet, and tells on which path the last one was.
  @discardableResult
  package func failNoMore() -> String? {
    state.withLock { state in
      state.awaited = []
      state.refused = [:]
      defer { state.failedPath = nil }
      return state.failedPath
    }
  }

  /// From now on all calls of this kind fail.
  package func refuse(_ call: DeviceCall, _ code: Int32) { state.withLock { $0.refused[call] = code } }

  /// From now on these bytes of the file that has this name now cannot be read, except through a mapping.
  package func makeUnreadable(_ bytes: Range<Int>, of name: String) {
    state.withLock { $0.unreadable = ($0.disk.names[name], bytes) }
  }

  /// The device has room for so many bytes in all its files.
  package func limit(to byteCount: Int) { state.withLock { $0.capacity = byteCount } }

  /// Bytes in all files.
  package var byteCount: Int { state.withLock { $0.byteCount } }

  /// The most bytes that a single read has asked for.
  package var largestRead: Int { state.withLock { $0.largestRead } }

  // MARK: What each call asks

  /// Notes a call; throws if it fails. A change is counted, and nothing changes once power has failed.
  func begin(
    _ call: DeviceCall, _ operation: String, _ path: String, isChange: Bool = false
  ) throws(StorageError) {
    if let fault = admit(call, path, isChange: isChange) {
      throw StorageError(operation: operation, path: path, code: fault.code)
    }
  }

  /// As ``begin(_:_:_:isChange:)``, with the failure as a value.
  func admit(_ call: DeviceCall, _ path: String, isChange: Bool) -> DeviceFault? {
    state.withLock { state in
      if isChange, state.operations >= state.operationLimit { return .powerLoss }
      state.calls?.append(call)
      if let code = state.refused[call] { return DeviceFault(code) }
      var fault: DeviceFault?
      for index in state.awaited.indices where state.awaited[index].call ?? call == call {
        state.awaited[index].left -= 1
        if state.awaited[index].left == 0 { fault = state.awaited[index].fault }
      }
      if fault != nil { state.failedPath = path }
      if isChange {
        state.recorded?.append(state.disk)
        state.operations += 1
      }
      return fault
    }
  }

  /// Tells the observer of a change.
  func changed() {
    let observer = state.withLock { $0.observer }
    observer?()
  }
}

extension SimulatedDevice.State {
  var byteCount: Int { inodes.values.reduce(0) { $0 + $1.size } }

  /// Changes names, and lets go of the files that lost theirs.
  mutating func change(_ change: [(name: String, inode: UInt64?)]) {
    let old = change.compactMap { disk.names[$0.name] }
    disk.change(change)
    for inode in old where !disk.names.values.contains(inode) { inodes[inode] = nil }
  }
}
