package import Cryptography
package import Essentials
package import ObjectStores
package import PublicationFormat
import PublicationSync

/// The list of keys of a publication.
package struct PublicationKeys: Sendable {
  private let target: any ObjectStore

  package init(_ target: any ObjectStore) { self.target = target }

  /// Reads the list.
  ///
  /// - Throws: ``PublisherError/invalid(_:)`` if there is none.
  package func list() async throws -> KeyList {
    guard let object = try await target.get(KeyList.name, limit: KeyList.byteLimit) else {
      throw PublisherError.invalid("\(target) has no \(KeyList.name): nothing was published there yet")
    }
    return try KeyList(json: object.bytes)
  }

  /// Writes the next version of the list.
  ///
  /// The signature, which has the list in it, is written first: a device that reads between the two writes asks again.
  ///
  /// - Parameters:
  ///   - root: The key that signed the list until now.
  ///   - new: The key that may sign from now on; `nil` for none.
  ///   - retiring: The numbers of keys that may no longer sign.
  /// - Throws: ``PublisherError``; `ObjectStoreError`.
  package func rotate(
    root: SignifySecretKey, adding new: SignifyPublicKey?, retiring: [String], now: Date
  ) async throws -> KeyList {
    guard let object = try await target.get(KeyList.name, limit: KeyList.byteLimit) else {
      throw PublisherError.invalid("\(target) has no \(KeyList.name): nothing was published there yet")
    }
    let signature = try await target.get(KeyList.signatureName, limit: 2 * KeyList.byteLimit)
    // A rotation that was interrupted counts: devices may have seen it.
    let signed = signature.flatMap {
      try? PublicationTrust.signedList(object.bytes, signature: $0.bytes, root: root.publicKey)
    }
    var list = try signed?.list ?? KeyList(json: object.bytes)
    guard list.root == PublicationTrust.line(root.publicKey) else {
      throw PublisherError.key(
        "the list of keys of \(target) is signed by another root key than \(root.number): devices would refuse the new one"
      )
    }
    // A rotation that is repeated after an interruption may have taken a key off already.
    let known = try KeyList(json: object.bytes).keys + list.keys
    for number in retiring {
      guard let key = known.first(where: { PublicationTrust.publicKey($0.key).map { "\($0.number)" } == number })
      else { throw PublisherError.invalid("the list of keys has no key \(number); 'publish keys list' names them") }
      list.keys.removeAll { $0.key == key.key }
    }
    if let new {
      let line = PublicationTrust.line(new)
      if !list.keys.contains(where: { $0.key == line }) {
        let since = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        list.keys.append(KeyList.Key(key: line, since: since))
      }
    }
    guard !list.keys.isEmpty else {
      throw PublisherError.invalid("no key would be left that may sign: give the file of another one")
    }
    list.version += 1
    let files = [
      (KeyList.signatureName, try root.sign(list.json).embedding(list.json), signature?.version),
      (KeyList.name, list.json, object.version),
    ]
    for (name, bytes, version) in files {
      let type = ObjectType(mediaType: "application/json", cacheControl: "no-cache")
      guard case .written = try await target.put(name, bytes, version.map(PutCondition.ifVersion) ?? .ifAbsent, type)
      else {
        throw PublisherError.otherPublisher("another process changed \(target)/\(name) meanwhile: try again")
      }
    }
    return list
  }
}
