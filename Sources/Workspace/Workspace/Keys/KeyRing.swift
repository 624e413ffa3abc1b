import Synchronization

/// The keys that a process has opened. The key of the source is read once, when it is first needed, and the keys of a
/// user's file are opened once.
final class KeyRing: Sendable {
  private struct State {
    /// What the source gave; `nil` before it was asked.
    var material: KeyMaterial?
    /// The opened keys, by the first page of their file.
    var opened: [[UInt8]: KeyFile.Keys] = [:]
  }

  /// Where the key comes from; `nil` if none was given.
  let source: KeySource?
  /// Guards the state. Held while a key is read and opened, so that a command runs once.
  private let state = Mutex(State())

  init(_ source: KeySource?) { self.source = source }

  /// Opens the keys of a file.
  ///
  /// - Throws: `KeyError.noKey` without a source; the errors of the source and of ``KeyFile/unlock(with:)``.
  func keys(of file: KeyFile) throws(KeyError) -> KeyFile.Keys {
    guard let source else { throw .noKey(path: file.path) }
    // A mark changes the second page only.
    let page = Array(file.bytes[..<KeyFile.Layout.pageSize])
    return try state.withLock { state throws(KeyError) in
      if let keys = state.opened[page] { return keys }
      let keys = try file.unlock(with: Self.material(source, &state))
      state.opened[page] = keys
      return keys
    }
  }

  /// The key or passphrase itself.
  ///
  /// - Throws: The errors of the source; `KeyError.noKey` without one.
  func material(for path: String) throws(KeyError) -> KeyMaterial {
    guard let source else { throw .noKey(path: path) }
    return try state.withLock { state throws(KeyError) in try Self.material(source, &state) }
  }

  private static func material(_ source: KeySource, _ state: inout State) throws(KeyError) -> KeyMaterial {
    if let material = state.material { return material }
    let material = try source.read()
    state.material = material
    return material
  }
}
