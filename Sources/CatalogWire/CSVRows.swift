public import CatalogRows
internal import JSONStream

/// Reads rows from comma-separated values, as ``RowCSV`` writes them or a person does.
///
/// The first record names the columns, in any order; `id` has to be among them, those that are missing take their
/// defaults, and without `type` every row is a product. Records end with CRLF or LF. What cannot be taken as it is meant
/// is an error that names line and column: an unknown column, a number that is none, a value where its row has no such
/// field. Memory: one record of at most ``WireLimits/tokenByteCount``.
public struct CSVRows: ~Copyable {
  /// Where the next byte belongs.
  private enum State { case fieldStart, plain, quoted, quoteInQuoted, carriageReturn }

  private let recordByteCount: Int
  private var state = State.fieldStart
  /// The columns; empty before the first record.
  private var columns: [RowCSV.Column] = []
  /// The fields of the record so far, one behind the other, and where each ends.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  private var isQuoted = false
  private var line = 1
  /// The byte in the line, from 1.
  private var column = 0
  /// The line in which the record began.
  private var firstLine = 1
  /// Bytes of a byte order mark that may still come at the beginning.
  private var mark: [UInt8] = [0xEF, 0xBB, 0xBF]
  private var product = ProductRow()
  private var relation = RelationRow()
  private var failure: WireError?
  /// What has been read so far.
  public private(set) var summary = RowLines.Summary()

  public init(limits: WireLimits = WireLimits()) { recordByteCount = limits.tokenByteCount }

  /// Takes the next bytes of the text and hands the row of every record that they complete to `sink`.
  ///
  /// - Throws: ``WireError``, and the same one again from then on.
  public mutating func consume<Sink: RowSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(WireError) {
    if let failure { throw failure }
    summary.bytesIn += bytes.count
    do {
      for index in bytes.indices { try take(bytes[index], into: &sink) }
    } catch {
      failure = error
      throw error
    }
  }

  /// Ends the text; a last record without a line's end is read now.
  public mutating func finish<Sink: RowSink>(into sink: inout Sink) throws(WireError) -> RowLines.Summary {
    if let failure { throw failure }
    if state == .quoted { throw fault("the text ends inside of quotes that line \(firstLine) or a later one opened") }
    if state != .fieldStart || !ends.isEmpty { try endRecord(into: &sink) }
    guard !columns.isEmpty else { throw fault("the names of the columns are missing") }
    summary.lines = line - 1
    return summary
  }

  private func fault(_ reason: String) -> WireError { .csv(reason: reason, line: line, column: column) }

  private mutating func take<Sink: RowSink>(_ byte: UInt8, into sink: inout Sink) throws(WireError) {
    if !mark.isEmpty {
      if byte == mark[0] {
        mark.removeFirst()
        return
      }
      guard mark.count == 3 else { throw fault("a byte order mark that is none") }
      mark = []
    }
    column += 1
    // A field without bytes takes room too.
    guard bytes.count + ends.count < recordByteCount else {
      throw .lineTooLong(limit: recordByteCount, line: firstLine)
    }
    switch (state, byte) {
    case (.quoted, UInt8(ascii: "\"")): state = .quoteInQuoted
    case (.quoted, _):
      bytes.append(byte)
      if byte == 0x0A { beginLine() }
    case (.quoteInQuoted, UInt8(ascii: "\"")):
      bytes.append(byte)
      state = .quoted
    case (.fieldStart, UInt8(ascii: "\"")):
      state = .quoted
      isQuoted = true
    case (.carriageReturn, 0x0A), (.fieldStart, 0x0A), (.plain, 0x0A), (.quoteInQuoted, 0x0A):
      try endRecord(into: &sink)
      beginLine()
      firstLine = line
    case (.carriageReturn, _): throw fault("a carriage return without a line feed behind it, outside of quotes")
    case (_, 0x0D): state = .carriageReturn
    case (_, UInt8(ascii: ",")):
      ends.append(bytes.count)
      state = .fieldStart
    case (.quoteInQuoted, _): throw fault("something between closing quotes and the next comma")
    case (.plain, UInt8(ascii: "\"")): throw fault("quotes inside a field that does not begin with them")
    default:
      bytes.append(byte)
      state = .plain
    }
  }

  private mutating func beginLine() {
    line += 1
    column = 0
  }

  private mutating func endRecord<Sink: RowSink>(into sink: inout Sink) throws(WireError) {
    ends.append(bytes.count)
    defer {
      bytes.removeAll(keepingCapacity: true)
      ends.removeAll(keepingCapacity: true)
      state = .fieldStart
      isQuoted = false
    }
    // An empty line.
    if ends.count == 1, bytes.isEmpty, !isQuoted { return }
    if columns.isEmpty { return try readHeader() }
    guard ends.count == columns.count else {
      throw fault("\(ends.count) fields in a record where the first one names \(columns.count)")
    }
    try readRow(into: &sink)
  }

  private mutating func readHeader() throws(WireError) {
    for index in ends.indices {
      let name = String(decoding: bytes[range(index)], as: UTF8.self)
      let column = RowCSV.Column(name)
      guard name == "type" || column.product != nil || column.relation != nil else {
        throw .csv(reason: "no row has a field \"\(name.prefix(40))\"", line: firstLine, column: index + 1)
      }
      guard !columns.contains(where: { $0.name == name }) else {
        throw .csv(reason: "the column \(name) is there twice", line: firstLine, column: index + 1)
      }
      columns.append(column)
    }
    guard columns.contains(where: { $0.name == "id" }) else { throw fault("the column id is missing") }
  }

  private func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

  private mutating func readRow<Sink: RowSink>(into sink: inout Sink) throws(WireError) {
    let list = try type()
    product.reset()
    relation.reset()
    for index in columns.indices where columns[index].name != "type" {
      let range = range(index)
      if range.isEmpty { continue }
      guard let value = String(validating: bytes[range], as: UTF8.self) else {
        throw invalid(index, "is no UTF-8")
      }
      switch list {
      case .products:
        guard let field = columns[index].product else { throw invalid(index, "has a value, which a product has not") }
        if let text = field.text { product.texts.set(text.rawValue, value) } else { try set(field, value, index) }
      case .relations:
        guard let field = columns[index].relation else {
          throw invalid(index, "has a value, which a relation has not")
        }
        if let text = field.text {
          relation.texts.set(text.rawValue, value)
        } else {
          relation.groupNum = try integer(value, index)
        }
      }
    }
    switch list {
    case .products:
      do { try sink.product(product) } catch {
        throw .sinkFailed(error, row: RowPlace(list: list, index: summary.products, id: product[.id]))
      }
      summary.products += 1
    case .relations:
      do { try sink.relation(relation) } catch {
        throw .sinkFailed(error, row: RowPlace(list: list, index: summary.relations, id: relation[.id]))
      }
      summary.relations += 1
    }
  }

  private func type() throws(WireError) -> RowList {
    guard let index = columns.firstIndex(where: { $0.name == "type" }) else { return .products }
    switch String(decoding: bytes[range(index)], as: UTF8.self) {
    case "product": return .products
    case "relation": return .relations
    default: throw invalid(index, "is neither product nor relation")
    }
  }

  private func invalid(_ index: Int, _ what: String) -> WireError {
    .csv(reason: "\(columns[index].name) \(what)", line: firstLine, column: index + 1)
  }

  private mutating func set(_ field: ProductField, _ value: String, _ index: Int) throws(WireError) {
    switch field {
    case .categoryId: product.categoryId = try integer(value, index)
    case .delFlag: product.delFlag = try integer(value, index)
    case .groupNum: product.groupNum = try integer(value, index)
    case .isGreeProduct: product.isGreeProduct = try boolean(value, index)
    case .isGroupedProduct: product.isGroupedProduct = try boolean(value, index)
    case .isSaleProduct: product.isSaleProduct = try boolean(value, index)
    case .isMarketingProduct: product.isMarketingProduct = try boolean(value, index)
    case .length: product.length = try double(value, index)
    case .tall: product.tall = try double(value, index)
    case .volume: product.volume = try double(value, index)
    case .weight: product.weight = try double(value, index)
    case .wide: product.wide = try double(value, index)
    default: preconditionFailure("\(field) is a text")
    }
  }

  private func integer(_ value: String, _ index: Int) throws(WireError) -> Int64 {
    guard let number = Int64(value) else { throw invalid(index, "is no whole number") }
    return number
  }

  private func double(_ value: String, _ index: Int) throws(WireError) -> Double {
    guard let number = Double(value), number.isFinite else { throw invalid(index, "is no number") }
    return number
  }

  /// Spreadsheets write them in capitals.
  private func boolean(_ value: String, _ index: Int) throws(WireError) -> Bool {
    switch value.lowercased() {
    case "true": return true
    case "false": return false
    default: throw invalid(index, "is neither true nor false")
    }
  }
}
