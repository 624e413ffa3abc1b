import Platform
import Synchronization

/// The keys that a process has opened. The key of the source is read once, and the keys of a user's file are opened once.
///
/// A program that ends soon reads the key when it is first needed. A daemon reads it ahead, with ``renew(for:)``, so that no
/// request waits for a command: ``keys(of:)`` then uses what was read, or says why nothing was.
///
/// With a lease, everything is forgotten when its time is over. Only memory has the key until then: a process that starts
/// again asks again, and a clock that is set back lengthens nothing.
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
    /// The time of the lease, and when it ends.
    var lease: (time: Duration, end: Int64)?
  }

  /// Where the key comes from; `nil` if none was given.
  package let source: KeySource?
  /// Whether the source is read by ``renew(for:)`` only.
  private let isReadAhead: Bool
  /// Nanoseconds since the system started, the time in which it slept included.
  private let clock: @Sendable () -> Int64
  /// Guards the state. Held while a key is opened and, unless it is read ahead, while it is read, so that a command runs
  /// once.
  private let state = Mutex(State())
  /// Held while the source is read ahead.
  private let renewal = Mutex(())
  /// When the lease ends; the maximum without one. A copy of what the lock guards, for a look without it.
  private let leaseEnd = Atomic(Int64.max)
  /// The number of leases that have ended.
  private let endedLeases = Atomic(0)

  /// - Parameters:
  ///   - source: Where the key comes from; `nil` if none was given.
  ///   - isReadAhead: Whether the source is read by ``renew(for:)`` only.
  ///   - clock: Nanoseconds since the system started, the time in which it slept included.
  package init(
    _ source: KeySource?, isReadAhead: Bool = false, clock: @escaping @Sendable () -> Int64 = KeyRing.systemClock
  ) {
    self.source = source
    self.isReadAhead = isReadAhead
    self.clock = clock
  }

  /// The clock of the system, which nobody can set.
  package static let systemClock: @Sendable () -> Int64 = {
    var time = timespec()
    #if canImport(Darwin)
    let clock = CLOCK_MONOTONIC
    #else
    let clock = CLOCK_BOOTTIME
    #endif
    // The call fills in the local structure.
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Opens the keys of a file.
  ///
  /// - Throws: `KeyError.noKey` without a source; the errors of the source and of ``KeyFile/unlock(with:)``.
  func keys(of file: KeyFile) throws(KeyError) -> KeyFile.Keys {
    guard let source else { throw .noKey(path: file.path) }
    let page = Self.page(of: file)
    endLease()
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
    endLease()
    return try state.withLock { state throws(KeyError) in try material(source, path, &state) }
  }

  private func material(_ source: KeySource, _ path: String, _ state: inout State) throws(KeyError) -> KeyMaterial {
    if let material = state.material { return material }
    if isReadAhead { throw state.failure ?? .noKey(path: path) }
    let answer = try source.answer()
    state.material = answer.material
    setLease(answer.lease, &state)
    return answer.material
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
      let answer: KeyAnswer
      do throws(KeyError) { answer = try source.answer() } catch {
        endLease()
        state.withLock { state in
          state.failure = error
          // What the former key did not open may be opened by the next one.
          if state.material == nil { state.refused = [:] }
        }
        throw error
      }
      endLease()
      var opened: [[UInt8]: KeyFile.Keys] = [:]
      var refused: [[UInt8]: KeyError] = [:]
      if let file {
        let page = Self.page(of: file)
        do throws(KeyError) { opened[page] = try file.unlock(with: answer.material) } catch { refused[page] = error }
        if state.withLock({ !refused.isEmpty && $0.opened[page] != nil }), let error = refused[page] { throw error }
      }
      state.withLock { state in
        state = State(material: answer.material, opened: opened, refused: refused)
        setLease(answer.lease, &state)
      }
      if let error = refused.values.first { throw error }
    }
  }

  // MARK: Leases

  private func setLease(_ lease: Duration?, _ state: inout State) {
    state.lease = lease.map { ($0, clock() + $0.components.seconds * 1_000_000_000) }
    leaseEnd.store(state.lease?.end ?? .max, ordering: .releasing)
  }

  /// Forgets everything if the time of the lease is over.
  ///
  /// - Returns: The number of leases that have ended. What was opened with keys from before is to be closed.
  /// - Complexity: A load; with a lease, also a look at the clock.
  @discardableResult
  package func endLease() -> Int {
    let end = leaseEnd.load(ordering: .acquiring)
    if end != .max, clock() >= end {
      state.withLock { state in
        // Another thread may have asked again.
        guard let lease = state.lease, clock() >= lease.end else { return }
        state = State(failure: .leaseOver)
        leaseEnd.store(.max, ordering: .releasing)
        endedLeases.add(1, ordering: .releasing)
      }
    }
    return endedLeases.load(ordering: .acquiring)
  }

  /// The time of the lease, and what is left of it; `nil` without one.
  package var lease: (time: Duration, rest: Duration)? {
    state.withLock { state in state.lease.map { ($0.time, .nanoseconds($0.end - clock())) } }
  }
}
