import ObjectStores
import Testing

@Suite struct ObjectNameTests {
  @Test(
    arguments: [
      "catalogue.json", "catalogue.json.sig", "objects/ab12.base", "a/b/c-d_e.F9", "a..b",
      String(repeating: "n", count: 512),
    ])
  func `a name is a path of plain letters`(name: String) {
    #expect(ObjectName.isValid(name))
  }

  @Test(
    arguments: [
      "", "/a", "a/", "a//b", "..", "a/../b", "./a", ".publish.lock", "a/.tmp-1", "a b", "a%2Fb", "ä", "a\nb", "a?b",
      "a\\b",
      String(repeating: "n", count: 513),
    ])
  func `a text that leads elsewhere, or is a store's own file, is no name`(name: String) {
    #expect(!ObjectName.isValid(name))
  }

  @Test func `both stores refuse such a name before they do anything`() async throws {
    let type = ObjectType(mediaType: "text/plain", cacheControl: "")
    let location = try S3Location(bucket: "bucket")
    let stores: [any ObjectStore] = [
      DirectoryStore("/nowhere/at/all"),
      try S3Store(location, options: S3Options(endpoint: "http://127.0.0.1:1"), environment: [:]),
    ]
    for store in stores {
      await #expect(throws: ObjectStoreError.invalidName("../a")) { try await store.get("../a", limit: 1) }
      await #expect(throws: ObjectStoreError.invalidName("../a")) { try await store.put("../a", [], .none, type) }
      await #expect(throws: ObjectStoreError.invalidName("../a")) { try await store.delete("../a") }
      await #expect(throws: ObjectStoreError.invalidName("../a")) { try await store.exists("../a") }
    }
  }
}
