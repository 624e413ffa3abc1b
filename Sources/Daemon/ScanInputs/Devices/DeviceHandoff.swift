import Synchronization

/// Hands open devices over from an input that ends to its successor.
///
/// Closing a device even briefly would lose the bytes sent in that time, and a truncated code is a different code. So
/// an input whose successor reads the same device with other settings hands the device over open, with any incomplete
/// line.
final class DeviceHandoff: Sendable {
  /// The identity of a device.
  struct Key: Hashable, Sendable {
    let kind: String
    let path: String

    /// Creates a key; `nil` if the source is not a device.
    init?(_ source: InputSource) {
      switch source {
      case .serial(let options): path = options.path
      case .keyboard(let options): path = options.path
      case .standardInput, .tcp, .tcpClient, .socket: return nil
      }
      kind = source.kind
    }
  }

  /// The state of an incomplete line.
  enum State: Sendable {
    case line(LineFramer.Beginning)
    case keys(KeyboardDecoder)
  }

  /// An open device.
  struct OpenDevice: Sendable {
    let device: Descriptor
    let state: State
  }

  /// The keys of devices that a new input will take, with the device once it is available.
  private let reservations = Mutex<[Key: OpenDevice?]>([:])

  /// Reserves devices for new inputs, and closes those that no input took.
  func reserve(_ keys: Set<Key>) {
    let former = reservations.withLock { reservations in
      defer { reservations = Dictionary(uniqueKeysWithValues: keys.map { ($0, nil) }) }
      return reservations
    }
    for openDevice in former.values { openDevice?.device.close() }
  }

  /// Offers a device.
  ///
  /// - Returns: Whether an input will take it; if not, the caller must close it.
  func put(_ openDevice: OpenDevice, for key: Key) -> Bool {
    reservations.withLock { reservations in
      guard reservations[key] != nil else { return false }
      reservations[key] = .some(openDevice)
      return true
    }
  }

  /// Takes the device for a key, once; `nil` if none is available.
  func take(_ key: Key) -> OpenDevice? {
    reservations.withLock { reservations in reservations.removeValue(forKey: key) ?? nil }
  }
}
