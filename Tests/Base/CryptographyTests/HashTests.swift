import Cryptography
import Testing

@Suite struct HashTests {
  private func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  /// The examples of FIPS 180-2, appendix B, and the empty text.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `SHA-256 of the standard's examples, in whatever pieces they come`(text: String, expected: String) throws {
    let bytes = Array(text.utf8)
    for piece in [1, 7, 64, max(1, bytes.count)] {
      let hash = try Hash.sha256()
      for start in stride(from: 0, to: bytes.count, by: piece) {
        try hash.update(Array(bytes[start..<min(start + piece, bytes.count)]))
      }
      try hash.update([])
      #expect(try hex(hash.digest()) == expected)
    }
  }

  /// RFC 4231, 4.2, 4.3, 4.7: a short key, a text as key, and a key that is longer than a block.
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0B, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
  ])
  func `HMAC-SHA256 of the standard's examples`(key: [UInt8], text: String, expected: String) throws {
    let hash = try Hash.hmacSHA256(key: key)
    for byte in text.utf8 { try hash.update([byte]) }
    #expect(try hex(hash.digest()) == expected)
  }

  @Test func `a digest does not end a hash`() throws {
    let hash = try Hash.sha256()
    try hash.update(Array("a".utf8))
    let first = try hash.digest()
    #expect(try hash.digest() == first && first.count == Hash.byteCount)
    try hash.update(Array("bc".utf8))
    #expect(try hex(hash.digest()) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }
}
