import LogStore

extension StoreLocation {
  /// Returns the same location with the keys of a user. Until a change of the data key is finished, a store may still be
  /// sealed with the former one.
  func opening(with keys: KeyFile.Keys, sealsNew: Bool) -> StoreLocation {
    var location = opening(with: keys.current, sealsNew: sealsNew)
    if let former = keys.former { location.keys.former = [former] }
    return location
  }
}
