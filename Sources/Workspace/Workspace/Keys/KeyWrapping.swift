import Bytes
import Platform
import Sealing
import TextFormat

/// A data key, encrypted with a key that is kept elsewhere.
///
///      0  8  id               8  1  kind              9  7  reserved
///     16  8  creation time   24 16  salt             40  4  passes     44 4  memory
///     48 16  check value     64 12  nonce            76 48  data key  124 4  reserved
///
/// Documentation/Format/Keys.md describes the derivations.
package struct KeyWrapping: Sendable, Equatable {
  /// 8 random bytes, not all zero, which tell the wrapping from others.
  let identifier: [UInt8]
  package let kind: KeyMaterial.Kind
  /// When the wrapping was made, in microseconds since 1970 UTC.
  package let created: Int64
  /// Makes the derived keys differ where the same key or passphrase is used twice.
  let salt: [UInt8]
  /// What a passphrase costs; `nil` for a raw key.
  let cost: PassphraseCost?
  /// Tells another key from damage, and enters the derivation, so that a wrapping opens with one key only.
  let check: [UInt8]
  let nonce: [UInt8]
  /// The sealed data key with its tag.
  let sealed: [UInt8]

  /// The id as 16 hexadecimal digits.
  package var id: String { Hexadecimal.text(identifier, .lowercase) }

  // MARK: Wrapping

  /// Wraps a data key.
  init(
    _ dataKey: DataKey, with material: KeyMaterial, cost: PassphraseCost, now: Int64
  ) throws(SealingError) {
    var identifier = [UInt8](repeating: 0, count: Layout.identifierSize)
    while identifier.allSatisfy({ $0 == 0 }) { identifier = try Self.random(Layout.identifierSize) }
    let salt = try Self.random(Layout.saltSize)
    let usedCost = material.kind == .passphrase ? cost : nil
    let key = try Self.key(of: material, salt: salt, cost: usedCost)
    let check = try Self.check(of: key, salt: salt)
    let nonce = try Self.random(AuthenticatedCipher.nonceByteCount)
    let head = Self.head(identifier, material.kind, now, salt, usedCost, check)
    let cipher = try Self.cipher(key: key, salt: salt, check: check)
    var plain = unsafe dataKey.secret.withBytes { unsafe Array($0) }
    let sealed = cipher.sealed(plain, nonce: nonce, data: head + dataKey.id)
    SecretBytes.wipe(&plain)
    (self.identifier, kind, created, self.salt) = (identifier, material.kind, now, salt)
    (self.cost, self.check, self.nonce, self.sealed) = (usedCost, check, nonce, sealed)
  }

  /// The result of trying a key.
  enum Opened {
    case dataKey(SecretBytes)
    /// The wrapping was made with another key.
    case otherKey
    /// The wrapping was made with this key, and is not as it was made.
    case damaged
  }

  /// Tries a key.
  ///
  /// - Complexity: For a passphrase, what ``cost`` says, which is a large part of a second.
  func open(with material: KeyMaterial, keyID: [UInt8]) throws(SealingError) -> Opened {
    guard material.kind == kind else { return .otherKey }
    let key = try Self.key(of: material, salt: salt, cost: cost)
    guard try Self.check(of: key, salt: salt) == check else { return .otherKey }
    let cipher = try Self.cipher(key: key, salt: salt, check: check)
    guard var plain = cipher.opened(sealed, nonce: nonce, data: head + keyID) else { return .damaged }
    defer { SecretBytes.wipe(&plain) }
    return .dataKey(try SecretBytes(copying: plain))
  }

  /// The key that the other ones are derived from.
  private static func key(
    of material: KeyMaterial, salt: [UInt8], cost: PassphraseCost?
  ) throws(SealingError) -> SecretBytes {
    switch material {
    case .raw(let key): return key
    case .passphrase(let text):
      let cost = cost ?? .standard
      return try text.stretched(
        salt: salt, passes: Int(cost.passes), memoryByteCount: Int(cost.memory) << 10,
        count: AuthenticatedCipher.keyByteCount)
    }
  }

  private static func check(of key: SecretBytes, salt: [UInt8]) throws(SealingError) -> [UInt8] {
    try key.derived(salt: salt, info: Array("shelfmark wrapping check".utf8), count: Layout.checkSize).published()
  }

  private static func cipher(
    key: SecretBytes, salt: [UInt8], check: [UInt8]
  ) throws(SealingError) -> AuthenticatedCipher {
    let sealingKey = try key.derived(
      salt: salt, info: Array("shelfmark wrapping key".utf8) + check, count: AuthenticatedCipher.keyByteCount)
    return try AuthenticatedCipher(.chaCha20Poly1305, key: sealingKey)
  }

  private static func random(_ count: Int) throws(SealingError) -> [UInt8] {
    try SecretBytes.random(count).published()
  }

  // MARK: Bytes

  enum Layout {
    static let identifierSize = 8
    static let saltSize = 16
    static let checkSize = 16
    static let sealedSize = AuthenticatedCipher.keyByteCount + AuthenticatedCipher.tagByteCount
    /// The bytes that are authenticated with the data key.
    static let headSize = 64
    static let size = 128
  }

  private var head: [UInt8] { Self.head(identifier, kind, created, salt, cost, check) }

  private static func head(
    _ identifier: [UInt8], _ kind: KeyMaterial.Kind, _ created: Int64, _ salt: [UInt8], _ cost: PassphraseCost?,
    _ check: [UInt8]
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(identifier)
    writer.put(kind.rawValue)
    writer.fill(to: 16)
    writer.put(created, at: 16)
    writer.put(salt)
    writer.put(cost?.passes ?? 0, at: 40)
    writer.put(cost?.memory ?? 0, at: 44)
    writer.put(check)
    return writer.bytes(ofLayout: Layout.headSize)
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.put(head)
    writer.put(nonce)
    writer.put(sealed)
    writer.fill(to: Layout.size)
    return writer.bytes
  }

  /// Decodes a wrapping; `nil` for bytes that no program writes.
  init?(_ reader: inout ByteReader) {
    guard let identifier = reader.bytes(Layout.identifierSize), identifier.contains(where: { $0 != 0 }),
      let kind = reader.u8().flatMap(KeyMaterial.Kind.init(rawValue:)), let reserved = reader.bytes(7),
      reserved.allSatisfy({ $0 == 0 }), let created = reader.u64(), let salt = reader.bytes(Layout.saltSize),
      let passes = reader.u32(), let memory = reader.u32(), let check = reader.bytes(Layout.checkSize),
      let nonce = reader.bytes(AuthenticatedCipher.nonceByteCount), let sealed = reader.bytes(Layout.sealedSize),
      reader.u32() == 0
    else { return nil }
    let cost = PassphraseCost(passes: passes, memory: memory)
    switch kind {
    case .raw: guard passes == 0, memory == 0 else { return nil }
    case .passphrase: guard cost.isAllowed else { return nil }
    }
    self.identifier = identifier
    self.kind = kind
    self.created = Int64(bitPattern: created)
    self.salt = salt
    self.cost = kind == .passphrase ? cost : nil
    self.check = check
    self.nonce = nonce
    self.sealed = sealed
  }
}
