import Synchronization

/// Whether the stores of somebody may be used. It is granted until it is revoked, and only while ``SignedIn`` says so.
///
/// Everything that came from a workspace asks it before it begins something, so nothing that an application kept leads to the
/// data of a user who is no longer signed in.
final class StoreAccess: Sendable {
  /// `nil` for stores that do not depend on who is signed in.
  private let signedIn: SignedIn?
  // Goes from false to true once; what it guards is under locks of its own.
  private let isRevoked = Atomic(false)

  init(_ signedIn: SignedIn? = nil) { self.signedIn = signedIn }

  /// - Throws: `WorkspaceError` where it cannot be told who is signed in.
  /// - Complexity: as ``SignedIn/look()`` for the stores of a user.
  func isGranted() throws -> Bool {
    if isRevoked.load(ordering: .acquiring) { return false }
    guard let signedIn else { return true }
    do { return try signedIn.look()?.access === self } catch WorkspaceError.closed { return false }
  }

  func revoke() { isRevoked.store(true, ordering: .releasing) }
}
