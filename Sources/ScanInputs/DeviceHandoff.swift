import Synchronization

/// Devices between an input that ends and the one that reads on.
///
/// A device that is closed for a moment loses what is sent in that moment, and a code that is cut is another code. So an input
/// that is followed by one of the same device, under other settings, hands it over as it is: open, and with the line that has
/// begun.
final class DeviceHandoff: Sendable {
  /// What names a device.
  struct Key: Hashable, Sendable {
    let kind: String
    let path: String

    /// `nil` for what is no device.
    init?(_ source: InputSource) {
      switch source {
      case .serial(let options): path = options.path
      case .keyboard(let options): path = options.path
      case .standardInput, .tcp, .tcpClient, .socket: return nil
      }
      kind = source.kind
    }
  }

  /// What had been read of the line that has begun.
  enum State: Sendable {
    case line(LineFramer.Beginning)
    case keys(KeyboardDecoder)
  }

  /// An open device.
  struct Kept: Sendable {
    let device: Descriptor
    let state: State
  }

  /// Who is expected, and what is there for them.
  private let places = Mutex<[Key: Kept?]>([:])

  /// Has devices kept for inputs that will come, and those that nobody came for closed.
  func reserve(_ keys: Set<Key>) {
    let former = places.withLock { places in
      defer { places = Dictionary(uniqueKeysWithValues: keys.map { ($0, nil) }) }
      return places
    }
    for kept in former.values { kept?.device.close() }
  }

  /// - Returns: Whether somebody is expected; else the device is the caller's still.
  func put(_ kept: Kept, for key: Key) -> Bool {
    places.withLock { places in
      guard places[key] != nil else { return false }
      places[key] = .some(kept)
      return true
    }
  }

  /// What there is for one who comes, once.
  func take(_ key: Key) -> Kept? {
    places.withLock { places in places.removeValue(forKey: key) ?? nil }
  }
}
