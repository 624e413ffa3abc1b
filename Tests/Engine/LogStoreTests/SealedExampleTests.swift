import Bytes
import Foundation
import RecordFormat
import Sealing
import Testing

@testable import LogStore

/// Ties the sealed record in FORMAT.md to the code, and opens it again in the words of the document.
@Suite struct SealedExampleTests {
  private static let begin = "<!-- begin of the sealed example -->"
  private static let end = "<!-- end of the sealed example -->"

  private static let salt: [UInt8] = (0..<16).map { 0xA0 + $0 } + [1, 0, 0, 0, 0, 0, 0, 0]

  private static func key() throws -> DataKey { try DataKey(SecretBytes(copying: [UInt8](0..<32))) }

  private static func derived(_ use: String, _ count: Int) throws -> [UInt8] {
    let secret = try key().secret.derived(salt: salt, info: Array("shelfmark \(use)".utf8), count: count)
    return unsafe secret.withBytes { unsafe Array($0) }
  }

  private static func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { (($0 < 16) ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
  }

  /// The contents of the first record of the example: one shared string, the keys `a1` and `6901`, and a body.
  private static let contents: [UInt8] =
    [1, 2, 2, 0, 6, 0, 0, 0, 0x08, 0x06, 0, 0] + Array("a16901indoor".utf8)
  private static let unit = UnitOffset(rawValue: 1546)

  /// Returns the sealed form of the record.
  private static func sealed(_ nonce: StoredNonce?) throws -> [UInt8] {
    let salt = Self.salt
    let id = StoreID(salt.rawSpan.u64(at: 0), salt.rawSpan.u64(at: 8))
    let sealing = try LogSealing(id, generation: 1, algorithm: 1, key())
    let overhead = LogSealing.overhead(inBase: nonce == nil)
    var object = [UInt8](repeating: 0, count: ObjectHeader.byteCount + contents.count + overhead)
    object.store(UInt32(object.count), at: 4)
    let start = ObjectHeader.byteCount + (nonce == nil ? 0 : SealedForm.nonceByteCount)
    object.replaceSubrange(start..<start + contents.count, with: contents)
    object.change(0, object.count) { sealing.seal(&$0, at: unit, nonce: nonce) }
    object.store(Checksum.of(object.rawSpan.slice(4, object.count - 4), from: Checksum.salt(unit)), at: 0)
    return object
  }

  private static let nonce = StoredNonce(high: 0x0706_0504_0302_0100, low: 0x0B0A_0908)

  private static func lines() throws -> [String] {
    let base = try sealed(nil)
    let tail = try sealed(nonce)
    return [
      "data key          \(hex(0..<32))",
      "its name          \(hex(try key().id))",
      "store id          \(hex(salt.prefix(16)))",
      "generation        1",
      "base key          \(hex(try derived("base", 32)))",
      "nonce key         \(hex(try derived("nonce", 32)))",
      "hash key          \(hex(try derived("hash", 16)))",
      "unit              \(unit.rawValue)",
      "contents          \(hex(contents))",
      "",
      "in the base:",
      "nonce             \(hex([0x0a, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]))",
      "additional data   \(hex([0x0a, 6, 0, 0] + base[4..<8]))",
      "object            \(hex(base))",
      "",
      "after the base:",
      "nonce             \(hex(nonce.bytes))",
      "additional data   \(hex([0x0a, 6, 0, 0] + tail[4..<8]))",
      "object            \(hex(tail))",
    ]
  }

  private static var document: URL {
    URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
        "FORMAT.md")
  }

  @Test func `the sealed record in the document is what the code writes`() throws {
    if try AuthenticatedCipher.Algorithm.preferred() != .aes256GCM { return }
    let expected = "\n\n```\n\(try Self.lines().joined(separator: "\n"))\n```\n\n"
    var text = try String(contentsOf: Self.document, encoding: .utf8)
    let first = try #require(text.range(of: Self.begin)).upperBound
    let last = try #require(text.range(of: Self.end)).lowerBound
    if ProcessInfo.processInfo.environment["SHELFMARK_RECORD"] == "1" {
      text.replaceSubrange(first..<last, with: expected)
      try text.write(to: Self.document, atomically: true, encoding: .utf8)
      return
    }
    #expect(text[first..<last] == expected, "set SHELFMARK_RECORD=1 to write the example again")
  }

  @Test func `a reader that knows the document and the key opens it`() throws {
    if try AuthenticatedCipher.Algorithm.preferred() != .aes256GCM { return }
    let base = try Self.sealed(nil)
    let baseCipher = try AuthenticatedCipher(.aes256GCM, key: SecretBytes(copying: Self.derived("base", 32)))
    let unit: [UInt8] = [0x0a, 6, 0, 0]
    #expect(
      baseCipher.opened(Array(base[8...]), nonce: unit + [UInt8](repeating: 0, count: 8), data: unit + base[4..<8])
        == Self.contents)
    let tail = try Self.sealed(Self.nonce)
    let cipher = try AuthenticatedCipher(.aes256GCM, key: SecretBytes(copying: Self.derived("nonce", 32)))
    #expect(
      cipher.opened(Array(tail[20...]), nonce: Array(tail[8..<20]), data: unit + tail[4..<8]) == Self.contents)
  }
}
