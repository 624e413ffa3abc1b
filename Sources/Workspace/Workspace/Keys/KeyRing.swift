import Platform
import Synchronization

/// The keys that a process has opened. The key of the source is read once, and the keys of a user's file are opened once.
///
/// A program that ends soon reads the key when it is first needed. A daemon reads it ahead, with ``renew(for:)``, so that no
/// request waits for a command: ``keys(of:)`` then uses what was read, or says why nothing was.
package final class KeyRing: Sendable {
  private struct State {
    /// What the source gave; `nil` before it was asked.
    var material: KeyMaterial?
    /// Why the source gave nothing when it was asked last.
    var failure: KeyError?
    /// The opened keys, by the first page of their file.
    var opened: [[UInt8]: KeyFile.Keys] = [:]
    /// Why the key does not open a file, by the first page of it. Only used by a ring that is read ahead.
    var refused: [[UInt8]: KeyError] = [:]
  }

  /// Where the key comes from; `nil` if none was given.
  package let source: KeySource?
  /// Whether the source is read by ``renew(for:)`` only.
  private let isReadAhead: Bool
  /// Guards the state. Held while a key is opened and, unless it is read ahead, while it is read, so that a command runs
  /// once.
  private let state = Mutex(State())
  /// Held while the source is read ahead.
  private let renewal = Mutex(())

  /// - Parameters:
  ///   - source: Where the key comes from; `nil` if none was given.
  ///   - isReadAhead: Whether the source is read by ``renew(for:)`` only.
  package init(_ source: KeySource?, isReadAhead: Bool = false) {
    self.source = source
    self.isReadAhead = isReadAhead
  }

  /// Opens the keys of a file.
  ///
  /// - Throws: `KeyError.noKey` without a source; the errors of the source and of ``KeyFile/unlock(with:)``.
  func keys(of file: KeyFile) throws(KeyError) -> KeyFile.Keys {
    guard let source else { throw .noKey(path: file.path) }
    let page = Self.page(of: file)
    return try state.withLock { state throws(KeyError) in
      if let keys = state.opened[page] { return keys }
      if let error = state.refused[page] { throw error }
      let material = try material(source, file.path, &state)
      do throws(KeyError) {
        let keys = try file.unlock(with: material)
        state.opened[page] = keys
        return keys
      } catch {
        // What opens nothing is read again: somebody may put the right key there.
        if isReadAhead { state.refused[page] = error } else { state.material = nil }
        throw error
      }
    }
  }

  /// The key or passphrase itself.
  ///
  /// - Throws: The errors of the source; `KeyError.noKey` without one.
  func material(for path: String) throws(KeyError) -> KeyMaterial {
    guard let source else { throw .noKey(path: path) }
    return try state.withLock { state throws(KeyError) in try material(source, path, &state) }
  }

  private func material(_ source: KeySource, _ path: String, _ state: inout State) throws(KeyError) -> KeyMaterial {
    if let material = state.material { return material }
    if isReadAhead { throw state.failure ?? .noKey(path: path) }
    let material = try source.read()
    state.material = material
    return material
  }

  /// A mark changes the second page only.
  private static func page(of file: KeyFile) -> [UInt8] { Array(file.bytes[..<KeyFile.Layout.pageSize]) }

  // MARK: Reading ahead

  /// Reads the source again, and uses what it gives from then on. Blocks while a command runs.
  ///
  /// If the source gives nothing, or a key that does not open `file`, then a key that was read before, and opens it, goes
  /// on.
  ///
  /// - Parameter file: The keys of the user that the key is needed for; `nil` if that user is in clear.
  /// - Throws: The errors of the source and of ``KeyFile/unlock(with:)``.
  package func renew(for file: KeyFile?) throws(KeyError) {
    guard let source else { return }
    try renewal.withLock { _ throws(KeyError) in
      let material: KeyMaterial
      do throws(KeyError) { material = try source.read() } catch {
        state.withLock { state in
          state.failure = error
          // What the former key did not open may be opened by the next one.
          if state.material == nil { state.refused = [:] }
        }
        throw error
      }
      let page = file.map(Self.page)
      var opened: [[UInt8]: KeyFile.Keys] = [:]
      if let file, let page {
        do throws(KeyError) { opened[page] = try file.unlock(with: material) } catch {
          state.withLock { state in
            if state.opened[page] != nil { return }
            state = State(material: material, refused: [page: error])
          }
          throw error
        }
      }
      state.withLock { $0 = State(material: material, opened: opened) }
    }
  }

  /// Whether a file can be opened with what was read.
  package func opens(_ file: KeyFile) -> Bool { (try? keys(of: file)) != nil }
}
