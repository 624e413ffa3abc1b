import Bytes
import Platform
package import Sealing

/// The keys of a user: the data key of the user's sealed stores, wrapped for each key that opens it.
///
/// Documentation/Format/Keys.md describes the file. A value is what was read, or what is to be written: nothing is secret
/// in it, and nothing of it is trusted before ``unlock(with:)``.
///
/// Invariants:
/// - there are 1 to ``wrappingLimit`` wrappings, whose ids differ;
/// - ``former`` is there only while stores are sealed anew with another data key.
package struct KeyFile: Sendable {
  /// What is being done with the stores.
  package enum State: UInt8, Sendable, CaseIterable {
    /// Some stores may still be in clear.
    case sealing = 1
    /// All stores are sealed.
    case sealed = 2
    /// Some stores are in clear, and new ones too.
    case unsealing = 3
  }

  /// The former data key, sealed with the current one.
  struct Former: Sendable, Equatable {
    let id: [UInt8]
    let nonce: [UInt8]
    let sealed: [UInt8]
  }

  /// The data keys that a key has opened.
  package struct Keys: Sendable {
    /// The key with which stores are sealed.
    package let current: DataKey
    /// The key with which some stores are still sealed, if a change of the data key was interrupted.
    package let former: DataKey?
    /// The id of the wrapping that was opened.
    package let wrapping: String
  }

  /// The largest number of wrappings.
  package static let wrappingLimit = 16

  /// The path, for messages.
  package let path: String
  /// The id of the data key.
  package private(set) var keyID: [UInt8]
  /// When the data key was made, in microseconds since 1970 UTC.
  package private(set) var created: Int64
  package private(set) var state: State
  private(set) var former: Former?
  /// Authenticates the header with the data key.
  private(set) var code: [UInt8]
  /// The wrappings, oldest first.
  package private(set) var wrappings: [KeyWrapping]
  /// The page of marks, as it was read.
  private(set) var markPage: [UInt8]

  // MARK: Making

  /// Makes a file for a new data key with one wrapping.
  ///
  /// - Parameters:
  ///   - path: The path, for messages.
  ///   - material: The key or passphrase that opens it.
  ///   - cost: What a passphrase costs.
  ///   - now: The time in microseconds since 1970 UTC.
  package static func new(
    path: String, with material: KeyMaterial, cost: PassphraseCost = .standard, now: Int64
  ) throws(KeyError) -> (file: KeyFile, dataKey: DataKey) {
    try sealing { () throws(SealingError) in
      let dataKey = try DataKey.random()
      let wrapping = try KeyWrapping(dataKey, with: material, cost: cost, now: now)
      return (try KeyFile(path, dataKey, .sealing, former: nil, [wrapping], now: now), dataKey)
    }
  }

  private init(
    _ path: String, _ dataKey: DataKey, _ state: State, former: Former?, _ wrappings: [KeyWrapping], now: Int64
  ) throws(SealingError) {
    self.path = path
    keyID = dataKey.id
    created = now
    self.state = state
    self.former = former
    self.wrappings = wrappings
    markPage = [UInt8](repeating: 0, count: Layout.pageSize)
    code = []
    code = try codeOfHeader(dataKey)
  }

  // MARK: Opening

  /// Opens the keys.
  ///
  /// - Throws: `KeyError.otherKey`, `.damaged`, `.system`.
  /// - Complexity: For a passphrase, a large part of a second for each wrapping of this kind.
  package func unlock(with material: KeyMaterial) throws(KeyError) -> Keys {
    for wrapping in wrappings {
      switch try sealing({ () throws(SealingError) in try wrapping.open(with: material, keyID: keyID) }) {
      case .otherKey: continue
      case .damaged: throw .damaged(path: path, what: "the key \(wrapping.id) is not as it was written")
      case .dataKey(let secret): return try keys(secret, wrapping)
      }
    }
    throw .otherKey(path: path)
  }

  private func keys(_ secret: SecretBytes, _ wrapping: KeyWrapping) throws(KeyError) -> Keys {
    let (current, isGenuine) = try sealing { () throws(SealingError) -> (DataKey, Bool) in
      let key = try DataKey(secret)
      let code = try codeOfHeader(key)
      return (key, key.id == keyID && code == self.code)
    }
    guard isGenuine else { throw .damaged(path: path, what: "its header is not as it was written") }
    guard let former else { return Keys(current: current, former: nil, wrapping: wrapping.id) }
    let old = try sealing { () throws(SealingError) in try Self.open(former, with: current) }
    guard let old else { throw .damaged(path: path, what: "the former key is not as it was written") }
    return Keys(current: current, former: old, wrapping: wrapping.id)
  }

  /// The id of the wrapping that a key opens; `nil` if none.
  private func wrapping(of material: KeyMaterial) throws(KeyError) -> String? {
    do { return try unlock(with: material).wrapping } catch .otherKey { return nil }
  }

  // MARK: Changing

  /// Returns the keys with one more wrapping.
  ///
  /// - Parameter material: The key or passphrase that is to open them too.
  /// - Throws: `KeyError.sameKey`, `.tooMany`, `.system`.
  package func adding(
    _ material: KeyMaterial, of dataKey: DataKey, cost: PassphraseCost = .standard, now: Int64
  ) throws(KeyError) -> KeyFile {
    precondition(dataKey.id == keyID, "a wrapping has the data key of its file")
    if let id = try wrapping(of: material) { throw .sameKey(path: path, id: id) }
    guard wrappings.count < Self.wrappingLimit else { throw .tooMany(path: path, limit: Self.wrappingLimit) }
    var next = self
    next.wrappings.append(
      try sealing { () throws(SealingError) in try KeyWrapping(dataKey, with: material, cost: cost, now: now) })
    return next
  }

  /// Returns the keys without a wrapping. This needs no key.
  ///
  /// - Parameter id: The id, in upper or lower case.
  /// - Throws: `KeyError.noWrapping`, `.lastWrapping`.
  package func removing(_ id: String) throws(KeyError) -> KeyFile {
    let id = id.lowercased()
    guard let index = wrappings.firstIndex(where: { $0.id == id }) else { throw .noWrapping(path: path, id: id) }
    guard wrappings.count > 1 else { throw .lastWrapping(path: path, id: id) }
    var next = self
    next.wrappings.remove(at: index)
    return next
  }

  /// Returns the keys with `new` instead of the wrapping that `old` has opened.
  ///
  /// - Throws: `KeyError.sameKey`, `.system`.
  package func replacing(
    _ old: Keys, with new: KeyMaterial, cost: PassphraseCost = .standard, now: Int64
  ) throws(KeyError) -> KeyFile {
    if let id = try wrapping(of: new) { throw .sameKey(path: path, id: id) }
    var next = self
    next.wrappings.removeAll { $0.id == old.wrapping }
    return try next.adding(new, of: old.current, cost: cost, now: now)
  }

  /// Returns the keys in another state.
  package func setting(_ state: State, _ dataKey: DataKey) throws(KeyError) -> KeyFile {
    var next = self
    next.state = state
    try next.authenticate(with: dataKey)
    return next
  }

  /// Returns keys with a new data key, which one key or passphrase opens: the other wrappings wrap the former one.
  ///
  /// The former data key stays, sealed with the new one, until ``withoutFormer(_:)``.
  ///
  /// - Parameters:
  ///   - old: The keys. There is no former one yet: until all stores have the current one, it cannot be replaced.
  ///   - material: The key or passphrase that opens the new ones.
  package func replacingDataKey(
    _ old: Keys, with material: KeyMaterial, cost: PassphraseCost = .standard, now: Int64
  ) throws(KeyError) -> (file: KeyFile, keys: Keys) {
    precondition(old.former == nil && former == nil, "one change of the data key at a time")
    do throws(SealingError) {
      let key = try DataKey.random()
      let wrapping = try KeyWrapping(key, with: material, cost: cost, now: now)
      let former = try Self.seal(old.current, with: key)
      var file = try KeyFile(path, key, .sealed, former: former, [wrapping], now: now)
      for mark in try marks(old.current) { try file.set(mark, key) }
      return (file, Keys(current: key, former: old.current, wrapping: wrapping.id))
    } catch { throw KeyError(error) }
  }

  /// Returns the keys without the former data key, which no store has any more.
  package func withoutFormer(_ dataKey: DataKey) throws(KeyError) -> KeyFile {
    var next = self
    next.former = nil
    try next.authenticate(with: dataKey)
    return next
  }

  private mutating func authenticate(with dataKey: DataKey) throws(KeyError) {
    precondition(dataKey.id == keyID, "the header is authenticated with its data key")
    let copy = self
    code = try sealing { () throws(SealingError) in try copy.codeOfHeader(dataKey) }
  }

  // MARK: The former key

  private static func seal(_ former: DataKey, with key: DataKey) throws(SealingError) -> Former {
    let nonce = try SecretBytes.random(AuthenticatedCipher.nonceByteCount).published()
    var plain = unsafe former.secret.withBytes { unsafe Array($0) }
    defer { SecretBytes.wipe(&plain) }
    let sealed = try formerCipher(former.id, key).sealed(plain, nonce: nonce, data: key.id + former.id)
    return Former(id: former.id, nonce: nonce, sealed: sealed)
  }

  private static func open(_ former: Former, with key: DataKey) throws(SealingError) -> DataKey? {
    let cipher = try formerCipher(former.id, key)
    guard var plain = cipher.opened(former.sealed, nonce: former.nonce, data: key.id + former.id) else { return nil }
    defer { SecretBytes.wipe(&plain) }
    let old = try DataKey(SecretBytes(copying: plain))
    return old.id == former.id ? old : nil
  }

  private static func formerCipher(_ id: [UInt8], _ key: DataKey) throws(SealingError) -> AuthenticatedCipher {
    let derived = try key.secret.derived(
      salt: id, info: Array("shelfmark former key".utf8), count: AuthenticatedCipher.keyByteCount)
    return try AuthenticatedCipher(.chaCha20Poly1305, key: derived)
  }
}

// MARK: Bytes

extension KeyFile {
  enum Layout {
    static let magic = Array("SHELFKEY".utf8)
    static let major: UInt16 = 1
    static let minor: UInt16 = 0
    static let checksum = 12
    static let keyID = 16
    static let number = 41
    static let code = 128
    static let codeSize = 16
    static let wrappings = 256
    static let pageSize = 4096
    static let size = 2 * pageSize
  }

  /// The first page without its checksum and code.
  private var header: [UInt8] {
    var writer = ByteWriter()
    writer.put(Layout.magic)
    writer.put(Layout.major)
    writer.put(Layout.minor)
    writer.fill(to: Layout.keyID)
    writer.put(keyID)
    writer.put(created)
    writer.put(state.rawValue)
    writer.put(UInt8(wrappings.count), at: Layout.number)
    writer.fill(to: 48)
    if let former {
      writer.put(former.id)
      writer.put(former.nonce)
      writer.put(former.sealed)
    }
    writer.fill(to: Layout.code)
    return writer.bytes
  }

  /// The code of the header. The checksum and the number of wrappings change without the key.
  private func codeOfHeader(_ key: DataKey) throws(SealingError) -> [UInt8] {
    let header = header
    let covered = header[..<Layout.checksum] + header[Layout.keyID..<Layout.number] + header[(Layout.number + 1)...]
    return try key.secret.derived(
      salt: [], info: Array("shelfmark keys header".utf8) + covered, count: Layout.codeSize
    ).published()
  }

  /// The bytes of the file.
  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.put(header)
    writer.put(code)
    writer.fill(to: Layout.wrappings)
    for wrapping in wrappings { writer.put(wrapping.bytes) }
    writer.fill(to: Layout.pageSize)
    var bytes = writer.bytes
    bytes.store(Checksum.of(bytes), at: Layout.checksum)
    return bytes + markPage
  }

  /// Decodes a file.
  ///
  /// - Throws: `KeyError.damaged`, `.newer`.
  init(_ bytes: [UInt8], path: String) throws(KeyError) {
    func damaged(_ what: String) -> KeyError { .damaged(path: path, what: what) }
    guard bytes.count == Layout.size else {
      throw damaged("it does not have \(Layout.size) bytes")
    }
    let page = bytes.rawSpan.slice(0, Layout.pageSize)
    var reader = ByteReader(page)
    guard reader.bytes(Layout.magic.count) == Layout.magic else { throw damaged("it does not begin like a keys file") }
    let (major, minor) = (reader.u16() ?? 0, reader.u16() ?? 0)
    let checksum = reader.u32()
    var cleared = page.copied()
    cleared.store(UInt32(0), at: Layout.checksum)
    guard checksum == Checksum.of(cleared) else { throw damaged("its checksum is wrong") }
    guard major == Layout.major, minor == Layout.minor else { throw .newer(path: path, version: "\(major).\(minor)") }
    guard let keyID = reader.bytes(DataKey.idByteCount), let created = reader.u64(),
      let state = reader.u8().flatMap(State.init(rawValue:)), let count = reader.u8(),
      1...Self.wrappingLimit ~= Int(count), reader.bytes(6)?.allSatisfy({ $0 == 0 }) == true,
      let formerID = reader.bytes(DataKey.idByteCount), let nonce = reader.bytes(AuthenticatedCipher.nonceByteCount),
      let sealed = reader.bytes(KeyWrapping.Layout.sealedSize), reader.u32() == 0,
      let code = reader.bytes(Layout.codeSize),
      reader.bytes(Layout.wrappings - Layout.code - Layout.codeSize)?.allSatisfy({ $0 == 0 }) == true
    else { throw damaged("its header has a value that no program writes") }
    var wrappings: [KeyWrapping] = []
    for _ in 0..<count {
      guard let wrapping = KeyWrapping(&reader), !wrappings.contains(where: { $0.id == wrapping.id }) else {
        throw damaged("key \(wrappings.count + 1) has a value that no program writes")
      }
      wrappings.append(wrapping)
    }
    guard reader.rest.isZero(from: 0) else { throw damaged("bytes after the last key are not zero") }
    self.path = path
    self.keyID = keyID
    self.created = Int64(bitPattern: created)
    self.state = state
    let hasFormer = (formerID + nonce + sealed).contains { $0 != 0 }
    former = hasFormer ? Former(id: formerID, nonce: nonce, sealed: sealed) : nil
    self.code = code
    self.wrappings = wrappings
    markPage = Array(bytes[Layout.pageSize...])
  }
}

// MARK: Marks

extension KeyFile {
  /// The marks that are genuine, by place.
  package func marks(_ key: DataKey) throws(SealingError) -> [StoreMark] {
    var marks: [StoreMark] = []
    for place in 0..<StoreMark.placeCount {
      let start = place * StoreMark.Layout.placeSize
      let bytes = Array(markPage[start..<(start + StoreMark.Layout.size)])
      if let mark = try StoreMark(bytes, key), mark.place == place { marks.append(mark) }
    }
    return marks
  }

  /// Sets a mark in the page of this value. A name without a place is not marked.
  mutating func set(_ mark: StoreMark, _ key: DataKey) throws(SealingError) {
    guard let place = mark.place else { return }
    let start = place * StoreMark.Layout.placeSize
    markPage.replaceSubrange(start..<(start + StoreMark.Layout.size), with: try mark.bytes(key))
  }
}
