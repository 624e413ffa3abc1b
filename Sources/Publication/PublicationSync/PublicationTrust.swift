import Catalog
package import Cryptography
import Essentials
package import PublicationFormat
import TextFormat

/// The keys that a device trusts: the root key that it was given, or that it met first, and the list that this key signs.
package struct PublicationTrust: Sendable {
  /// The key that signs the list of keys; `nil` if the first one is taken.
  package var root: SignifyPublicKey?
  /// The list; `nil` before the first one.
  package var list: KeyList?
  /// The lowest version of the list that is taken.
  package var minimumVersion: UInt64

  package init(root: SignifyPublicKey?, minimumVersion: UInt64) {
    self.root = root
    self.minimumVersion = minimumVersion
  }

  /// The list of keys that counts, of a list and of the one that may follow its signature.
  ///
  /// The signature is written first. If its writer dies then, it is of the next list, which follows it.
  ///
  /// - Parameter root: The key that must have signed it.
  /// - Returns: The list, and its bytes; `nil` if the signature is of neither.
  /// - Throws: `PublicationError`, `SignifyError`, `CryptographyError`.
  package static func signedList(
    _ json: [UInt8], signature: [UInt8], root: SignifyPublicKey
  ) throws -> (list: KeyList, json: [UInt8])? {
    let (signature, signed) = try SignifySignature.embedded(in: signature)
    let list = try KeyList(json: json)
    if try signature.isValid(of: json, key: root) { return (list, json) }
    guard !signed.isEmpty, try signature.isValid(of: signed, key: root) else { return nil }
    let next = try KeyList(json: signed)
    return next.version > list.version ? (next, signed) : nil
  }

  /// Takes a list of keys, if it is signed by the root key and not older than the one that was trusted last.
  ///
  /// - Throws: ``PublicationFailure/refused(_:)``.
  package mutating func take(_ json: [UInt8], signature: [UInt8], from place: String) throws {
    let number: SignifyKeyNumber
    let signer: SignifyPublicKey?
    let signed: KeyList?
    do {
      number = try SignifySignature.embedded(in: signature).signature.number
      signer = try root ?? Self.publicKey(KeyList(json: json).root)
      signed = try signer.flatMap { try Self.signedList(json, signature: signature, root: $0)?.list }
    } catch {
      throw PublicationFailure.refused("\(place)/\(KeyList.name) is no signed list of keys: \(error)")
    }
    guard let root = signer else {
      throw PublicationFailure.refused("\(place)/\(KeyList.name) has a root key that is none")
    }
    guard let list = signed else {
      throw PublicationFailure.refused(
        number == root.number
          ? "\(place)/\(KeyList.name) is not what the root key \(root.number) has signed: it was changed after it was"
            + " signed, or a cache on the way mixes two lists"
          : "\(place)/\(KeyList.name) is not signed by the root key \(root.number), but by \(number):"
            + " somebody else publishes there, or the root key was replaced; get the new one from the publisher, and give"
            + " it with --root-key")
    }
    guard list.version >= minimumVersion else {
      throw PublicationFailure.refused(
        "\(place)/\(KeyList.name) has version \(list.version), and \(minimumVersion) was trusted already: it is an old"
          + " copy, which may have a key that was withdrawn")
    }
    self.root = root
    self.list = list
    minimumVersion = list.version
  }

  /// The key with a number; `nil` if the list lacks it.
  func key(_ number: SignifyKeyNumber) -> SignifyPublicKey? {
    for entry in list?.keys ?? [] {
      if let key = Self.publicKey(entry.key), key.number == number { return key }
    }
    return nil
  }

  /// The key of a line of base64, as signify writes it.
  package static func publicKey(_ line: String) -> SignifyPublicKey? {
    try? SignifyPublicKey(Array("untrusted comment: public key\n\(line)\n".utf8))
  }

  /// The line of base64 of a key.
  package static func line(_ key: SignifyPublicKey) -> String {
    key.text.split(separator: "\n").last.map(String.init) ?? ""
  }
}
