import Glibc

/// The calls through which the engine reaches a device.
package enum DeviceCall: Hashable, CaseIterable, Sendable {
  case open, create, read, write, sync, truncate, map, size
  case rename, link, remove, syncDirectory, identity, lock

  /// The ways in which this call may fail.
  package var faults: [DeviceFault] {
    switch self {
    case .open: [DeviceFault(EMFILE), DeviceFault(EACCES)]
    case .create: [DeviceFault(EMFILE), DeviceFault(EACCES), DeviceFault(ENOSPC)]
    case .read: [DeviceFault(EIO)]
    case .write:
      [DeviceFault(EIO), DeviceFault(ENOSPC), DeviceFault(ENOSPC, written: 0.5), DeviceFault(EFBIG, written: 0.9)]
    case .sync: [DeviceFault(EIO), DeviceFault(EIO, written: 0.5), DeviceFault(ENOSPC), DeviceFault(EDQUOT)]
    case .truncate: [DeviceFault(EIO), DeviceFault(EACCES)]
    case .map: [DeviceFault(ENOMEM)]
    case .size, .identity: [DeviceFault(EIO)]
    case .rename: [DeviceFault(EIO), DeviceFault(ENOSPC), DeviceFault(EACCES)]
    case .link: [DeviceFault(EMLINK), DeviceFault(EPERM), DeviceFault(ENOSPC)]
    case .remove: [DeviceFault(EIO), DeviceFault(EACCES)]
    case .syncDirectory: [DeviceFault(EIO), DeviceFault(ENOSPC)]
    case .lock: [DeviceFault(EMFILE), DeviceFault(ENOLCK)]
    }
  }
}

/// How a call fails.
package struct DeviceFault: Sendable {
  package let code: Int32
  /// Of a write: the share of the bytes that it writes before it fails. Of a sync: what of it becomes durable.
  package let written: Double
  /// Whether it is the end of the device.
  let isPowerLoss: Bool

  package init(_ code: Int32, written: Double = 0) {
    self.init(code, written: written, isPowerLoss: false)
  }

  private init(_ code: Int32, written: Double, isPowerLoss: Bool) {
    self.code = code
    self.written = written
    self.isPowerLoss = isPowerLoss
  }

  static let powerLoss = DeviceFault(EIO, written: 0, isPowerLoss: true)
}
