import CatalogSources
import Foundation
import Testing

@testable import CatalogOrigin

/// An origin that serves the newest file of a folder.
@Suite struct OriginFolderTests {
  let folder: TestFolder
  let log = LogRecorder()

  init() throws { folder = try TestFolder() }

  /// Writes a file that was changed so many seconds ago.
  private func write(_ text: String, _ name: String, age: Double) throws {
    try FileManager.default.createDirectory(atPath: drop, withIntermediateDirectories: true)
    let path = drop + "/" + name
    try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
  }

  private var drop: String { folder.path("drop") }

  private func store(state: Bool = false) async throws -> OriginStore {
    try await OriginStore(
      source: CatalogueSource(path: drop, decoding: SourceDecoding()), state: state ? folder.path("state") : nil,
      clock: OriginClock { 1_767_323_045 }, logger: log.logger, sleep: { _ in })
  }

  private func ids(_ store: OriginStore) throws -> [String] {
    try store.answer(cursor: "").collected().products.filter { $0.delFlag == 0 }.map(\.id)
  }

  @Test func `the newest complete file is served, and then a newer one`() async throws {
    try write("id\na\n", "9.csv", age: 300)
    try write("id\nb\n", "1.csv", age: 200)
    try write("id\nx\n", "2.csv.tmp", age: 100)
    try write("id\nx\n", ".3.csv", age: 100)
    try write("id\nx\n", "4.pdf", age: 100)
    let store = try await store()
    #expect(try ids(store) == ["b"])
    try write("id\nb\nc\n", "5.csv.part", age: 50)
    #expect(try await store.reloadIfChanged() == nil)
    try FileManager.default.moveItem(atPath: drop + "/5.csv.part", toPath: drop + "/5.csv")
    #expect(try await store.reloadIfChanged() == .init(inserted: 1))
    #expect(try ids(store) == ["b", "c"])
  }

  @Test func `a file with an error is named with its line, and loses nothing`() async throws {
    try write("id,weight\na,1\n", "1.csv", age: 300)
    let store = try await store()
    try write("id,weight\na,1\nb,heavy\n", "2.csv", age: 200)
    for _ in 0..<4 { #expect(try await store.reloadIfChanged() == nil) }
    #expect(try ids(store) == ["a"])
    let errors = log.events.filter { $0.level == .error }.map(\.text)
    #expect(errors.count == 1 && errors[0].contains("2.csv: ") && errors[0].contains("Line 3"), "\(errors)")
    try write("id,weight\na,1\nb,2\n", "2.csv", age: 100)
    #expect(try await store.reloadIfChanged() == .init(inserted: 1))
  }

  @Test func `after a restart deletions are known, and a newer file with an error is passed over`() async throws {
    try write("id,weight\na,1\nb,1\n", "1.csv", age: 300)
    let first = try await store(state: true)
    let cursor = try first.answer(cursor: "").updateTime
    try write("id,weight\nb,1\n", "2.csv", age: 200)
    try write("id,weight\nb,heavy\n", "3.csv", age: 100)
    let second = try await store(state: true)
    #expect(try ids(second) == ["b"])
    #expect(log.events.contains { $0.level == .error && $0.text.contains("3.csv") })
    let rows = try second.answer(cursor: cursor).collected().products
    #expect(rows.map(\.id) == ["a"] && rows.map(\.delFlag) == [1])
  }

  @Test func `a folder without a file is an error`() async throws {
    try write("", "notes.txt", age: 100)
    let error = await #expect(throws: OriginError.self) { try await store() }
    #expect(error?.description.contains("there is no file with rows in the folder") == true)
  }
}
