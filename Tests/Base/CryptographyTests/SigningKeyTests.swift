import Cryptography
import Testing

@Suite struct SigningKeyTests {
  /// The bytes of hexadecimal digits.
  private static func bytes(_ digits: String) -> [UInt8] {
    let values = digits.compactMap(\.hexDigitValue)
    return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
  }

  /// RFC 8032, 7.1: tests 1, 2, 3 and SHA(abc).
  private static let vectors = [
    (
      seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
      signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        + "d25bf5f0595bbe24655141438e7a100b"
    ),
    (
      seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      key: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
      signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
        + "387b2eaeb4302aeeb00d291612bb0c00"
    ),
    (
      seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      key: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", message: "af82",
      signature: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
        + "4a7c15e9716ed28dc027beceea1ec40a"
    ),
    (
      seed: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
      key: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
      message: "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
        + "454d4423643ce80e2a9ac94fa54ca49f",
      signature: "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e030"
        + "3dca179c138ac17ad9bef1177331a704"
    ),
  ]

  @Test(arguments: vectors)
  func `keys and signatures of the standard's examples`(
    vector: (seed: String, key: String, message: String, signature: String)
  ) throws {
    let key = try SigningKey(seed: Self.bytes(vector.seed))
    let message = Self.bytes(vector.message)
    let signature = Self.bytes(vector.signature)
    #expect(key.verifyingKey.bytes == Self.bytes(vector.key))
    #expect(try key.signature(of: message) == signature)
    #expect(try key.verifyingKey.isSignature(signature, of: message))
    #expect(try !key.verifyingKey.isSignature(signature, of: message + [0]))
  }

  @Test func `no bit of a signature, a message or a key can be changed`() throws {
    let key = try SigningKey(seed: Self.bytes(Self.vectors[3].seed))
    let message = Array("a message".utf8)
    let signature = try key.signature(of: message)
    for bit in 0..<signature.count * 8 {
      var other = signature
      other[bit / 8] ^= 1 << (bit % 8)
      #expect(try !key.verifyingKey.isSignature(other, of: message), "bit \(bit) of the signature")
    }
    for bit in 0..<message.count * 8 {
      var other = message
      other[bit / 8] ^= 1 << (bit % 8)
      #expect(try !key.verifyingKey.isSignature(signature, of: other), "bit \(bit) of the message")
    }
    for bit in 0..<256 {
      var other = key.verifyingKey.bytes
      other[bit / 8] ^= 1 << (bit % 8)
      let otherKey = try #require(VerifyingKey(bytes: other))
      #expect(try !otherKey.isSignature(signature, of: message), "bit \(bit) of the key")
    }
  }

  @Test func `a signature of another length is wrong, not an error`() throws {
    let key = try SigningKey()
    let signature = try key.signature(of: [1])
    for count in [0, 1, 63] {
      #expect(try !key.verifyingKey.isSignature(Array(signature.prefix(count)), of: [1]))
    }
    #expect(try !key.verifyingKey.isSignature(signature + [0], of: [1]))
    #expect(try !key.verifyingKey.isSignature([UInt8](repeating: 0xFF, count: 64), of: [1]))
    // s + L instead of s, which RFC 8032, 5.1.7, refuses, because the signature would not be the only one.
    let order = Self.bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
    var sum = signature
    var carry = 0
    for index in 0..<32 {
      carry += Int(sum[32 + index]) + Int(order[index])
      sum[32 + index] = UInt8(truncatingIfNeeded: carry)
      carry >>= 8
    }
    #expect(try !key.verifyingKey.isSignature(sum, of: [1]))
  }

  @Test func `a new key is another one, and its seed is never printed`() throws {
    let key = try SigningKey()
    #expect(key.seed.count == SigningKey.seedByteCount)
    #expect(try SigningKey().verifyingKey != key.verifyingKey)
    #expect(try SigningKey(seed: key.seed).verifyingKey == key.verifyingKey)
    var dumped = ""
    dump(key, to: &dumped)
    #expect("\(key)" == "(secret key)" && !dumped.contains("\(key.seed[0]), ") && !dumped.contains("- \(key.seed[0])"))
  }

  @Test func `a public key has 32 bytes`() {
    for count in [0, 31, 33] { #expect(VerifyingKey(bytes: [UInt8](repeating: 1, count: count)) == nil) }
    #expect(VerifyingKey(bytes: [UInt8](repeating: 1, count: 32))?.bytes.count == 32)
  }

  @Test func `random bytes are as many as asked for`() throws {
    #expect(try randomBytes(0) == [])
    let bytes = try randomBytes(1_000)
    #expect(bytes.count == 1_000 && Set(bytes).count > 200)
    #expect(try randomBytes(16) != randomBytes(16))
  }

  /// FIPS 180-2, appendix C, and the empty text.
  @Test(arguments: [
    (
      "",
      "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f"
        + "63b931bd47417a81a538327af927da3e"
    ),
    (
      "abc",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
        + "454d4423643ce80e2a9ac94fa54ca49f"
    ),
  ])
  func `SHA-512 of the standard's examples`(text: String, expected: String) throws {
    #expect(try Hash.sha512(of: Array(text.utf8)) == Self.bytes(expected))
  }
}
