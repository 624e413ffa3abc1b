import StoreTestSupport
import Testing
import UploadQueue

@Suite struct FileReferenceTests {
  /// Examples of NIST for FIPS 180-4, and one that is longer than a piece that is read at once, from sha256sum.
  @Test(arguments: [
    ("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ("a", 1_100_000, "6aafaf4ef7899e48a5590041668ae9a810e9156a9924ea484e3594072192fbd4"),
  ])
  func `a file has the hash that the standard gives its content`(
    _ text: String, _ count: Int, _ expected: String
  ) throws {
    let folder = try TemporaryDirectory()
    try folder.write(Array(String(repeating: text, count: count).utf8), to: "file")
    let file = try FileReference(contentsOf: folder.path + "/file")
    #expect(file.sha256 == expected && file.byteCount == text.utf8.count * count)
    try file.check()
  }
}
