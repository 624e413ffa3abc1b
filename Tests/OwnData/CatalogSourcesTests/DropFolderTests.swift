import CatalogSources
import Foundation
import Testing

@Suite struct DropFolderTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "drop-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func drop(_ name: String, secondsAgo: Double) throws {
    let file = folder.appending(path: name)
    try Data("id\n1\n".utf8).write(to: file)
    let date = Date(timeIntervalSinceNow: -secondsAgo)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
  }

  private func names(_ folder: DropFolder) throws -> [String] {
    try folder.files().map { URL(filePath: $0.path).lastPathComponent }
  }

  @Test func `complete files of rows count, the newest first`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try drop("old.csv", secondsAgo: 100)
    try drop("new.ndjson", secondsAgo: 10)
    for name in [".hidden.csv", "half.csv.part", "half.tmp", "copy.csv~", "notes.pdf"] { try drop(name, secondsAgo: 1) }
    try FileManager.default.createDirectory(at: folder.appending(path: "sub.csv"), withIntermediateDirectories: true)
    #expect(try names(DropFolder(path: folder.path + "/")) == ["new.ndjson", "old.csv"])
    // With a known format the extension does not matter.
    #expect(try names(DropFolder(path: folder.path, format: .csv)) == ["notes.pdf", "new.ndjson", "old.csv"])
  }

  @Test func `of two files with one time the greater name counts`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let date = Date(timeIntervalSince1970: 1_700_000_000)
    for name in ["a.csv", "b.csv"] {
      try drop(name, secondsAgo: 0)
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder.appending(path: name).path)
    }
    #expect(try names(DropFolder(path: folder.path)) == ["b.csv", "a.csv"])
  }

  @Test func `a folder without files, or none, is an error that says what to do`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let empty = #expect(throws: SourceUnreadable.self) { try DropFolder(path: folder.path).files() }
    #expect(empty?.description.contains("drop one that ends in .csv") == true)
    let missing = #expect(throws: SourceUnreadable.self) { try DropFolder(path: folder.path + "/none").files() }
    #expect(missing?.reason == "no such file or folder")
    #expect(DropFolder.exists(folder.path) && !DropFolder.exists(folder.path + "/none"))
  }
}
