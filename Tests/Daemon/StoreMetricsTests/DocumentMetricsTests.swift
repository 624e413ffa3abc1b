import DocumentFormat
import StoreMetrics
import Documents
import LogStore
import MetricsTestKit
import StoreTestSupport
import Testing

@Suite struct DocumentMetricsTests {
  private struct Note: Codable, Identifiable, Equatable {
    let id: Int
    var text: String
    var length: Int
  }

  private let metrics = TestMetrics()

  private func notes(_ dimensions: [(String, String)] = []) throws -> DocumentCollection<Note> {
    var options = DocumentStore.Options()
    options.trace = DocumentMetrics.tracer(factory: metrics, dimensions: dimensions)
    let location = StoreLocation.test(
      SimulatedDevice().directory, name: "documents", environment: FixedEnvironment().environment())
    return try DocumentStore.open(location, options: options).collection("notes", indexes: [Index(\.text)])
  }

  private func dimensions(_ operation: Trace.Operation) -> [(String, String)] {
    [("collection", "notes"), ("operation", operation.rawValue)]
  }

  @Test func `operations are timed and counted by collection and kind`() throws {
    let notes = try notes()
    try notes.insert(contentsOf: (0..<10).map { Note(id: $0, text: "text \($0 % 2)", length: $0) })
    for id in 0..<3 { #expect(try notes.get(id) != nil) }
    #expect(try notes.get(99) == nil)
    #expect(try notes.query(\.text == "text 1").fetch().count == 5)
    #expect(try notes.query(\.length > 6).count() == 3)
    #expect(throws: DocumentStoreError.self) { try notes.insert(Note(id: 0, text: "", length: 0)) }

    let label = "documents_operation_seconds"
    #expect(try metrics.expectTimer(label, dimensions(.get)).values.count == 4)
    #expect(try metrics.expectTimer(label, dimensions(.insert)).values.count == 2, "one of them failed")
    #expect(try metrics.expectTimer(label, dimensions(.query)).values.allSatisfy { $0 > 0 })
    #expect(try metrics.expectCounter("documents_read_total", dimensions(.get)).values == [1, 1, 1])
    #expect(try metrics.expectCounter("documents_read_total", dimensions(.query)).values == [5])
    #expect(try metrics.expectCounter("documents_read_total", dimensions(.count)).values == [10])
    #expect(try metrics.expectCounter("documents_affected_total", dimensions(.insert)).values == [10])
    #expect(try metrics.expectCounter("documents_scans_total", dimensions(.query)).values.isEmpty)
    #expect(try metrics.expectCounter("documents_scans_total", dimensions(.count)).values == [1])
  }

  @Test func `dimensions of the program come before those of the operation`() throws {
    let notes = try notes([("user", "ann")])
    try notes.insert(Note(id: 1, text: "one", length: 3))
    let timer = try metrics.expectTimer("documents_operation_seconds", [("user", "ann")] + dimensions(.insert))
    #expect(timer.values.count == 1)
  }
}
