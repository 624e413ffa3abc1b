import Synchronization

/// The permission to use a set of stores. It is valid until it is revoked, and only while ``SignedIn`` confirms it.
///
/// Every object of a workspace checks it before it begins an operation. So no object that an application kept gives
/// access to the data of a user who is no longer signed in.
final class StoreAccess: Sendable {
  /// The signed-in user; `nil` for stores that do not depend on one.
  private let signedIn: SignedIn?
  // Changes once, from false to true. The data that it protects has locks of its own.
  private let isRevoked = Atomic(false)

  init(_ signedIn: SignedIn? = nil) { self.signedIn = signedIn }

  /// Whether the stores may be used.
  ///
  /// - Throws: `WorkspaceError` if the signed-in user cannot be determined.
  /// - Complexity: The same as ``SignedIn/look()`` for the stores of a user.
  func isGranted() throws -> Bool {
    if isRevoked.load(ordering: .acquiring) { return false }
    guard let signedIn else { return true }
    do { return try signedIn.refresh()?.access === self } catch WorkspaceError.closed { return false }
  }

  func revoke() { isRevoked.store(true, ordering: .releasing) }
}
