// The example of Documentation/Embedding.md
import Catalog
import CatalogSync
import LogStore

/// Keeps a catalogue current from a server's answer, and answers scans from it.
func example(directory: String, answer: [UInt8], scans: [String]) throws -> [String] {
  let location = try StoreLocation.creating(directory, name: "catalogue")
  let writer = try CatalogWriter(location)
  defer { writer.close() }
  var update = try AnswerImport(writer, writer.snapshot().cursor.isEmpty ? .full : .incremental)
  try update.consume(answer.span)
  _ = try update.finish()  // durable, or thrown and nothing changed

  let catalogue = try writer.snapshot()  // any number of threads may use it
  return try scans.map { scan in
    let match = try catalogue.match(scan)
    return "\(match.kind.rawValue): \(match.products.map(\.name).joined(separator: ", "))"
  }
}
