package import Cryptography

/// A publication that a catalogue follows, in place of a server.
package struct PublicationOptions: Sendable {
  /// The http or https URL of the folder that has the head.
  package var url: String
  /// The places that are asked first, by their URLs.
  package var mirrors: [String] = []
  /// The key that signs the list of keys; `nil` to take the first one that is met, and to keep to it.
  package var rootKey: SignifyPublicKey?
  /// How often to ask for news; `nil` for as often as the head says.
  package var interval: Duration?
  /// Whether the files are kept, and served to neighbours.
  package var isMirror = false
  /// The http or https URL that reports of this device go to; `nil` for none.
  package var reportsURL: String?
  /// The `Authorization` of these reports; `nil` for none.
  package var reportsAuthorization: String?

  package init(url: String) { self.url = url }
}
