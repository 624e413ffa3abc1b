import Catalog
import CatalogFiles
import ObjectStores
import PublicationFormat
import Zstd

/// The rows of a state as NDJSON, compressed with zstd: for databases, notebooks and people. No head names them.
extension Publisher {
  /// The level of zstd: higher ones take minutes for a large catalogue.
  private static let textLevel = 9

  static func textName(_ sequence: UInt64) -> String { "ndjson/\(sequence).ndjson.zst" }

  /// The rows, a line for each, in the order of `dump`.
  static func text(of source: CatalogSnapshot) throws -> [UInt8] {
    let compressor = try ZstdCompressor(level: textLevel)
    return try compressor.compress { write in
      try RowExport(.ndjson).write(source) { try write($0) }
    }
  }

  /// Keeps what a head names, and the rows as NDJSON.
  static func keepNamed(by head: PublicationHead, _ outbox: inout [String: [UInt8]]) {
    let named = Set(objects(of: head) + [textName(head.sequence)])
    outbox = outbox.filter { named.contains($0.key) }
  }

  /// Writes the rows of the newest state as NDJSON, if that was not done when it was published.
  func addText(
    _ source: CatalogSnapshot, _ head: PublicationHead, _ state: inout PublisherState, _ report: inout PublishReport
  ) async throws {
    let name = Self.textName(head.sequence)
    guard options.writesNDJSON, state.objects[name] == nil else { return }
    let bytes = try Self.text(of: source)
    try await put(name, bytes, &report)
    state.objects[name] = options.now().timeIntervalSince1970
    state.sizes[name] = bytes.count
    try place.write(state)
  }
}
