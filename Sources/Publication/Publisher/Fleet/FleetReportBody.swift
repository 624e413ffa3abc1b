import DocumentFormat
import Essentials
import Gzip
import HTTPServer
import JSONFormat

/// The reports in the body of a request, in any of the forms that an upload queue sends: one report, a JSON array of
/// reports, or a report a line; plain or gzip.
struct FleetReportBody: Sendable {
  /// The most bytes of a body, before and after it is decompressed: several hundred reports.
  static let byteLimit = 256 << 10
  /// The most reports of a body.
  static let reportLimit = 4096

  /// What each report is, or why it is refused, in their order.
  let reports: [Result<FleetReport, FleetReportRefusal>]
  /// Whether the body is a batch, whose answer lists the reports that are refused.
  let isBatch: Bool

  /// Reads a body.
  ///
  /// - Parameters:
  ///   - bytes: The body as it arrived.
  ///   - encoding: The value of `Content-Encoding`, if there is one.
  ///   - type: The value of `Content-Type`, if there is one.
  ///   - received: The time now.
  /// - Throws: `ErrorResponse` for a body that cannot be divided into reports.
  init(
    _ bytes: [UInt8], encoding: String?, type: String?, received: Date
  ) throws(ErrorResponse) {
    let text = try Self.unpacked(bytes, encoding)
    let media = (type ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
    if media.hasPrefix("multipart/") {
      throw ErrorResponse(
        .unsupportedMediaType, "unsupportedMediaType",
        "send reports as JSON, an array of JSON, or NDJSON, not as a form")
    }
    let lines = text.split(separator: UInt8(ascii: "\n")).filter { line in
      !line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    }
    if lines.isEmpty { throw .badRequest("the body is empty: send a report") }
    func batch() throws(ErrorResponse) -> [Result<FleetReport, FleetReportRefusal>] {
      try Self.checkCount(lines.count)
      return lines.map { Self.report($0, received) }
    }
    if media == "application/x-ndjson" || media == "application/jsonl" {
      isBatch = true
      reports = try batch()
      return
    }
    let value: DocumentValue
    do { value = try DocumentValue(json: text.span) } catch {
      // Several lines, none of which is a part of one value, are a batch that does not say so.
      guard lines.count > 1, (try? DocumentValue(json: Array(lines[0]).span)) != nil else {
        throw .badRequest("the body is no JSON: \(error)")
      }
      isBatch = true
      reports = try batch()
      return
    }
    if case .array(let values) = value {
      guard !values.isEmpty else { throw .badRequest("the array is empty: send a report") }
      try Self.checkCount(values.count)
      isBatch = true
      reports = values.map { Self.report($0, received) }
    } else {
      isBatch = false
      reports = [Self.report(value, received)]
    }
  }

  private static func checkCount(_ count: Int) throws(ErrorResponse) {
    if count > reportLimit {
      throw ErrorResponse(
        .contentTooLarge, "tooManyReports", "the body has \(count) reports; send at most \(reportLimit) at once")
    }
  }

  private static func report(_ line: ArraySlice<UInt8>, _ received: Date) -> Result<FleetReport, FleetReportRefusal> {
    do throws(JSONError) { return report(try DocumentValue(json: Array(line).span), received) } catch {
      return .failure(FleetReportRefusal(status: 400, message: "the line is no JSON: \(error)"))
    }
  }

  private static func report(_ value: DocumentValue, _ received: Date) -> Result<FleetReport, FleetReportRefusal> {
    do throws(FleetReportError) { return .success(try FleetReport(value, received: received)) } catch {
      return .failure(FleetReportRefusal(status: 422, message: "\(error)"))
    }
  }

  private static func unpacked(_ bytes: [UInt8], _ encoding: String?) throws(ErrorResponse) -> [UInt8] {
    switch (encoding ?? "identity").lowercased() {
    case "identity", "": return bytes
    case "gzip", "x-gzip": break
    default:
      throw ErrorResponse(
        .unsupportedMediaType, "unsupportedEncoding", "send the body as it is, or with Content-Encoding: gzip",
        headers: [.acceptEncoding: "gzip"])
    }
    do throws(GzipError) {
      var unpacked: [UInt8] = []
      var inflater = try GzipInflater()
      let limits = GzipInflater.Limits(byteCount: byteLimit, ratio: 0, absoluteByteCount: byteLimit)
      try inflater.consume(bytes, count: bytes.count, limits: limits, failure: { $0 }) { (piece, _) throws(GzipError) in
        for index in piece.indices { unpacked.append(piece[index]) }
      }
      try inflater.finish()
      return unpacked
    } catch {
      switch error {
      case .tooLarge: throw .bodyTooLarge(limit: byteLimit)
      case .outOfMemory: throw .unavailable("outOfMemory", "there is no memory for the body now; send it again later")
      case .notGzip: throw .badRequest("Content-Encoding is gzip, and the body is not; send it without that field")
      case .endsEarly, .trailingData, .damaged:
        throw .badRequest("the gzip of the body is damaged or cut off; send it again")
      }
    }
  }
}

/// Why one report of a body is not kept, as the answer to a batch says it.
struct FleetReportRefusal: Error, Sendable, Equatable {
  var status: Int
  var message: String
}
