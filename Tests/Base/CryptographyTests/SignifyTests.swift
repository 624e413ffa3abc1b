import Cryptography
import Foundation
import RandomTestSupport
import Testing

@Suite struct SignifyTests {
  /// Made by `signify-openbsd -G -n -c "test key"`, and the signature of `{"a":1}`.
  private static let publicText = """
    untrusted comment: test key public key
    RWTRVnaOPm+9j0ISxsjXfkx5NVhpcz/8qYKtuIauxw+AhV8u9adKF8xt

    """
  private static let secretText = """
    untrusted comment: test key secret key
    RWRCSwAAAABpLX+Wccna/VWmDEyPiHMtWqpAVXhxa8TRVnaOPm+9j3hf7EsKUoJbQx9Pp102pvLOexuPPmnJ/IspZTHBfgfFQhLGyNd+THk1WGlzP\
    /ypgq24hq7HD4CFXy71p0oXzG0=

    """
  private static let signatureText = """
    untrusted comment: verify with k.pub
    RWTRVnaOPm+9jzcduwpLMri3Z/PHnBNnvLvXg1OGs3oQdAOqaNxowhmvt41+IaKpisafRSQAtUZ+/u+Of6QV6Am1ZIL53pOrGAg=

    """
  private static let message = Array(#"{"a":1}"#.utf8)

  private func publicKey(_ text: String = publicText) throws(SignifyError) -> SignifyPublicKey {
    try SignifyPublicKey(Array(text.utf8))
  }

  private func secretKey(_ text: String = secretText) throws(SignifyError) -> SignifySecretKey {
    try SignifySecretKey(Array(text.utf8))
  }

  /// A file with these bytes in base64.
  private func file(_ bytes: [UInt8], comment: String = "untrusted comment: x") -> String {
    "\(comment)\n\(Data(bytes).base64EncodedString())\n"
  }

  private func decoded(_ text: String) throws -> [UInt8] {
    let line = try #require(text.split(separator: "\n").last)
    return [UInt8](try #require(Data(base64Encoded: String(line))))
  }

  @Test func `files of signify are read, and written as they were`() throws {
    let key = try publicKey()
    #expect(key.comment == "test key public key" && key.text == Self.publicText)
    #expect(key.number.description == "d156768e3e6fbd8f")
    let secret = try secretKey()
    #expect(secret.comment == "test key secret key" && secret.text == Self.secretText)
    #expect(secret.publicKey == key)
    let signature = try SignifySignature(Array(Self.signatureText.utf8))
    #expect(signature.comment == "verify with k.pub" && signature.text == Self.signatureText)
    #expect(try signature.isValid(of: Self.message, key: key))
    #expect(try !signature.isValid(of: Self.message + [0x0A], key: key))
    // Signatures of Ed25519 are not random.
    #expect(try secret.sign(Self.message).bytes == signature.bytes)
  }

  @Test func `line ends of Windows, no last line end, and bytes of other encodings are allowed`() throws {
    for text in [Self.publicText, Self.publicText.replacing("\n", with: "\r\n")] {
      #expect(try publicKey(text).key == publicKey().key)
      #expect(try publicKey(String(text.dropLast())).key == publicKey().key)
    }
    #expect(try secretKey(Self.secretText.replacing("\n", with: "\r\n")).text == Self.secretText)
    let key = try SignifyPublicKey(Array("untrusted comment: ".utf8) + [0xFC, 0x0A] + decoded(Self.publicText).base64)
    #expect(try key.key == publicKey().key && key.comment == "\u{FFFD}")
  }

  @Test func `a signature is valid for the key of its number only`() throws {
    let secret = try SignifySecretKey.new("one")
    let signature = try secret.sign(Self.message)
    #expect(try signature.isValid(of: Self.message, key: secret.publicKey))
    #expect(try !signature.isValid(of: Self.message, key: SignifySecretKey.new("one").publicKey))
    var bytes = try decoded(secret.publicKey.text)
    bytes[2] ^= 1
    #expect(try !signature.isValid(of: Self.message, key: publicKey(file(bytes))), "the same key, another number")
  }

  @Test func `a new pair of keys is written and read`() throws {
    let secret = try SignifySecretKey.new("shop 套机")
    #expect(secret.comment == "shop 套机 secret key" && secret.publicKey.comment == "shop 套机 public key")
    #expect(try secretKey(secret.text).text == secret.text)
    #expect(try publicKey(secret.publicKey.text) == secret.publicKey)
    #expect(throws: SignifyError.commentNotALine) { try SignifySecretKey.new("a\nb") }
    #expect(throws: SignifyError.commentTooLong(byteCount: 1_024)) {
      try SignifySecretKey.new(String(repeating: "a", count: 1_013))
    }
    #expect(try secretKey(SignifySecretKey.new(String(repeating: "a", count: 1_012)).text).comment.count == 1_023)
    var dumped = ""
    dump(secret, to: &dumped)
    #expect("\(secret)" == "(secret key \(secret.number))" && !dumped.contains("seed") && !dumped.contains("salt"))
  }

  @Test func `a secret key with a passphrase is refused, with the remedy`() throws {
    var bytes = try decoded(Self.secretText)
    bytes[7] = 42
    let error = #expect(throws: SignifyError.passphrase) { try secretKey(file(bytes)) }
    #expect(error?.description.contains("signify-openbsd -G -n -p KEY.pub -s KEY.sec") == true)
  }

  @Test func `each byte of a secret key is checked, except salt and number`() throws {
    let whole = try decoded(Self.secretText)
    for index in whole.indices where !(8..<24).contains(index) && !(32..<40).contains(index) {
      var bytes = whole
      bytes[index] ^= 0x10
      let expected: SignifyError =
        switch index {
        case 0..<2: .wrongAlgorithm(expected: "a secret key")
        case 2..<4: .unknownProtection
        case 4..<8: .passphrase
        default: .wrongChecksum
        }
      #expect(throws: expected, "byte \(index)") { try secretKey(file(bytes)) }
    }
    // Two halves that do not belong together, with the right checksum.
    var bytes = whole
    bytes[103] ^= 1
    bytes.replaceSubrange(24..<32, with: try Hash.sha512(of: Array(bytes[40...])).prefix(8))
    #expect(throws: SignifyError.wrongPublicKey) { try secretKey(file(bytes)) }
  }

  @Test func `an error says what is wrong, and on which line`() throws {
    let kind = "a public key"
    for (text, expected, words) in [
      ("", SignifyError.noComment(expected: kind), "line 1"),
      ("-----BEGIN PUBLIC KEY-----\n", .noComment(expected: kind), "untrusted comment: "),
      ("untrusted comment: x\n", .notBase64(expected: kind), "line 2"),
      ("untrusted comment: x", .notBase64(expected: kind), "line 2"),
      ("untrusted comment: x\nRW!\n", .notBase64(expected: kind), "base64"),
      (Self.secretText, .wrongKind(expected: kind, found: "a secret key"), "is a secret key instead of a public key"),
      (Self.signatureText, .wrongKind(expected: kind, found: "a signature"), "is a signature"),
      (file([1, 2, 3]), .wrongKind(expected: kind, found: "3 bytes"), "3 bytes"),
      (file([UInt8](repeating: 0, count: 42)), .wrongAlgorithm(expected: kind), "Ed25519"),
      (Self.publicText + "\n", .trailingBytes(expected: kind), "after line 2"),
      (Self.publicText + Self.publicText, .trailingBytes(expected: kind), "two lines"),
      (
        file([], comment: "untrusted comment: " + String(repeating: "a", count: 1_024)),
        .commentTooLong(byteCount: 1_024), "shorten"
      ),
      (String(repeating: "a", count: 4_097), .tooLarge(expected: kind, limit: 4_096), "4096"),
    ] {
      let error = #expect(throws: expected) { try publicKey(text) }
      #expect(error?.description.contains(words) == true, "\(words): \(error?.description ?? "")")
    }
    #expect(throws: SignifyError.wrongKind(expected: "a secret key", found: "a public key")) {
      try secretKey(Self.publicText)
    }
    #expect(throws: SignifyError.tooLarge(expected: "a signature", limit: 4_096)) {
      try SignifySignature.embedded(in: Array("untrusted comment: x\n".utf8) + [UInt8](repeating: 0x52, count: 5_000))
    }
  }

  @Test func `an embedded signature is followed by its message, of any bytes and size`() throws {
    let secret = try SignifySecretKey.new("shop")
    var generator = SeededGenerator(for: "embedded")
    for message in [[], Self.message, [0x0D, 0x0A, 0x0A], generator.bytes(100_000)] {
      let file = try secret.sign(message).embedding(message)
      let (signature, found) = try SignifySignature.embedded(in: file)
      #expect(found == message, "\(generator)")
      #expect(try signature.isValid(of: found, key: secret.publicKey))
      if !message.isEmpty {
        #expect(throws: SignifyError.self) { try SignifySignature(file) }
      }
    }
  }

  @Test func `any bytes are read or refused`() throws {
    var generator = SeededGenerator(for: "signify")
    let texts = [Self.publicText, Self.secretText, Self.signatureText]
    for _ in 0..<500 * depth {
      var bytes = Array(texts.randomElement(using: &generator)!.utf8)
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0...2, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.removeSubrange(index..<min(bytes.count, index + 30))
        default: bytes.insert(contentsOf: generator.bytes(5), at: index)
        }
        if bytes.isEmpty { break }
      }
      // What is read is written so that it is read again.
      if let key = try? SignifyPublicKey(bytes) { #expect(try publicKey(key.text) == key, "\(generator)") }
      if let key = try? SignifySecretKey(bytes) { #expect(try secretKey(key.text).text == key.text, "\(generator)") }
      if let (signature, message) = try? SignifySignature.embedded(in: bytes) {
        let again = try SignifySignature.embedded(in: signature.embedding(message))
        #expect(again.signature == signature && again.message == message, "\(generator)")
      }
    }
  }
}

extension [UInt8] {
  /// The bytes of the base64 of these bytes.
  fileprivate var base64: [UInt8] { Array(Data(self).base64EncodedString().utf8) }
}
