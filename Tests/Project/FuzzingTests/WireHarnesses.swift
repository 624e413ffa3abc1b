import CatalogRows
import Gzip
@testable import ServerAnswers

/// Keeps every row as the line of a dump.
struct Collector: RowSink {
  var lines: [[UInt8]] = []

  mutating func product(_ row: borrowing ProductRow) {
    var json: [UInt8] = []
    RowJSON.appendDump(row, to: &json)
    lines.append(json)
  }

  mutating func relation(_ row: borrowing RelationRow) {
    var json: [UInt8] = []
    RowJSON.appendDump(row, to: &json)
    lines.append(json)
  }

  mutating func code(_ row: borrowing CodeRow) {
    var json: [UInt8] = []
    RowJSON.appendDump(row, to: &json)
    lines.append(json)
  }
}

/// What came of a payload: rows and counts, or a refusal.
///
/// Two refusals are equal, as which of several reasons is found first may depend on the pieces.
private struct Reading: Equatable {
  var lines: [[UInt8]] = []
  var summary: PayloadSummary?
}

/// A server's answer: envelope, base64, gzip, payload. The first byte chooses the limits, the next four the pieces.
@Sendable func fuzzResponse(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let sizes = input.bytes(4)
  var limits = WireLimits(nestingDepth: choice & 1 == 0 ? 512 : 3)
  if choice & 2 != 0 { limits.tokenByteCount = 40 }
  if choice & 4 != 0 { limits.absoluteByteCount = 300 }
  let answer: [UInt8]
  switch choice >> 4 & 3 {
  case 0: answer = Array(input.rest)
  case 1: answer = envelope(around: Array(input.rest))
  default: answer = envelope(around: packed(Array(input.rest), level: choice & 0x80 == 0 ? 0 : 6))
  }
  func read(_ sizes: [UInt8]) -> Reading {
    var sink = Collector()
    do throws(WireError) {
      var decoder = try ResponseDecoder(limits: limits, allowsBarePayload: choice & 8 != 0)
      try inPieces(answer, sizes) { (piece) throws(WireError) in try decoder.consume(piece, into: &sink) }
      return Reading(lines: sink.lines, summary: try decoder.finish())
    } catch {
      _ = error.description
      return Reading()
    }
  }
  let whole = read([])
  require(read(sizes) == whole, "answer: pieces of \(sizes) read differently")
  guard let summary = whole.summary else { return }
  require(
    summary.products + summary.relations + summary.codes == whole.lines.count, "answer: the count of rows is wrong")
  require(summary.bytesIn == answer.count, "answer: the count of bytes is wrong")
}

/// The JSON of a payload, and the way back: what was decoded, encoded and decoded again is the same.
@Sendable func fuzzPayload(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let sizes = input.bytes(4)
  let payload = Array(input.rest)
  // A part of the runs keeps keys that the rows may have.
  let extraKeys: Set<String> = sizes.first.map { $0 & 1 == 1 } == true ? ["price", "x", "", "é"] : []
  func read<Sink: RowSink>(_ payload: [UInt8], _ sizes: [UInt8], _ sink: inout Sink) -> PayloadSummary? {
    do throws(WireError) {
      var decoder = PayloadDecoder(extraKeys: extraKeys)
      try inPieces(payload, sizes) { (piece) throws(WireError) in try decoder.consume(piece, into: &sink) }
      return try decoder.finish()
    } catch {
      _ = error.description
      return nil
    }
  }
  var whole = Collector()
  let summary = read(payload, [], &whole)
  var cut = Collector()
  require(read(payload, sizes, &cut) == summary, "payload: pieces of \(sizes) read differently")
  guard let summary else { return }
  require(cut.lines == whole.lines, "payload: pieces of \(sizes) give other rows")
  var again = Collector()
  var encoder = ListEncoder()
  _ = read(payload, [], &encoder)
  let second = read(encoder.payload(summary), sizes, &again)
  require(second?.hasCodes == summary.hasCodes, "payload: a list of codes came or went")
  require(second?.updateTime.utf8.elementsEqual(summary.updateTime.utf8) == true, "payload: another updateTime")
  require(second?.defaulted.total == 0, "payload: what was encoded has fields of the wrong type")
  require(again.lines == whole.lines, "payload: other rows when encoded and decoded")
}

/// Encodes rows again: each list in its order, and the lists in the order of their first rows.
private struct ListEncoder: RowSink {
  private var products: [ProductRow] = []
  private var relations: [RelationRow] = []
  private var codes: [CodeRow] = []
  /// The lists that have rows, in the order in which they came; the lists of a payload are never mixed.
  private var order: [RowList] = []

  private mutating func note(_ list: RowList) { if order.last != list { order.append(list) } }

  mutating func product(_ row: borrowing ProductRow) {
    note(.products)
    products.append(copy row)
  }

  mutating func relation(_ row: borrowing RelationRow) {
    note(.relations)
    relations.append(copy row)
  }

  mutating func code(_ row: borrowing CodeRow) {
    note(.codes)
    codes.append(copy row)
  }

  func payload(_ summary: PayloadSummary) -> [UInt8] {
    let encoder = PayloadEncoder(form: .plain)
    encoder.writesCodes = summary.hasCodes
    for list in order {
      switch list {
      case .products: for row in products { encoder.product(row) }
      case .relations: for row in relations { encoder.relation(row) }
      case .codes: for row in codes { encoder.code(row) }
      }
    }
    encoder.finish(updateTime: summary.updateTime)
    return encoder.takeOutput()
  }
}

/// Base64 in pieces, against a reading of the whole by the grammar, and the way back.
@Sendable func fuzzBase64(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let sizes = input.bytes(4)
  let text = Array(input.rest)
  func decode(_ text: [UInt8], _ sizes: [UInt8]) -> [UInt8]? {
    var decoder = Base64Decoder()
    var result: [UInt8] = []
    do throws(WireError) {
      try inPieces(text, sizes) { (piece) throws(WireError) in
        try decoder.decode(piece, offset: 0)
        result += decoder.bytes.prefix(decoder.byteCount)
      }
      try decoder.finish(offset: 0)
      return result
    } catch { return nil }
  }
  let whole = decode(text, [])
  require(whole == Base64Grammar.decode(text), "base64: not as the grammar has it")
  require(decode(text, sizes) == whole, "base64: pieces of \(sizes) read differently")
  guard let whole else { return }
  var encoder = Base64Encoder()
  var written: [UInt8] = []
  inPieces(whole, sizes) { encoder.encode($0, into: &written) }
  encoder.finish(into: &written)
  require(decode(written, sizes) == whole, "base64: other bytes when encoded and decoded")
}

/// Base64 read the slow way: RFC 4648 after dropping what is not in its alphabet.
private enum Base64Grammar {
  static func decode(_ text: [UInt8]) -> [UInt8]? {
    var symbols = text.filter { value($0) != nil || $0 == UInt8(ascii: "=") }
    guard symbols.count % 4 == 0 else { return nil }
    var padding = 0
    while symbols.last == UInt8(ascii: "=") {
      symbols.removeLast()
      padding += 1
    }
    guard padding <= 2 else { return nil }
    var bits = 0
    var count = 0
    var result: [UInt8] = []
    for symbol in symbols {
      guard let value = value(symbol) else { return nil }
      bits = (bits << 6 | value) & 0xFFFF
      count += 6
      if count >= 8 {
        count -= 8
        result.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    return result
  }

  private static func value(_ byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(byte) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(byte) - 97 + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte) - 48 + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}

/// Gzip members in pieces: the same bytes or a refusal, however they are cut; and what is packed is unpacked.
@Sendable func fuzzGzip(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let sizes = input.bytes(4)
  let limits = GzipInflater.Limits(byteCount: 256 << 20, ratio: 100, absoluteByteCount: 1 << 20)
  func unpack(_ packed: [UInt8], _ sizes: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = []
    do throws(GzipError) {
      // A small buffer, so that output that does not fit is met often.
      var inflater = try GzipInflater(outputByteCount: 256)
      try inPieces(packed, sizes) { (piece) throws(GzipError) in
        try inflater.consume(array(piece), count: piece.count, limits: limits, failure: { $0 }) {
          (chunk, _) throws(GzipError) in
          result += array(chunk)
        }
      }
      try inflater.finish()
      return result
    } catch {
      return nil
    }
  }
  let rest = Array(input.rest)
  let whole = unpack(rest, [])
  require(unpack(rest, sizes) == whole, "gzip: pieces of \(sizes) unpack differently")
  if choice & 1 != 0 {
    let members = packed(rest, level: Int32(choice >> 4) % 10) + packed(sizes, level: 0)
    require(unpack(members, sizes) == rest + sizes, "gzip: other bytes when packed and unpacked")
  }
}

private func array(_ bytes: Span<UInt8>) -> [UInt8] { bytes.indices.map { bytes[$0] } }

private func packed(_ bytes: [UInt8], level: Int32) -> [UInt8] {
  var result: [UInt8] = []
  GzipDeflater(level: level).consume(bytes.span, isLast: true) { result += array($0) }
  return result
}

private func envelope(around packed: [UInt8]) -> [UInt8] {
  var answer = Array("{\"message\":\"ok\",\"code\":1000,\"data\":\"".utf8)
  var encoder = Base64Encoder()
  encoder.encode(packed.span, into: &answer)
  encoder.finish(into: &answer)
  return answer + "\"}".utf8
}
