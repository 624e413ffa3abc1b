import Bytes
import DocumentFormat
import Essentials

/// A position in the results of a query, from which the next page goes on.
///
/// It names a document by its place in the order and its ID, not by its place in the file. So it stays valid while
/// other commits add, change and delete documents: the pages of a query have each document once that is not moved in
/// the order meanwhile. It belongs to queries with the same order.
///
/// Its text form has letters, digits, hyphens and underscores. It contains values of the document.
public struct QueryCursor: Sendable, Hashable, LosslessStringConvertible {
  /// The version of the text form, which begins it.
  private static let version: UInt8 = 1
  private static let headByteCount = 5

  /// The fingerprint of the order.
  private let fingerprint: UInt32
  /// The sort key of the document, followed by its encoded ID.
  let position: [UInt8]

  init(_ ordering: Ordering, position: [UInt8]) {
    fingerprint = Self.fingerprint(ordering)
    self.position = position
  }

  /// Creates a cursor from its text form; `nil` if it is not one.
  public init?(_ description: String) {
    var base64 = description.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
    base64 += repeatElement("=", count: (4 - base64.count % 4) % 4)
    guard let data = Data(base64Encoded: String(base64)), data.count > Self.headByteCount,
      data.first == Self.version
    else { return nil }
    let bytes = Array(data)
    fingerprint = bytes.rawSpan.u32(at: 1)
    position = Array(bytes[Self.headByteCount...])
    if self.description != description { return nil }
  }

  /// The text form, for commands and URLs.
  public var description: String {
    var writer = ByteWriter()
    writer.put(fingerprint)
    let base64 = Data([Self.version] + writer.bytes + position).base64EncodedString()
    return String(base64.compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
  }

  /// Checks that the cursor belongs to queries with this order.
  ///
  /// - Throws: `DocumentStoreError.cursor`.
  func check(_ ordering: Ordering) throws {
    guard fingerprint == Self.fingerprint(ordering), let key = OrderedKey.parts(ofSortKey: position, ordering),
      key.byteCount < position.count
    else { throw DocumentStoreError.cursor(order: ordering.description) }
  }

  private static func fingerprint(_ ordering: Ordering) -> UInt32 {
    let text = Array(
      ordering.terms.map { ($0.isDescending ? "-" : "") + $0.path.description }.joined(separator: ", ").utf8)
    return UInt32(truncatingIfNeeded: KeyHash.of(text.rawSpan, HashSeed(0, 0)))
  }
}

/// A page of the results of a query, and where the next one begins.
public struct QueryPage<Document: Codable & Identifiable & Sendable>: Sendable
where Document.ID: Codable & Sendable {
  /// The documents.
  public let results: QueryResults<Document>
  /// The position after the last document; `nil` if there is no further document now.
  public let next: QueryCursor?
}

extension Query {
  /// A page of the matching documents: the first ``limit(_:)`` after a position. Documents that are equal in the order
  /// are in the order of their encoded IDs.
  ///
  ///     var cursor: QueryCursor?
  ///     repeat {
  ///       let page = try query.limit(20).page(after: cursor)
  ///       …
  ///       cursor = page.next
  ///     } while cursor != nil
  ///
  /// - Parameters:
  ///   - cursor: The position after which the page begins, ``QueryPage/next`` of the page before it; `nil` for the first
  ///     page. ``offset(_:)`` counts from there.
  ///   - snapshot: The commit to read; `nil` for the last one.
  /// - Throws: `DocumentStoreError.cursor` if the cursor belongs to another order; as ``results(in:)``.
  /// - Complexity: With an ordered index of the order, the page and the documents that are equal to its last one in the
  ///   order; otherwise as ``results(in:)``.
  public func page(
    after cursor: QueryCursor? = nil, in snapshot: DocumentSnapshot? = nil
  ) throws -> QueryPage<Document> {
    var request = try request()
    request.isPaged = true
    request.after = cursor
    let run = try QueryRun(snapshot ?? collection.store.snapshot(), collection.table, request)
    return try collection.store.traced(.query, collection.name) { trace in
      let page = try run.page(&trace)
      return QueryPage(results: QueryResults(collection, run.snapshot, page.rows), next: page.next)
    }
  }
}
