import LogStore
import Storage

extension StoreLocation {
  /// Returns the same location with the keys of a user. Until a change of the data key is finished, a store may still be
  /// sealed with the former one.
  func opening(with keys: KeyFile.Keys, sealsNew: Bool) -> StoreLocation {
    var location = self
    location.keys = LogKeys(keys, sealsNew: sealsNew)
    return location
  }
}

extension LogKeys {
  init(_ keys: KeyFile.Keys, sealsNew: Bool) {
    self.init(keys.current, former: keys.former.map { [$0] } ?? [])
    self.sealsNew = sealsNew
  }
}

extension WorkspaceDirectory {
  /// The keys of the stores in a directory; none if they are in clear, or if no key was given.
  ///
  /// - Throws: Why a key that was given does not open them.
  static func logKeys(of directory: any StorageDirectory, _ ring: KeyRing) throws(KeyError) -> LogKeys {
    guard let file = try KeyFile.read(in: directory) else { return .none }
    var keys = ring.source == nil ? LogKeys.none : LogKeys(try ring.keys(of: file), sealsNew: true)
    keys.sealsNew = file.state != .unsealing
    keys.refuseClear = file.state == .sealed
    return keys
  }

  /// The keys as above. If they cannot be opened, there are none, and no store is made in clear.
  static func currentLogKeys(of directory: any StorageDirectory, _ ring: KeyRing) -> LogKeys {
    do throws(KeyError) { return try logKeys(of: directory, ring) } catch {
      var keys = LogKeys.none
      keys.sealsNew = true
      keys.refuseClear = ((try? KeyFile.read(in: directory)) ?? nil)?.state == .sealed
      if case .otherKey = error { keys.areRefused = true }
      return keys
    }
  }
}
