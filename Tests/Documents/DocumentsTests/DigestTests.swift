import Bytes
import DocumentFormat
import LogStore
import StoreTestSupport
import Testing
@testable import Documents

@Suite struct DigestTests {
  private func digest(_ documents: TestDocuments) throws -> DocumentDigest {
    try DocumentDigest(documents.inspect().snapshot())
  }

  private func filled(_ collections: [String: [Member]], seed: UInt64 = 1) throws -> TestDocuments {
    let documents = TestDocuments(seed: seed)
    let store = try documents.store()
    for (name, members) in collections { try store.collection(name, of: Member.self).insert(contentsOf: members) }
    return documents
  }

  @Test func `the same documents have the same digest, whatever the order, the file and the indexes`() throws {
    let members = (0..<20).map { Member($0) }
    let one = try filled(["a": members, "b": [Member(1)]])
    let expected = try digest(one)
    #expect(expected.count == 21 && expected.description.count == 32)
    #expect(try digest(filled(["b": [Member(1)], "a": members.reversed()], seed: 9)) == expected)
    let two = try filled(["a": members, "b": [Member(1)], "c": [Member(3)]], seed: 4)
    _ = try two.store(version: 3).collection("a", indexes: Member.indexes)
    #expect(try digest(two) != expected)
    try two.store(version: 3).collection("c", of: Member.self).deleteAll()
    #expect(try digest(two) == expected)
    try two.store(version: 3).compact()
    try two.store(version: 3).collection("a", indexes: Member.indexes).delete(3)
    #expect(try digest(two) != expected)
    try two.store(version: 3).collection("a", indexes: Member.indexes).insert(Member(3))
    #expect(try digest(two) == expected)
  }

  @Test func `what modules keep under reserved names is no collection of an application's, and in no digest`() throws {
    let documents = try filled(["a": [Member(1)]])
    let expected = try digest(documents)
    let store = try documents.store()
    try store.reservedCollection("shelfmark.x/y", of: Member.self).insert(Member(1))
    #expect(try digest(documents) == expected && expected.count == 1)
    let snapshot = try store.snapshot()
    #expect(snapshot.collectionNames == ["a"] && snapshot.allCollectionNames == ["a", "shelfmark.x/y"])
    #expect(throws: DocumentStoreError.self) { try store.untypedCollection("shelfmark.x/y") }
    #expect(throws: DocumentStoreError.self) { try store.collection("shelfmark.x/y", of: Member.self) }
    #expect(try snapshot.verify().isEmpty)
  }

  @Test func `another name, id, value or number of documents is another digest`() throws {
    var changed = Member(1)
    changed.user.status.isOnline.toggle()
    var digests: Set<String> = []
    let contents: [[String: [Member]]] = [
      [:], ["a": [Member(1)]], ["b": [Member(1)]], ["a": [Member(2)]], ["a": [changed]], ["a": [Member(1), Member(2)]],
      ["a": [Member(1)], "b": [Member(1)]], ["ab": [Member(1)]],
    ]
    for content in contents { digests.insert(try digest(filled(content)).description) }
    #expect(digests.count == contents.count)
    #expect(try digest(TestDocuments()) == DocumentDigest())
  }

  @Test func `the digest is the one that FORMAT describes`() throws {
    let documents = TestDocuments()
    let collection = try documents.inspect().untypedCollection("c")
    let values: [DocumentValue] = [
      .object([.init("id", .text("x")), .init("n", .integer(7))]), .object([.init("id", .integer(1))]),
    ]
    try collection.put(contentsOf: values.map { try collection.encode($0) })
    // Each document: length and bytes of the collection's name and of the id, then its own bytes.
    let rows: [[UInt8]] = [
      [1, 0, 0, 0, 0x63, 2, 0, 0, 0, 0x61, 0x78, 0xA2, 0x62, 0x69, 0x64, 0x61, 0x78, 0x61, 0x6E, 7],
      [1, 0, 0, 0, 0x63, 1, 0, 0, 0, 1, 0xA1, 0x62, 0x69, 0x64, 1],
    ]
    func hash(_ bytes: [UInt8]) -> UInt128 {
      let seeds = (
        HashSeed(0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344), HashSeed(0xA409_3822_299F_31D0, 0x082E_FA98_EC4E_6C89)
      )
      return UInt128(KeyHash.of(bytes.rawSpan, seeds.1)) << 64 | UInt128(KeyHash.of(bytes.rawSpan, seeds.0))
    }
    func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
      (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    let expected = hash(bytes(UInt64(2)) + bytes(rows.reduce(0) { $0 &+ hash($1) }))
    let digest = try digest(documents)
    #expect(UInt128(digest.description, radix: 16) == expected)
    // With a catalogue: both digests, hashed once more; without documents, the catalogue's alone.
    var catalogue = ContentDigest()
    catalogue.add([1, 2, 3].rawSpan)
    #expect(DocumentDigest().covering(catalogue: catalogue) == catalogue)
    let both = bytes(UInt128(catalogue.description, radix: 16)!) + bytes(expected)
    #expect(UInt128(digest.covering(catalogue: catalogue).description, radix: 16) == hash(both))
  }
}
