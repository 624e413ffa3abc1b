public import CatalogRows
internal import JSONFormat

/// A decoder of the payload's JSON into rows as it arrives: the second stage of ``ResponseDecoder``.
///
/// The keys may come in any order. If a key is duplicated, the first value is used, here as in rows. Unknown keys are
/// skipped. Rows are passed to the sink as soon as they are complete; if an error is thrown, the sink must discard all
/// of them.
public struct PayloadDecoder: ~Copyable {
  /// The decoder's position at the top level of the payload.
  private enum Place: Sendable {
    case beginning, top, value(Key), skipping, products, relations, codes, end
  }

  private enum Key: Int, Sendable {
    case products, relations, codes, updateTime
  }

  private enum Event { case needsInput, product, relation, code }

  private let limits: WireLimits
  /// The number of rows allowed for the compressed bytes so far.
  private var rowLimit: Int
  private var tokens: JSONTokenizer
  private var place = Place.beginning
  private var isInRow = false
  private var matcher = KeyMatcher(
    [RowList.products.rawValue, RowList.relations.rawValue, RowList.codes.rawValue, "updateTime"])
  /// One bit for each ``Key`` that has been read.
  private var seen: UInt8 = 0
  private var productReader: RowReader<ProductRow>
  private var relationReader = RowReader(RelationRow())
  private var codeReader = RowReader(CodeRow())
  private var summary = PayloadSummary()
  private var failure: WireError?

  /// Creates a decoder of a new payload.
  ///
  /// - Parameters:
  ///   - limits: The limits above which a readable payload is refused.
  ///   - extraKeys: The keys of a product, other than the 25 and `extra`, whose values are kept in `extra`. Values under
  ///     all other keys are skipped.
  public init(limits: WireLimits = WireLimits(), extraKeys: Set<String> = []) {
    self.limits = limits
    productReader = RowReader(ProductRow(), extraKeys: extraKeys)
    rowLimit = limits.absoluteRowCount
    tokens = JSONTokenizer(
      limits: JSONLimits(nestingDepth: limits.nestingDepth, tokenByteCount: limits.tokenByteCount))
  }

  /// Whether a product has a field with this key: one of the 25, or `extra`.
  package static func isField(_ key: String) -> Bool {
    ProductRow.keys.contains { $0.utf8.elementsEqual(key.utf8) }
  }

  /// The number of rows of all lists decoded so far.
  public var rowCount: Int { summary.rows }

  /// The number of bytes read so far.
  public var byteCount: Int { summary.bytesUnpacked }

  /// Decodes the next bytes of the payload, and passes each completed row to `sink`.
  ///
  /// - Throws: ``WireError``; ``WireError/sinkFailed(_:row:)`` with the error that the sink throws. All later calls
  ///   throw the same error.
  public mutating func consume<Sink: RowSink>(
    _ chunk: Span<UInt8>, into sink: inout Sink
  ) throws(WireError) {
    try consume(chunk, compressedByteCount: .max, into: &sink)
  }

  /// Like ``consume(_:into:)`` for a compressed payload: `compressedByteCount` is its compressed size up to `chunk`.
  mutating func consume<Sink: RowSink>(
    _ chunk: Span<UInt8>, compressedByteCount: Int, into sink: inout Sink
  ) throws(WireError) {
    if let failure { throw failure }
    let allowed = compressedByteCount / max(1, limits.packedBytesPerRow)
    rowLimit = min(limits.absoluteRowCount, limits.packedBytesPerRow == 0 ? .max : max(limits.rowCount, allowed))
    do {
      try decode(chunk, into: &sink)
    } catch {
      failure = error
      throw error
    }
  }

  /// Ends the payload.
  ///
  /// - Returns: The counts; `bytesIn` is the size of the payload itself.
  /// - Throws: ``WireError`` if the payload is incomplete.
  public mutating func finish() throws(WireError) -> PayloadSummary {
    if let failure { throw failure }
    tokens.finish()
    _ = try advance()
    var result = summary
    result.bytesIn = result.bytesUnpacked
    result.replacedSurrogates = tokens.replacedSurrogates
    return result
  }

  private mutating func decode<Sink: RowSink>(
    _ chunk: Span<UInt8>, into sink: inout Sink
  ) throws(WireError) {
    summary.bytesUnpacked += chunk.count
    tokens.append(chunk)
    while true {
      switch try advance() {
      case .needsInput:
        return
      case .product:
        try checkRowCount()
        do {
          try sink.product(productReader.row)
        } catch {
          throw .sinkFailed(
            error, row: RowPosition(list: .products, index: summary.products, id: productReader.row[.id]))
        }
        summary.products += 1
      case .relation:
        try checkRowCount()
        do {
          try sink.relation(relationReader.row)
        } catch {
          throw .sinkFailed(
            error, row: RowPosition(list: .relations, index: summary.relations, id: relationReader.row[.id]))
        }
        summary.relations += 1
      case .code:
        try checkRowCount()
        do {
          try sink.code(codeReader.row)
        } catch {
          throw .sinkFailed(error, row: RowPosition(list: .codes, index: summary.codes, id: codeReader.row[.id]))
        }
        summary.codes += 1
      }
    }
  }

  /// Whether another row may be passed to the sink.
  @inline(__always)
  private func checkRowCount() throws(WireError) {
    guard rowCount < rowLimit else {
      throw .tooManyRows(limit: rowLimit, isAbsolute: rowLimit == limits.absoluteRowCount, offset: tokens.tokenOffset)
    }
  }

  /// The row that the decoder is reading, if any.
  private var currentRow: RowPosition? {
    guard isInRow else { return nil }
    switch place {
    case .products: return position(in: .products)
    case .relations: return position(in: .relations)
    case .codes: return position(in: .codes)
    case .beginning, .top, .value, .skipping, .end: return nil
    }
  }

  /// The position of the next row of a list.
  private func position(in list: RowList) -> RowPosition {
    switch list {
    case .products: RowPosition(list: list, index: summary.products)
    case .relations: RowPosition(list: list, index: summary.relations)
    case .codes: RowPosition(list: list, index: summary.codes)
    }
  }

  /// Reads the next token. An error names the row in which it happened.
  private mutating func nextToken() throws(WireError) -> JSONToken {
    do { return try tokens.next() } catch { throw .payloadNotJSON(error, row: currentRow) }
  }

  /// Reads up to the end of the next row or of the window.
  private mutating func advance() throws(WireError) -> Event {
    while true {
      switch place {
      case .products:
        if !isInRow, try !enterRow(.products) { continue }
        guard isInRow, try readProduct() else { return .needsInput }
        isInRow = false
        return .product
      case .relations:
        if !isInRow, try !enterRow(.relations) { continue }
        guard isInRow, try readRelation() else { return .needsInput }
        isInRow = false
        return .relation
      case .codes:
        if !isInRow, try !enterRow(.codes) { continue }
        guard isInRow, try readCode() else { return .needsInput }
        isInRow = false
        return .code
      case .beginning, .top, .value, .skipping, .end:
        guard try advanceTop() else { return .needsInput }
      }
    }
  }

  /// Moves from one row to the next; returns `false` if the list ended instead. If the window ends first, the decoder
  /// stays outside a row.
  private mutating func enterRow(_ list: RowList) throws(WireError) -> Bool {
    let token = try nextToken()
    switch token {
    case .needsInput, .endOfDocument:
      return true
    case .endArray:
      place = .top
      return false
    case .beginObject:
      isInRow = true
      switch list {
      case .products: productReader.begin()
      case .relations: relationReader.begin()
      case .codes: codeReader.begin()
      }
      return true
    default:
      // Every other token begins a value.
      throw .rowNotObject(position(in: list), found: JSONKind(token) ?? .null, offset: tokens.tokenOffset)
    }
  }

  /// Rows are nested three levels deep: payload, list, row.
  private static let rowDepth = 3

  /// Continues reading a product; returns `false` if the window ends first.
  private mutating func readProduct() throws(WireError) -> Bool {
    do {
      return try productReader.read(&tokens, depth: Self.rowDepth) { field, offset in
        guard let field = ProductField(rawValue: field) else {
          return summary.defaulted.countExtra(row: summary.products, offset: offset)
        }
        summary.defaulted.count(field, row: summary.products, offset: offset)
      }
    } catch {
      throw .payloadNotJSON(error, row: currentRow)
    }
  }

  /// Continues reading a relation; returns `false` if the window ends first.
  private mutating func readRelation() throws(WireError) -> Bool {
    do {
      return try relationReader.read(&tokens, depth: Self.rowDepth) { field, offset in
        guard let field = RelationField(rawValue: field) else { return }
        summary.defaulted.count(field, row: summary.relations, offset: offset)
      }
    } catch {
      throw .payloadNotJSON(error, row: currentRow)
    }
  }

  /// Continues reading a code; returns `false` if the window ends first.
  private mutating func readCode() throws(WireError) -> Bool {
    do {
      return try codeReader.read(&tokens, depth: Self.rowDepth) { field, offset in
        guard let field = CodeField(rawValue: field) else { return }
        summary.defaulted.count(field, row: summary.codes, offset: offset)
      }
    } catch {
      throw .payloadNotJSON(error, row: currentRow)
    }
  }

  /// Reads one token outside the lists; returns `false` if the window has none.
  private mutating func advanceTop() throws(WireError) -> Bool {
    let token = try nextToken()
    guard token != .needsInput, token != .endOfDocument else { return false }
    switch place {
    case .beginning:
      guard token == .beginObject else { throw .payloadNotObject(found: JSONKind(token) ?? .null) }
      place = .top
    case .top:
      if token == .endObject {
        try checkRequiredKeys()
        place = .end
      } else if let key = matcher.match(tokens.textByteCount, tokens.textWords).flatMap(Key.init),
        seen >> UInt8(key.rawValue) & 1 == 0
      {
        seen |= 1 << UInt8(key.rawValue)
        place = .value(key)
      } else {
        place = .skipping
      }
    case .value(let key):
      try begin(key, token)
    case .skipping:
      // The value ends when the decoder is back at the level of the keys.
      if tokens.depth == 1 { place = .top }
    case .products, .relations, .codes, .end:
      break
    }
    return true
  }

  /// Reads the first token of a known key's value.
  private mutating func begin(_ key: Key, _ token: JSONToken) throws(WireError) {
    // Many servers write an absent list so; the list of codes is the only one that may be absent.
    if key == .codes, token == .null {
      place = .top
      return
    }
    let expected = key == .updateTime ? JSONToken.string : .beginArray
    guard token == expected else {
      throw .payloadKeyWrongType(
        Self.name(of: key), found: JSONKind(token) ?? .null, offset: tokens.tokenOffset)
    }
    switch key {
    case .products: place = .products
    case .relations: place = .relations
    case .codes:
      summary.hasCodes = true
      place = .codes
    case .updateTime:
      guard tokens.textByteCount <= limits.cursorByteCount else {
        throw .cursorTooLong(
          byteCount: tokens.textByteCount, limit: limits.cursorByteCount, offset: tokens.tokenOffset)
      }
      summary.updateTime = tokens.textString
      place = .top
    }
  }

  private func checkRequiredKeys() throws(WireError) {
    for key in [Key.products, .relations, .updateTime] where seen >> UInt8(key.rawValue) & 1 == 0 {
      throw .payloadKeyMissing(Self.name(of: key))
    }
  }

  private static func name(of key: Key) -> String {
    switch key {
    case .products: RowList.products.rawValue
    case .relations: RowList.relations.rawValue
    case .codes: RowList.codes.rawValue
    case .updateTime: "updateTime"
    }
  }
}
