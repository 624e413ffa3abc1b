import Bytes
import CSealing
import RecordFormat
import Sealing

/// The keys of one sealed log, derived from a data key, and the texts of its rows that were opened.
///
/// Objects of the base have their offset as nonce, under a key that seals nothing else: a base is written once, under a
/// store id that is random. Everything else has its nonce stored with it, under a second key: what follows the base may be cut off
/// and written again.
@safe
final class LogSealing: Sendable {
  private let ciphers: LogCiphers
  /// The key of the hash of keys.
  let hashKey: SipHash.Key
  /// The opened texts of rows, as long as there is room.
  // The texts have a lock of their own, and belong to this object.
  private nonisolated(unsafe) let texts: OpaquePointer

  /// - Parameters:
  ///   - storeID: The random id of the file.
  ///   - number: The number of the algorithm.
  /// - Throws: `SealingError`.
  init(_ storeID: StoreID, generation: UInt64, algorithm number: UInt8, _ key: DataKey) throws(SealingError) {
    guard let algorithm = AuthenticatedCipher.Algorithm(rawValue: number) else { throw .algorithm(number) }
    var salt = ByteWriter()
    salt.put(storeID.words.0)
    salt.put(storeID.words.1)
    salt.put(generation)
    ciphers = try LogCiphers(algorithm, key, salt: salt.bytes)
    let (first, second) = ciphers.hashKey
    hashKey = SipHash.Key(first, second)
    guard let texts = unsafe shelfmark_texts_new() else { throw .noMemory }
    unsafe self.texts = texts
  }

  deinit { unsafe shelfmark_texts_free(texts) }

  // MARK: Objects

  /// Returns by how much a sealed object is longer than a plain one.
  @inline(__always)
  static func overhead(inBase: Bool) -> Int {
    inBase ? SealedForm.baseObjectOverhead : SealedForm.overhead
  }

  /// Opens an object whose checksum is valid.
  ///
  /// - Parameters:
  ///   - stored: The sealed object, header included.
  ///   - memory: Where the plain object goes: as many bytes as the sealed one has, less the overhead. Its first four bytes
  ///     are its unit offset instead of a checksum.
  /// - Returns: Whether the object is genuine. The caller has checked that it is long enough.
  @unsafe @inline(__always)
  func open(_ stored: RawSpan, at unit: UnitOffset, inBase: Bool, to memory: UnsafeMutablePointer<UInt8>) -> Bool {
    unsafe stored.withUnsafeBytes { bytes in
      unsafe shelfmark_object_open(
        inBase ? ciphers.base : ciphers.other, unit.rawValue, stored.u32(at: 4), !inBase,
        bytes.baseAddress.unsafelyUnwrapped.advanced(by: ObjectHeader.byteCount).assumingMemoryBound(to: UInt8.self),
        memory)
    }
  }

  /// Returns the plain object of a sealed one whose checksum is valid; `nil` if it is not genuine.
  func opened(_ stored: [UInt8], at unit: UnitOffset, inBase: Bool) -> [UInt8]? {
    let length = stored.count - Self.overhead(inBase: inBase)
    guard length >= ObjectHeader.byteCount else { return nil }
    var plain = [UInt8](repeating: 0, count: length)
    let isGenuine = unsafe plain.withUnsafeMutableBufferPointer { memory in
      unsafe open(stored.rawSpan, at: unit, inBase: inBase, to: memory.baseAddress.unsafelyUnwrapped)
    }
    return isGenuine ? plain : nil
  }

  /// Seals the contents of an object in place.
  ///
  /// - Parameters:
  ///   - object: The whole object, with its header word. The plain contents begin behind the room for the nonce, and end
  ///     before the room for the tag.
  ///   - nonce: The nonce to store; `nil` in the base.
  @inline(__always)
  func seal(_ object: inout MutableRawSpan, at unit: UnitOffset, nonce: StoredNonce?) {
    let overhead = Self.overhead(inBase: nonce == nil)
    let count = object.byteCount - ObjectHeader.byteCount - overhead
    precondition(count >= 0, "a sealed object has room for its tag")
    let word = object.bytes.u32(at: 4)
    unsafe object.withUnsafeMutableBytes { bytes in
      let contents = unsafe bytes.baseAddress.unsafelyUnwrapped.advanced(by: ObjectHeader.byteCount)
        .assumingMemoryBound(to: UInt8.self)
      unsafe shelfmark_object_seal(
        nonce == nil ? ciphers.base : ciphers.other, unit.rawValue, word, (nonce ?? .none).value, count, contents)
    }
  }

  // MARK: Pages of ordered indexes

  /// The number that stands for a page in the data that its seal covers, where an object has its kind.
  private static let pageKind: UInt32 = 254

  private static func pageWord(_ byteCount: Int) -> UInt32 { UInt32(byteCount) | pageKind << 24 }

  /// Seals a page in place. Its plain contents begin after its checksum, and its last ``SealedForm/overhead`` bytes are
  /// free.
  func seal(page: inout MutableRawSpan, at unit: UnitOffset, nonce: StoredNonce) {
    let count = page.byteCount - 4 - SealedForm.overhead
    precondition(count >= 0, "a page has room for its seal")
    let plain = page.bytes.slice(4, count).copied()
    page.put(plain.rawSpan, at: 4 + SealedForm.nonceByteCount)
    let word = Self.pageWord(page.byteCount)
    unsafe page.withUnsafeMutableBytes { bytes in
      unsafe shelfmark_object_seal(
        ciphers.other, unit.rawValue, word, nonce.value, count,
        bytes.baseAddress.unsafelyUnwrapped.advanced(by: 4).assumingMemoryBound(to: UInt8.self))
    }
  }

  /// Opens a page whose checksum is valid into `memory`, which has room for its bytes less the overhead. Its first four
  /// bytes are undefined. Returns whether it is genuine.
  @unsafe
  func open(page: RawSpan, at unit: UnitOffset, to memory: UnsafeMutablePointer<UInt8>) -> Bool {
    guard page.byteCount >= 4 + SealedForm.overhead else { return false }
    return unsafe page.withUnsafeBytes { bytes in
      unsafe shelfmark_page_open(
        ciphers.other, unit.rawValue, Self.pageWord(page.byteCount), page.byteCount &- 4,
        bytes.baseAddress.unsafelyUnwrapped.advanced(by: 4).assumingMemoryBound(to: UInt8.self), memory.advanced(by: 4))
    }
  }

  /// Returns the plain form of a page whose checksum is valid; `nil` if it is not genuine.
  func opened(page: [UInt8], at unit: UnitOffset) -> [UInt8]? {
    guard page.count >= 4 + SealedForm.overhead else { return nil }
    var plain = [UInt8](repeating: 0, count: page.count - SealedForm.overhead)
    let isGenuine = unsafe plain.withUnsafeMutableBufferPointer { memory in
      unsafe open(page: page.rawSpan, at: unit, to: memory.baseAddress.unsafelyUnwrapped)
    }
    return isGenuine ? plain : nil
  }

  // MARK: Manifests

  /// Returns the sealed form of a manifest's names and state: nonce, sealed bytes, tag.
  func sealed(manifest secret: [UInt8], clear: [UInt8], nonce: StoredNonce) -> [UInt8] {
    let stored = nonce.bytes
    return stored + ciphers.sealed(secret, nonce: stored, data: clear)
  }

  /// Returns the names and the state of a manifest; `nil` if they are not genuine.
  func opened(manifest sealed: [UInt8], clear: [UInt8]) -> [UInt8]? {
    guard sealed.count >= SealedForm.overhead else { return nil }
    return ciphers.opened(
      Array(sealed[SealedForm.nonceByteCount...]), nonce: Array(sealed[..<SealedForm.nonceByteCount]), data: clear)
  }

  // MARK: Opened texts

  /// Returns the opened text at `unit` if it is kept. The bytes live as long as this object.
  @unsafe @inline(__always)
  func keptText(at unit: UnitOffset) -> UnsafePointer<UInt8>? { unsafe shelfmark_texts_find(texts, unit.rawValue) }

  /// Keeps a copy of an opened text, if there is room.
  @unsafe
  func keep(_ opened: UnsafePointer<UInt8>, _ count: Int) { _ = unsafe shelfmark_texts_insert(texts, opened, count) }
}

/// A nonce that is stored with what it seals.
struct StoredNonce {
  let value: shelfmark_nonce

  init(high: UInt64, low: UInt32) { value = shelfmark_nonce(high: high, low: low, is_stored: true) }

  private init() { value = shelfmark_nonce(high: 0, low: 0, is_stored: false) }

  /// Stands for the nonce of an object of the base, which is not stored.
  static let none = StoredNonce()

  /// The 12 bytes, the lowest first.
  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.put(value.low)
    writer.put(value.high)
    return writer.bytes
  }
}

/// The nonces of one segment: a random start, and what is counted on from it. Each is used once.
struct NonceSequence {
  private var high: UInt64
  private var low: UInt32

  /// - Parameter random: Returns 64 unpredictable bits.
  init(_ random: () -> UInt64) {
    high = random()
    low = UInt32(truncatingIfNeeded: random())
  }

  /// Returns the next nonce. A segment has fewer than 2³² objects and pages.
  @inline(__always)
  mutating func next() -> StoredNonce {
    low &+= 1
    if low == 0 { high &+= 1 }
    return StoredNonce(high: high, low: low)
  }
}
