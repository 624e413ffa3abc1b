import Testing

@testable import UploadQueue

@Suite struct SHA256Tests {
  /// Examples of NIST for FIPS 180-4.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `a text has the hash that the standard gives it`(_ text: String, _ expected: String) {
    var hash = SHA256()
    hash.update(Array(text.utf8))
    #expect(hash.finish() == expected)
  }

  @Test func `pieces have the hash of the whole`() {
    var whole = SHA256()
    whole.update([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_00))
    let expected = whole.finish()
    for size in [1, 63, 64, 65, 1000] {
      var hash = SHA256()
      var left = 1_000_00
      while left > 0 {
        hash.update([UInt8](repeating: UInt8(ascii: "a"), count: min(size, left)))
        left -= min(size, left)
      }
      #expect(hash.finish() == expected, "pieces of \(size)")
    }
  }
}
