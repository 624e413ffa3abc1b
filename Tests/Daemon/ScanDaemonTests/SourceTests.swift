import Catalog
import CatalogSources
import DocumentFormat
import Foundation
import JSONFormat
import LogStore
import RowSources
import Testing
import WaitingTestSupport
import Workspace

@testable import ScanDaemon
import RowFiles

/// A daemon that keeps its catalogue from a file or a folder.
@Suite(.timeLimit(.minutes(10))) struct SourceTests {
  let root = TestRoot()
  let folder = FileManager.default.temporaryDirectory.appending(path: "source-\(UUID().uuidString)").path

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

  /// Writes a file that has stood still for so many seconds.
  private func write(_ text: String, _ name: String = "rows.csv", age: Double = 100) throws {
    let path = folder + "/" + name
    try FileManager.default.createDirectory(
      atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
  }

  private func daemon(_ name: String, mapping: RowMapping = RowMapping(), loss: Double? = nil) throws -> Daemon {
    let path = name.isEmpty ? folder : folder + "/" + name
    return try root.daemon(user: "ana", DaemonEnvironment()) { options in
      options.sync = SyncOptions(source: CatalogueSource(path: path, decoding: SourceDecoding(mapping: mapping)))
      options.sync?.maximumLoss = loss
    }
  }

  private func ids(_ daemon: Daemon) throws -> [String] {
    var ids: [String] = []
    try daemon.catalogue().forEachProduct { (view) throws(StoreError) in ids.append(view.id) }
    return ids.sorted()
  }

  private func problem(_ daemon: Daemon) throws -> DocumentValue? {
    try daemon.status().value["problems"]?.elements?.first { $0["code"]?.text == "source_failing" }
  }

  @Test func `a table of codes belongs to the source, and its changes are imported`() async throws {
    try write("id,barcode\n1,4006381333931\n2,4006381333948\n", "drop/rows.csv")
    try write("productId,code,quantity,unit\n1,14006381333938,24,case\nnobody,X,1,\n", "codes.csv")
    var source = CatalogueSource(path: folder + "/drop", decoding: SourceDecoding())
    try source.addCodes(MappingFile(json: Array("{\"codesFrom\":{\"file\":\"\(folder)/codes.csv\"}}".utf8)))
    let daemon = try root.daemon(user: "ana", DaemonEnvironment()) { [source] options in
      options.sync = SyncOptions(source: source)
    }
    var events = daemon.events.events(after: nil).makeAsyncIterator()
    let first = try await daemon.sync.syncNow()
    #expect(first.update.mode == .full && first.update.counts.codesWritten == 1)
    #expect(await events.next()?.value["sequence"]?.integer == 1)
    let scan = try daemon.look("14006381333938").match
    #expect(scan.products.map(\.id) == ["1"] && scan.package?.unit == "case" && scan.pieceCount == 24)
    // The products are as they were; the case has another size, and the other product a case too.
    try write(
      "productId,code,quantity,unit\n1,14006381333938,36,case\n2,14006381333945,6,inner\n", "codes.csv", age: 60)
    let second = try await daemon.sync.syncNow()
    #expect(second.update.sequence == 2 && second.update.counts.codesWritten == 2)
    #expect(try daemon.look("14006381333938").match.pieceCount == 36)
    #expect(try daemon.look("14006381333945").match.products.map(\.id) == ["2"])
    #expect(try await daemon.sync.syncNow().update.sequence == 2)
    // A fault names the table, and changes nothing.
    try write("productId,code,quantity\n1,14006381333938,none\n", "codes.csv", age: 50)
    await #expect(throws: (any Error).self) { try await daemon.sync.syncNow() }
    let told = try problem(daemon)?.json ?? ""
    #expect(told.contains("codes.csv") && told.contains("none"), "\(told)")
    #expect(try daemon.look("14006381333938").match.pieceCount == 36)
  }

  @Test func `a file is imported, and then only what changed in it`() async throws {
    var mapping = RowMapping()
    mapping.rules[.id] = RowMapping.Rule(columns: ["Nr"])
    try write("Nr;EAN\n1;11\n2;22\n")
    let daemon = try daemon("rows.csv", mapping: mapping)
    var events = daemon.events.events(after: nil).makeAsyncIterator()
    let first = try await daemon.sync.syncNow()
    #expect(first.update.mode == .full && first.update.sequence == 1)
    #expect(try ids(daemon) == ["1", "2"])
    #expect(try daemon.look("22").match.products.first?.id == "2")
    // Nothing has changed, or only the file's time: nothing is written, and there is no event.
    #expect(try await daemon.sync.syncNow().update.sequence == 1)
    try write("Nr;EAN\n1;11\n2;22\n", age: 70)
    #expect(try await daemon.sync.syncNow().update.sequence == 1)
    try write("Nr;EAN\n1;11\n3;33\n", age: 50)
    let second = try await daemon.sync.syncNow()
    #expect(second.update.mode == .incremental && second.update.sequence == 2)
    #expect(second.update.counts.productsUpserted == 1 && second.update.counts.productsDeleted == 1)
    #expect(try ids(daemon) == ["1", "3"])
    #expect(await events.next()?.value["sequence"]?.integer == 1)
    #expect(await events.next()?.value["sequence"]?.integer == 2)
    let sync = try #require(try daemon.status().value["sync"])
    #expect(sync["source"]?.text == folder + "/rows.csv" && sync["configured"] == .bool(true))
    #expect(sync["lastError"] == .null && sync["lastSuccess"]?.text != nil)
  }

  @Test func `a faulty file changes nothing, is named, and is read again when it is mended`() async throws {
    try write("id,weight\n1,2.5\n")
    let daemon = try daemon("rows.csv")
    _ = try await daemon.sync.syncNow()
    try write("id,weight\n1,2.5\n2,heavy\n", age: 50)
    for _ in 0..<2 {
      let error = await #expect(throws: SourceRefused.self) { try await daemon.sync.syncNow() }
      let words = try #require(error).description
      #expect(words.contains("sync.mapFile"))
      #expect(words.contains("rows.csv: Line 3") && words.contains("weight") && words.contains("heavy"), "\(words)")
      #expect(try problem(daemon)?["message"]?.text == words)
    }
    #expect(try problem(daemon)?["remedy"]?.text?.contains("import --dry-run") == true)
    #expect(try ids(daemon) == ["1"])
    try write("id,weight\n1,2.5\n2,3\n", age: 40)
    _ = try await daemon.sync.syncNow()
    #expect(try ids(daemon) == ["1", "2"] && problem(daemon) == nil)
  }

  @Test func `of a folder the newest complete file counts`() async throws {
    try write("id\na\n", "1.csv", age: 300)
    try write("id\nb\n", "2.csv", age: 200)
    try write("id\nc\n", "3.csv.part", age: 100)
    try write("id\nd\n", ".4.csv", age: 100)
    try write("read me", "notes.txt", age: 100)
    let daemon = try daemon("")
    _ = try await daemon.sync.syncNow()
    #expect(try ids(daemon) == ["b"])
    try write("{\"id\":\"e\"}\n", "0.ndjson", age: 90)
    _ = try await daemon.sync.syncNow()
    #expect(try ids(daemon) == ["e"])
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      try FileManager.default.removeItem(atPath: folder + "/" + name)
    }
    let error = await #expect(throws: SourceUnreadable.self) { try await daemon.sync.syncNow() }
    #expect(try #require(error).description.contains("there is no file with rows in the folder"))
    #expect(try ids(daemon) == ["e"])
  }

  @Test func `a file that was just written is read when it stands still`() async throws {
    try write("id\na\n", age: 0)
    let daemon = try daemon("rows.csv")
    let start = ContinuousClock.now
    _ = try await daemon.sync.syncNow()
    #expect(ContinuousClock.now - start >= .seconds(1))
    #expect(try ids(daemon) == ["a"])
  }

  @Test func `a share that is set holds for a small catalogue too`() async throws {
    let rows = (0..<10).map { "\($0)\n" }
    for (share, remaining) in [(nil, 2), (0.5, 10), (0.9, 2)] as [(Double?, Int)] {
      try write("id\n" + rows.joined())
      let daemon = try daemon("rows.csv", loss: share)
      _ = try await daemon.sync.syncNow()
      try write("id\n" + rows.prefix(2).joined(), age: 50)
      _ = try? await daemon.sync.syncNow()
      #expect(try daemon.catalogue().productCount == remaining, "\(share ?? .nan)")
    }
  }

  @Test func `a file that lacks too much is refused`() async throws {
    let rows = (0..<1500).map { "\($0)\n" }
    try write("id\n" + rows.joined())
    let daemon = try daemon("rows.csv")
    _ = try await daemon.sync.syncNow()
    try write("id\n" + rows.prefix(100).joined(), age: 50)
    let loss = await #expect(throws: SyncFailure.self) { try await daemon.sync.syncNow() }
    #expect(try #require(loss).description.contains("sync.maximumLoss"))
    try write("id\n", age: 40)
    await #expect(throws: (any Error).self) { try await daemon.sync.syncNow() }
    #expect(try daemon.catalogue().productCount == 1500)
  }

  @Test func `a catalogue that others have changed is compared again`() async throws {
    try write("id\na\n")
    let daemon = try daemon("rows.csv")
    _ = try await daemon.sync.syncNow()
    try root.fill("ana")
    #expect(try ids(daemon) != ["a"])
    _ = try await daemon.sync.syncNow()
    #expect(try ids(daemon) == ["a"])
  }

  @Test func `what cannot be read is said`() async throws {
    let daemon = try daemon("missing.csv")
    let error = await #expect(throws: SourceUnreadable.self) { try await daemon.sync.syncNow() }
    #expect(try #require(error).description == "\(folder)/missing.csv: cannot be read: no such file or folder")
    // The content may be whole in the former file; nothing has been changed.
    #expect(try daemon.catalogue().sequence == 0)
  }
}
