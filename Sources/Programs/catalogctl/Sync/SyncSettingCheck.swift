import CatalogHTTP
import Essentials
import Workspace

extension SyncSettings.Name {
  /// A value of this setting, in the form in which it is stored.
  ///
  /// - Throws: `Failure` for a value that a synchronisation could not use, or that is a secret;
  ///   `TransportError.invalidURL`.
  func checked(_ value: String) throws -> String {
    if value.isEmpty {
      throw Failure(.usage, "\(rawValue) is empty; 'catalogctl config unset \(rawValue)' takes it back")
    }
    if self == .url { try Self.checkURL(value) }
    // The path must not depend on the current directory.
    return isPath ? URL(fileURLWithPath: value).standardizedFileURL.path : value
  }

  private static func checkURL(_ value: String) throws {
    let transport = try HTTPTransport(url: value)
    if transport.hasCredentials {
      throw Failure(
        .usage,
        "sync.url has a user and password in it, and settings hold no secret; write 'Basic …' into a file of mode 0600 and"
          + " set sync.authorizationFile to its name")
    }
  }
}
