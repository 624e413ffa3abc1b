import Testing

@testable import Sealing

@Suite struct SealingTests {
  private func key(_ byte: UInt8) throws -> SecretBytes {
    try SecretBytes(copying: [UInt8](repeating: byte, count: 32))
  }

  private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8).map { UInt8($0 < 58 ? $0 - 48 : $0 - 87) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  @Test func derivesKeysAsRFC5869Says() throws {
    let secret = try SecretBytes(copying: [UInt8](repeating: 0x0b, count: 22))
    let derived = try secret.derived(
      salt: bytes("000102030405060708090a0b0c"), info: bytes("f0f1f2f3f4f5f6f7f8f9"), count: 42)
    #expect(
      unsafe derived.withBytes { unsafe Array($0) }
        == bytes("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
    let withoutSalt = try secret.derived(salt: [], info: [], count: 42)
    #expect(
      unsafe withoutSalt.withBytes { unsafe Array($0) }
        == bytes("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"))
  }

  @Test(arguments: AuthenticatedCipher.Algorithm.allCases)
  func opensWhatItSealedAndNothingElse(_ algorithm: AuthenticatedCipher.Algorithm) throws {
    let cipher = try AuthenticatedCipher(algorithm, key: key(1))
    let other = try AuthenticatedCipher(algorithm, key: key(2))
    let nonce = [UInt8](repeating: 3, count: AuthenticatedCipher.nonceByteCount)
    for count in [0, 1, 15, 16, 17, 190, 2000] {
      let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      let sealed = cipher.sealed(plain, nonce: nonce, data: [1, 2])
      #expect(sealed.count == count + AuthenticatedCipher.tagByteCount)
      #expect(cipher.opened(sealed, nonce: nonce, data: [1, 2]) == plain)
      #expect(other.opened(sealed, nonce: nonce, data: [1, 2]) == nil)
      #expect(cipher.opened(sealed, nonce: nonce, data: [1, 3]) == nil)
      for index in sealed.indices {
        var changed = sealed
        changed[index] ^= 0x10
        #expect(cipher.opened(changed, nonce: nonce, data: [1, 2]) == nil)
      }
    }
    #expect(cipher.opened([], nonce: nonce) == nil)
  }

  /// The test case 14 of "The Galois/Counter Mode of Operation" by McGrew and Viega.
  @Test func sealsAsTheStandardSays() throws {
    for library in AuthenticatedCipher.Library.allCases {
      guard let cipher = try? AuthenticatedCipher(.aes256GCM, key: key(0), library: library) else { continue }
      let sealed = cipher.sealed([UInt8](repeating: 0, count: 16), nonce: [UInt8](repeating: 0, count: 12))
      #expect(
        sealed == bytes("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"), "\(library)")
    }
  }

  /// A log is sealed on one machine and opened on another one, which has other libraries.
  @Test func sealsTheSameWithEachLibrary() throws {
    let ciphers = AuthenticatedCipher.Library.allCases.compactMap {
      try? AuthenticatedCipher(.aes256GCM, key: key(5), library: $0)
    }
    // libcrypto works on every processor.
    #expect(ciphers.count >= 2)
    for count in Array(0...65) + [127, 128, 129, 190, 255, 256, 257, 1023, 4068, 70_000] {
      let nonce = (0..<12).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
      let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 / 256 &+ count) }
      let data = Array(plain.prefix(count % 25))
      let sealed = ciphers.map { $0.sealed(plain, nonce: nonce, data: data) }
      #expect(sealed.allSatisfy { $0 == sealed[0] }, "\(count) bytes")
      var changed = sealed[0]
      changed[count * 7 % changed.count] ^= 1 << UInt8(count % 8)
      for cipher in ciphers {
        #expect(cipher.opened(sealed[0], nonce: nonce, data: data) == plain, "\(count) bytes")
        #expect(cipher.opened(changed, nonce: nonce, data: data) == nil, "\(count) bytes")
      }
    }
  }

  @Test func namesAKeyWithoutRevealingIt() throws {
    let key = try DataKey(key(1))
    #expect(key.id.count == DataKey.idByteCount)
    #expect(try DataKey(self.key(1)).id == key.id)
    #expect(try DataKey.random().id != key.id)
    var text = ""
    dump(key.secret, to: &text)
    #expect(text.hasPrefix("- (32 secret bytes)"))
  }

  @Test func stretchesPassphrases() throws {
    let salt = [UInt8](0..<16)
    let passphrase = try SecretBytes(copying: Array("correct horse".utf8))
    let stretched = try passphrase.stretched(salt: salt, passes: 1, memoryByteCount: 8192, count: 32)
    #expect(try passphrase.stretched(salt: salt, passes: 1, memoryByteCount: 8192, count: 32).isEqual(to: stretched))
    #expect(try !passphrase.stretched(salt: salt, passes: 2, memoryByteCount: 8192, count: 32).isEqual(to: stretched))
    let other = try SecretBytes(copying: Array("correct horsE".utf8))
    #expect(try !other.stretched(salt: salt, passes: 1, memoryByteCount: 8192, count: 32).isEqual(to: stretched))
  }
}
