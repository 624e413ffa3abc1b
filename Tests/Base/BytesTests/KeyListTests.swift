import Bytes
import RandomTestSupport
import Testing

@Suite struct KeyListTests {
  /// The bytes of a list of `keys`.
  private func encoded(_ keys: [[UInt8]]) -> [UInt8] { keys.flatMap { [UInt8($0.count)] + $0 } }

  private func keys(_ bytes: [UInt8]) -> [[UInt8]] {
    var list = KeyList(bytes.rawSpan)
    var keys: [[UInt8]] = []
    while let key = list.next() { keys.append(key.copied()) }
    return keys
  }

  private func isValid(_ bytes: [UInt8]) -> Bool { KeyList.isValid(bytes.rawSpan) }

  private func contains(_ key: [UInt8], in bytes: [UInt8]) -> Bool { KeyList.contains(key.rawSpan, in: bytes.rawSpan) }

  @Test(
    arguments: [[], [[]], [[1]], [[1, 2], [], [3]], [[UInt8](repeating: 7, count: 255), [1, 2]]] as [[[UInt8]]])
  func `what is written is read`(_ list: [[UInt8]]) {
    let bytes = encoded(list)
    #expect(keys(bytes) == list)
    #expect(isValid(bytes))
    for key in list { #expect(contains(key, in: bytes)) }
    #expect(!contains([9, 9], in: bytes))
    // The list's own bytes are no key in it.
    if !bytes.isEmpty { #expect(!contains(bytes, in: bytes)) }
  }

  @Test func `bytes that are no list give the keys before the fault`() {
    #expect(keys([1, 65, 9, 1, 2]) == [[65]])
    #expect(!isValid([1, 65, 9, 1, 2]))
    #expect(keys([1]).isEmpty)
    var random = SeededGenerator(for: "KeyListTests, noise")
    for _ in 0..<2000 * depth {
      let noise = (0..<Int.random(in: 0..<20, using: &random)).map { _ in UInt8.random(in: 0..<6, using: &random) }
      let read = keys(noise)
      #expect(noise.starts(with: encoded(read)))
      #expect(isValid(noise) == (encoded(read) == noise))
    }
  }
}
