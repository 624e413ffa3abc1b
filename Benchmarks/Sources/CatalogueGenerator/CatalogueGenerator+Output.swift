public import CatalogRows
public import ServerAnswers

extension CatalogueGenerator {
  /// Hands every relation, then every product to `sink`, one row in memory at a time.
  public func write<Sink: RowSink>(to sink: inout Sink) throws {
    var relation = RelationRow()
    for number in 0..<setCount {
      let index = set(number)
      for place in 0..<componentCount(ofSet: index) {
        self.relation(ofSet: index, place, into: &relation)
        try sink.relation(relation)
      }
    }
    var product = ProductRow()
    for index in 0..<productCount {
      self.product(index, into: &product)
      try sink.product(product)
    }
  }

  /// Writes the catalogue as a server's answer (or one of the other forms of ``PayloadEncoder``), piece by piece.
  public func writeAnswer(
    _ form: PayloadEncoder.Form = .envelope(message: "success"), level: Int = 6, _ body: ([UInt8]) throws -> Void
  ) throws {
    let encoder = PayloadEncoder(form: form, level: level)
    try withoutActuallyEscaping(body) { body in
      var sink = AnswerSink(encoder: encoder, body: body)
      try write(to: &sink)
      encoder.finish(updateTime: cursor)
      try body(encoder.takeOutput())
    }
  }

  /// Writes the catalogue as NDJSON, each line with the key `type`, piece by piece.
  public func writeNDJSON(_ body: ([UInt8]) throws -> Void) throws {
    try withoutActuallyEscaping(body) { body in
      var sink = LineSink(body: body)
      try write(to: &sink)
      try body(sink.json)
    }
  }
}

private let pieceByteCount = 1 << 20

/// Passes on what the encoder has ready, in pieces worth a system call.
private struct AnswerSink: RowSink {
  let encoder: PayloadEncoder
  let body: ([UInt8]) throws -> Void
  var rowCount = 0

  mutating func product(_ row: borrowing ProductRow) throws {
    encoder.product(row)
    try pass()
  }

  mutating func code(_ row: borrowing CodeRow) throws {
    encoder.code(row)
    try pass()
  }

  mutating func relation(_ row: borrowing RelationRow) throws {
    encoder.relation(row)
    try pass()
  }

  private mutating func pass() throws {
    rowCount += 1
    if rowCount % 4096 == 0 { try body(encoder.takeOutput()) }
  }
}

private struct LineSink: RowSink {
  let body: ([UInt8]) throws -> Void
  var json: [UInt8] = []

  mutating func product(_ row: borrowing ProductRow) throws {
    RowJSON.appendDump(row, to: &json)
    try endLine()
  }

  mutating func code(_ row: borrowing CodeRow) throws {
    RowJSON.appendDump(row, to: &json)
    try endLine()
  }

  mutating func relation(_ row: borrowing RelationRow) throws {
    RowJSON.appendDump(row, to: &json)
    try endLine()
  }

  private mutating func endLine() throws {
    json.append(0x0A)
    if json.count >= pieceByteCount {
      try body(json)
      json.removeAll(keepingCapacity: true)
    }
  }
}
