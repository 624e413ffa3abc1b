public import CatalogRows
import Gzip
internal import JSONFormat

/// An encoder of rows in the format of a server's response, which ``ResponseDecoder`` reads.
///
///     let encoder = PayloadEncoder()
///     for row in relations { encoder.relation(row) }
///     for row in products { encoder.product(row) }
///     encoder.finish(updateTime: "2023-05-13 10:00:00")
///     send(encoder.takeOutput())
///
/// Take the output often to keep it small; this is allowed at any time. The rows of each list must be contiguous: one
/// list is closed when the first row of another is written. A list of products or relations without rows is written as an
/// empty one; a list of codes without rows only if ``writesCodes`` says so.
public final class PayloadEncoder: RowSink {
  /// The form of the output.
  public enum Form: Sendable, Equatable {
    /// `{message, code, data}` with `code` 1000; the message is escaped as needed.
    case envelope(message: String)
    /// The compressed payload alone.
    case gzip
    /// The payload's JSON text.
    case plain
  }

  /// Whether the answer has a list of codes although none is written. An answer without that list says nothing about
  /// codes, one with an empty list that its products have none. Set it before ``finish(updateTime:)``.
  public var writesCodes = false

  /// The size of the JSON text that is compressed at once.
  private static let chunkByteCount = 64 << 10

  private let form: Form
  private let deflater: GzipDeflater
  private var base64 = Base64Encoder()
  private var json: [UInt8] = []
  private var output: [UInt8] = []
  private var openList: RowList?
  private var closedLists: Set<RowList> = []
  private var isFinished = false
  /// The number of bytes of JSON text written so far.
  public private(set) var unpackedByteCount = 0

  /// Creates an encoder of one answer.
  ///
  /// - Parameters:
  ///   - form: The form of the output: a response, or a part of one.
  ///   - level: The zlib compression level, from -1 (zlib's default) to 9.
  public init(form: Form = .envelope(message: "请求成功"), level: Int = 6) {
    self.form = form
    deflater = GzipDeflater(level: Int32(level))
    if case .envelope(let message) = form {
      output += "{\"message\":".utf8
      JSONWriter.append(text: message, to: &output)
      output += ",\"code\":1000,\"data\":\"".utf8
    }
    json.append(UInt8(ascii: "{"))
  }

  /// Writes one product. All products must be written contiguously.
  public func product(_ row: borrowing ProductRow) {
    enter(.products)
    RowJSON.append(row, to: &json)
    if json.count >= Self.chunkByteCount { flush(isLast: false) }
  }

  /// Writes one relation. All relations must be written contiguously.
  public func relation(_ row: borrowing RelationRow) {
    enter(.relations)
    RowJSON.append(row, to: &json)
    if json.count >= Self.chunkByteCount { flush(isLast: false) }
  }

  /// Writes one code. All codes must be written contiguously.
  public func code(_ row: borrowing CodeRow) {
    enter(.codes)
    RowJSON.append(row, to: &json)
    if json.count >= Self.chunkByteCount { flush(isLast: false) }
  }

  /// Completes the response.
  public func finish(updateTime: String) {
    precondition(!isFinished, "finish(updateTime:) must be called once")
    closeList()
    for list in [RowList.relations, .products] + (writesCodes ? [.codes] : []) where !closedLists.contains(list) {
      open(list)
      closeList()
    }
    json += ",\"updateTime\":".utf8
    JSONWriter.append(text: updateTime, to: &json)
    json.append(UInt8(ascii: "}"))
    flush(isLast: true)
    isFinished = true
    guard case .envelope = form else { return }
    base64.finish(into: &output)
    output += "\"}".utf8
  }

  /// Returns the bytes that are ready and have not been taken yet.
  public func takeOutput() -> [UInt8] {
    defer { output.removeAll() }
    return output
  }

  private func enter(_ list: RowList) {
    precondition(!isFinished, "a row must not be written after finish(updateTime:)")
    guard openList != list else {
      json.append(UInt8(ascii: ","))
      return
    }
    precondition(!closedLists.contains(list), "the rows of a list must be written together")
    closeList()
    open(list)
  }

  private func open(_ list: RowList) {
    if !closedLists.isEmpty { json.append(UInt8(ascii: ",")) }
    json += "\"\(list.rawValue)\":[".utf8
    openList = list
  }

  private func closeList() {
    guard let list = openList else { return }
    json.append(UInt8(ascii: "]"))
    closedLists.insert(list)
    openList = nil
  }

  private func flush(isLast: Bool) {
    unpackedByteCount += json.count
    defer { json.removeAll(keepingCapacity: true) }
    if case .plain = form {
      output += json
      return
    }
    deflater.consume(json.span, isLast: isLast) { packed in
      if case .gzip = form {
        for index in packed.indices { output.append(packed[index]) }
      } else {
        base64.encode(packed, into: &output)
      }
    }
  }
}
