import Barcodes
import CatalogRows
import CatalogSync
import LogStore
import ServerAnswers
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// The list of codes in a server's answers, from the answer's bytes to the catalogue.
@Suite struct CodeAnswersTests {
  /// A payload with products of these ids.
  ///
  /// - Parameter codes: The list of codes as JSON; `nil` for a payload without one.
  static func payload(_ ids: [String], codes: String? = nil, cursor: String = "1") -> [UInt8] {
    let rows = ids.map { #"{"id":"\#($0.drop { $0 == "-" })","delFlag":\#($0.hasPrefix("-") ? 1 : 0)}"# }
    return Array(
      (#"{"appProductVOList":[\#(rows.joined(separator: ","))],"appProductRelVOList":[]"#
        + (codes.map { #","appProductCodeVOList":\#($0)"# } ?? "") + #","updateTime":"\#(cursor)"}"#).utf8)
  }

  static func list(_ codes: [(product: String, code: String)]) -> String {
    "[" + codes.map { #"{"productId":"\#($0)","barcode":"\#($1)","quantity":24,"unit":"case"}"# }.joined(separator: ",")
      + "]"
  }

  @discardableResult
  private func apply(
    _ payload: [UInt8], _ mode: UpdateMode, to catalogue: TestCatalogue,
    _ change: (inout ImportOptions) -> Void = { _ in }
  ) throws -> ImportReport {
    var options = ImportOptions()
    options.allowsBarePayload = true
    change(&options)
    var answer = try AnswerImport(catalogue.writer, mode, options)
    do {
      for start in stride(from: 0, to: payload.count, by: 700) {
        try answer.consume(payload[start..<min(payload.count, start + 700)].span)
      }
      return try answer.finish()
    } catch {
      answer.cancel()
      throw error
    }
  }

  private func codes(_ catalogue: TestCatalogue) throws -> [String] {
    try catalogue.snapshot.codes.map { "\($0.productId):\($0.code)" }
  }

  @Test func `a full update has the codes of its list, and orphans as well`() throws {
    let catalogue = try TestCatalogue()
    let list = Self.list([("a", "1"), ("b", "2"), ("nowhere", "3")])
    let report = try apply(Self.payload(["a", "b"], codes: list), .full, to: catalogue)
    #expect(try codes(catalogue) == ["a:1", "b:2", "nowhere:3"])
    #expect(try catalogue.snapshot.orphanCodeCount() == 1)
    #expect(report.update.counts.codesWritten == 3 && report.update.counts.codesIgnored == 0)
    #expect(report.payload.hasCodes && report.payload.codes == 3)
    #expect(report.description.contains("codes 3 written, 0 deleted, 0 ignored;"), "\(report.description)")
    let code = try #require(try catalogue.snapshot.codes.first)
    #expect(code.quantity == ExactDecimal(24) && code.unit == "case")
    // An absent list and an empty one both are no codes.
    for (number, list) in [nil, "[]", "null"].enumerated() {
      try apply(Self.payload(["a", "b"], codes: Self.list([("a", "1")])), .full, to: catalogue)
      let report = try apply(Self.payload(["a", "b"], codes: list, cursor: "n\(number)"), .full, to: catalogue)
      #expect(try codes(catalogue).isEmpty && catalogue.snapshot.codeCount == 0)
      #expect(report.update.counts.codesDeleted == 1)
    }
    #expect(try !apply(Self.payload(["a"]), .full, to: catalogue).description.contains("codes"))
  }

  @Test func `an increment without the list leaves codes, with it replaces those of its products`() throws {
    let catalogue = try TestCatalogue()
    let list = Self.list([("a", "1"), ("a", "2"), ("b", "3"), ("c", "4")])
    try apply(Self.payload(["a", "b", "c"], codes: list), .full, to: catalogue)
    for absent in [nil, "null"] {
      let report = try apply(Self.payload(["a", "-c"], codes: absent, cursor: "2"), .incremental, to: catalogue)
      #expect(try codes(catalogue) == ["a:1", "a:2", "b:3"])
      #expect(report.update.counts.codesWritten == 0 && !report.payload.hasCodes)
    }
    // A list with a code of another product: the codes of `a` are those of the list, which has none.
    let other = try apply(
      Self.payload(["b", "d"], codes: Self.list([("d", "5"), ("a", "6"), ("nowhere", "7")]), cursor: "3"), .incremental,
      to: catalogue)
    #expect(try codes(catalogue) == ["a:1", "a:2", "d:5"])
    #expect(other.update.counts.codesWritten == 1 && other.update.counts.codesDeleted == 1)
    #expect(other.update.counts.codesIgnored == 2)
    let empty = try apply(Self.payload(["a"], codes: "[]", cursor: "4"), .incremental, to: catalogue)
    #expect(try codes(catalogue) == ["d:5"])
    #expect(empty.update.counts.codesDeleted == 2)
    #expect(try catalogue.snapshot.verify().isEmpty)
  }

  @Test func `codes that come before their products, and of a product that is deleted too`() throws {
    let catalogue = try TestCatalogue([Product("a"), Product("b")])
    let text =
      #"{"appProductCodeVOList":[{"productId":"a","barcode":"1"},{"productId":"b","barcode":"2"}],"#
      + #""appProductVOList":[{"id":"a"},{"id":"b"},{"id":"b","delFlag":1}],"appProductRelVOList":[],"updateTime":"2"}"#
    let report = try apply(Array(text.utf8), .incremental, to: catalogue)
    #expect(try codes(catalogue) == ["a:1"])
    #expect(report.update.counts.codesIgnored == 1)
  }

  @Test func `an increment with nothing but a list is no change, and no commit where that is asked for`() throws {
    let catalogue = try TestCatalogue([Product("a")])
    try apply(Self.payload(["a"], codes: Self.list([("a", "1")]), cursor: "1"), .incremental, to: catalogue)
    let before = try catalogue.snapshot.sequence
    let report = try apply(Self.payload([], codes: "[]", cursor: "1"), .incremental, to: catalogue) {
      $0.skipsUnchanged = true
    }
    #expect(try report.update.sequence == before && codes(catalogue) == ["a:1"])
    // A list of codes of which none is taken is counted, so there is something to say.
    let ignored = try apply(Self.payload([], codes: Self.list([("a", "9")]), cursor: "1"), .incremental, to: catalogue)
    {
      $0.skipsUnchanged = true
    }
    #expect(ignored.update.counts.codesIgnored == 1 && ignored.update.sequence == before + 1)
  }

  @Test func `codes count for the threshold`() throws {
    let catalogue = try TestCatalogue([Product("a")])
    let before = try CatalogDigest(catalogue.snapshot)
    let payload = Self.payload(["a"], codes: Self.list((0..<10).map { ("a", "c\($0)") }), cursor: "2")
    let error = #expect(throws: CatalogError.self) {
      try apply(payload, .incremental, to: catalogue) { $0.threshold = 10 }
    }
    guard case .needsFullUpdate(rows: 10, threshold: 10)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try CatalogDigest(catalogue.snapshot) == before)
    try apply(payload, .incremental, to: catalogue) { $0.threshold = 11 }
    #expect(try catalogue.snapshot.codeCount == 10)
  }

  @Test(arguments: [(1000, 0, true), (1001, 501, true), (1001, 500, false), (1001, 0, false)])
  func `a full update that loses most codes is refused`(all: Int, kept: Int, isTaken: Bool) throws {
    let ids = (0..<all).map { "p\($0)" }
    let rows = ids.map { (product: $0, code: "c" + $0) }
    for withList in kept == 0 ? [true, false] : [true] {
      let catalogue = try TestCatalogue()
      try apply(Self.payload(ids, codes: Self.list(rows)), .full, to: catalogue)
      let before = try CatalogDigest(catalogue.snapshot)
      let next = Self.payload(ids, codes: withList ? Self.list(Array(rows.prefix(kept))) : nil, cursor: "2")
      if isTaken {
        try apply(next, .full, to: catalogue)
      } else {
        let error = #expect(throws: CatalogError.self) { try apply(next, .full, to: catalogue) }
        guard case .wouldLoseCodes(lost: all - kept, of: all, share: 0.5)? = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect("\(error!)".contains("list of codes") && "\(error!)".contains("--accept-loss"))
        #expect(try CatalogDigest(catalogue.snapshot) == before && catalogue.snapshot.cursor == "1")
        try apply(next, .full, to: catalogue) { $0.lossLimit = .open }
      }
      #expect(try catalogue.snapshot.codeCount == kept)
    }
  }

  @Test func `a code that exceeds a limit of the format is skipped and told`() throws {
    let long = String(repeating: "7", count: 100_000)
    for mode in [UpdateMode.full, .incremental] {
      let catalogue = try TestCatalogue([Product("a")])
      let list = #"[{"id":"c1","productId":"a","barcode":"1"},{"id":"big","productId":"a","barcode":"\#(long)"}]"#
      let report = try apply(Self.payload(["a"], codes: list, cursor: "2"), mode, to: catalogue)
      #expect(try codes(catalogue) == ["a:1"])
      #expect(report.update.notices.skipped.first.map(\.id) == ["big"])
      #expect(report.update.notices.skipped.first.map(\.kind) == [.code])
    }
  }

  @Test func `fields of codes of another type are counted with the commit`() throws {
    let catalogue = try TestCatalogue()
    let list = #"[{"productId":"a","barcode":"1","quantity":"many","unit":5}]"#
    let report = try apply(Self.payload(["a"], codes: list), .full, to: catalogue)
    #expect(report.update.counts.defaulted == 2)
    #expect(report.payload.defaulted.byField.map(\.name) == ["code.quantity", "code.unit"])
    #expect(try catalogue.snapshot.codes.map(\.quantity) == [CodeRow.one])
  }

  // MARK: Keys that are kept

  @Test func `keys that are named are kept in extra, by both kinds of update`() throws {
    for mode in [UpdateMode.full, .incremental] {
      let catalogue = try TestCatalogue([Product("old")])
      let text =
        #"{"appProductVOList":[{"id":"a","price":1.50,"color":"red","extra":{"shelf":"A7"}},{"id":"b","color":null}],"#
        + #""appProductRelVOList":[],"updateTime":"2"}"#
      try apply(Array(text.utf8), mode, to: catalogue) { $0.extraKeys = ["price", "stock"] }
      let snapshot = try catalogue.snapshot
      #expect(try snapshot.product(id: "a")?.extra.json == #"{"price":1.50,"shelf":"A7"}"#)
      #expect(try snapshot.product(id: "b")?.extra.isEmpty == true)
      #expect(try snapshot.verify().isEmpty)
      try apply(Array(text.utf8), mode, to: catalogue)
      #expect(try catalogue.snapshot.product(id: "a")?.extra.json == #"{"shelf":"A7"}"#)
    }
    #expect(ImportOptions.isField("barcode") && ImportOptions.isField("extra") && !ImportOptions.isField("price"))
  }

  // MARK: The synchroniser

  /// A server of a script.
  private final class Server: CatalogTransport {
    let answer: (String) -> [UInt8]
    var cursors: [String] = []

    init(_ answer: @escaping (String) -> [UInt8]) { self.answer = answer }

    nonisolated(nonsending) func fetchAnswer<State: ~Copyable>(
      cursor: String, into makeState: () throws -> State, onChunk: (inout State, Span<UInt8>) throws -> Void
    ) async throws -> State {
      cursors.append(cursor)
      var state = try makeState()
      try onChunk(&state, answer(cursor).span)
      return state
    }
  }

  @Test func `a synchronisation takes codes, and asks for everything when there are too many`() async throws {
    let folder = try TemporaryDirectory()
    let location = StoreLocation.test(folder.directory, name: "catalogue")
    let many = Self.list((0..<30).map { ("a", "c\($0)") })
    let server = Server { cursor in
      switch cursor {
      case "": Self.payload(["a", "b"], codes: many, cursor: "full")
      case "full": Self.payload(["a"], codes: Self.list([("a", "new")]), cursor: "2")
      case "2": Self.payload(["a", "b"], cursor: "3")
      default: Self.payload(["a"], codes: many, cursor: "4")
      }
    }
    var synchronizer = Synchronizer(server)
    synchronizer.options.allowsBarePayload = true
    synchronizer.options.threshold = 30
    var last: SyncProgress?
    synchronizer.onProgress = { last = $0 }
    func codes() throws -> Int { try CatalogReader.open(location)?.snapshot().codeCount ?? -1 }
    #expect(try await synchronizer.run(SyncDestination(location)).update.mode == .full)
    #expect(last?.rowsWritten == 32)
    #expect(try codes() == 30)
    #expect(try await synchronizer.run(SyncDestination(location)).update.counts.codesDeleted == 30)
    #expect(try codes() == 1)
    _ = try await synchronizer.run(SyncDestination(location))
    #expect(try codes() == 1)
    #expect(try await synchronizer.run(SyncDestination(location)).update.mode == .full)
    #expect(server.cursors == ["", "full", "2", "3", ""])
    #expect(try codes() == 30)
  }
}
