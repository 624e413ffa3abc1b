import Essentials
import Platform
import ServiceLifecycle
import Synchronization
import Workspace

/// A service that reads the key of sealed users: at the start, when it is told to, and while it does not open the stores that
/// are needed. Requests never wait for it.
///
/// A user whose stores no key opens is a problem; see ``ProblemCode/keyUnavailable`` and ``ProblemCode/keyWrong``.
final class KeyWatch: Service {
  private struct State {
    /// Why the key could not be read, or did not open the stores of the signed-in user, when it was read last.
    var failure: KeyError?
    /// When it was read last, on the clock that only goes forward.
    var read: Int64?
  }

  private let context: DaemonContext
  private let directory: WorkspaceDirectory
  /// Called when the stores of the signed-in user can be opened again.
  private let onOpened: @Sendable () -> Void
  private let state = Mutex(State())
  private let wakes = WakeSignal()
  private let thread = BlockingThread("daemon.keys")

  init(_ context: DaemonContext, onOpened: @escaping @Sendable () -> Void) {
    self.context = context
    directory = context.directory
    self.onOpened = onOpened
    // The key was read when the stores were opened.
    state.withLock { $0 = State(failure: context.keyFailure, read: context.time.uptime()) }
    check()
  }

  /// The pause before a key that did not help is read again: commands may ask a server.
  private var pause: Duration {
    switch directory.key {
    case .command, .passphraseFile: .seconds(30)
    case .keyFile, .credential, nil: .seconds(5)
    }
  }

  func run() async throws {
    await wakes.untilShutdown {
      while !wakes.isFinished, !Task.isCancelled {
        // What was opened with a key whose lease is over is closed, even if nobody asks for it.
        context.userDocuments.endLease()
        if isDue { await renew() }
        await wakes.wait(GaugeService.interval, context.time.sleep)
      }
    }
  }

  /// Handles a change of the signed-in user, who may need another key.
  func userChanged() { wakes.wake() }

  /// Reads the key again. If it cannot be read, or does not open the stores of the signed-in user, a former one that does
  /// goes on.
  func renew() async { try? await thread.run { [self] in renewNow() } }

  private func renewNow() {
    guard directory.key != nil else { return check() }
    let user = current
    let wasClosed = user.map { directory.keyFault(of: $0) != nil } ?? false
    var failure: KeyError?
    do throws(KeyError) { try directory.renewKey(for: user) } catch { failure = error }
    state.withLock { $0 = State(failure: failure, read: context.time.uptime()) }
    check()
    if failure == nil, wasClosed { onOpened() }
  }

  private var current: String? { (try? context.access.stores().user).flatMap(\.self) }

  private var isDue: Bool {
    guard directory.key != nil else { return false }
    let (failure, read) = state.withLock { ($0.failure, $0.read) }
    let isOpen = current.map { directory.keyFault(of: $0) == nil } ?? true
    if failure == nil, isOpen, context.problems.abouts(of: [.keyUnavailable, .keyWrong]).isEmpty {
      // From half of a lease on, it is asked for the next one.
      guard let lease = directory.keyRing.lease, lease.rest < lease.time / 2 else { return false }
      return read.map { context.time.uptime() - $0 >= (lease.time / 24).nanoseconds / 1000 } ?? true
    }
    return read.map { context.time.uptime() - $0 >= pause.nanoseconds / 1000 } ?? true
  }

  // MARK: Problems

  /// Checks whose stores cannot be opened: the signed-in user's, and those for which that was so at the last check.
  ///
  /// - Complexity: A few system calls for each of them.
  func check() {
    let current = current
    var users = Set(context.problems.abouts(of: [.keyUnavailable, .keyWrong]))
    if let current { users.insert(current) }
    var unavailable: [String: String] = [:]
    var wrong: [String: String] = [:]
    for user in users {
      var message: String
      let error: KeyError
      if let fault = directory.keyFault(of: user) {
        (error, message) = (fault, "\(fault)")
      } else if user == current, let failure = state.withLock({ $0.failure }) {
        (error, message) = (failure, "\(failure)")
        if isSealed(user) {
          let end = directory.keyRing.lease == nil ? "until the daemon ends" : "for the rest of its lease"
          message += "; the key that was read before goes on \(end)"
        }
      } else {
        continue
      }
      if case .otherKey = error { wrong[user] = message } else { unavailable[user] = message }
    }
    context.problems.set(.keyUnavailable, unavailable)
    context.problems.set(.keyWrong, wrong)
    context.problems.set(.storeWentBack, current.map(storesGoneBack) ?? [:])
  }

  /// The sealed stores of a user that are older than what was seen of them, each with a sentence.
  private func storesGoneBack(_ user: String) -> [String: String] {
    // Without a key, nothing can be compared.
    let stores = (try? directory.storesGoneBack(of: user)) ?? []
    let messages = stores.map { store in
      (
        store.store,
        "\(store.store) of \(user) went back to commit \(store.found): commit \(store.marked) was seen at"
          + " \(Date(microseconds: store.time).precise), so an older file was put in its place"
      )
    }
    return Dictionary(messages) { first, _ in first }
  }

  private func isSealed(_ user: String) -> Bool { ((try? directory.keys(of: user)) ?? nil) != nil }
}

extension DaemonContext {
  /// Reports a problem. One whose cause is a missing or a wrong key is reported as such, whatever failed because of it.
  ///
  /// - Parameters:
  ///   - about: The webhook, input or user that has the problem.
  ///   - user: Whose stores were used.
  func report(_ code: ProblemCode, _ error: any Error, about: String? = nil, of user: String?) {
    guard error.isAboutKeys, let user else { return problems.report(code, "\(error)", about: about) }
    let fault = directory.keyFault(of: user)
    if case .otherKey? = fault { return problems.report(.keyWrong, "\(error)", about: user) }
    problems.report(.keyUnavailable, fault.map { "\($0)" } ?? "\(error)", about: user)
  }

  /// The signed-in user, if that is known.
  var user: String? { (try? access.stores().user).flatMap(\.self) }
}
