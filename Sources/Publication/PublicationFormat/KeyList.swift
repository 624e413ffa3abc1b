package import Essentials
import DocumentFormat
import JSONFormat

/// The keys that may sign the head, as the file `keys.json` names them. A root key signs the list.
package struct KeyList: Sendable, Equatable {
  /// The names of the list and of its signature.
  package static let name = "keys.json"
  package static let signatureName = "keys.json.sig"
  /// The most bytes of a list, and the most keys.
  package static let byteLimit = 8192
  static let keyLimit = 16

  /// A publishing key.
  package struct Key: Sendable, Equatable {
    /// The public key in base64, as signify writes it in the second line of its file.
    package var key: String
    /// Since when it may sign.
    package var since: Date

    package init(key: String, since: Date) {
      self.key = key
      self.since = since
    }
  }

  /// The version of the list, which only grows. A device takes no older list than it has.
  package var version: UInt64
  /// The root key in base64, for devices that were not given one: they keep to the first that they meet.
  package var root: String
  package var keys: [Key]

  package init(version: UInt64, root: String, keys: [Key]) {
    self.version = version
    self.root = root
    self.keys = keys
  }

  /// The list as JSON, with a line feed at its end.
  package var json: [UInt8] {
    let keys = keys.map { JSONText.object([("key", .text($0.key)), ("since", .text(DateText.text($0.since)))]) }
    return JSONText.object([
      ("format", .text("shelfmark-keys")), ("version", .uint(version)), ("root", .text(root)), ("keys", .array(keys)),
    ]).bytes + [0x0A]
  }

  /// Reads a list.
  ///
  /// - Throws: ``PublicationError``.
  package init(json: [UInt8]) throws(PublicationError) {
    guard json.count <= Self.byteLimit else { throw .tooLarge("the list of keys has \(json.count) bytes") }
    let fields = try JSONFields(json, of: "the list of keys")
    guard try fields.text("format") == "shelfmark-keys" else { throw .damaged("the list of keys has another format") }
    version = try fields.sequence("version")
    root = try fields.text("root")
    keys = []
    for key in try fields.objects("keys", upTo: Self.keyLimit) {
      keys.append(Key(key: try key.text("key"), since: try key.date("since")))
    }
    if keys.isEmpty { throw .damaged("the list of keys is empty") }
  }
}
