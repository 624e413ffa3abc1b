public import CatalogRows
internal import JSONFormat
public import ServerAnswers

/// A tolerant reader of rows from text with one JSON object per line (NDJSON).
///
/// Lines end only with a line feed, because strings may contain U+2028; the last line may lack it. Lines of white space
/// are skipped. The fields follow the rules of a payload's rows: wrong types are tolerated, the first of duplicate keys
/// is used, and unknown keys are skipped. Memory: one chunk and one line of at most `WireLimits/tokenByteCount`.
public struct RowLines: ~Copyable {
  /// How the kind of each line's row is determined.
  public enum Kind: Sendable, Equatable {
    /// Every line is a product.
    case products
    /// Every line is a relation.
    case relations
    /// Every line is a code.
    case codes
    /// Every line has the key `type` with `product`, `relation` or `code`, as in a dump; the first `type` is used.
    case tagged
  }

  /// The contents of the lines so far.
  public struct Summary: Sendable, Equatable {
    /// The number of lines, including skipped ones.
    public var lines = 0
    /// The number of product rows so far.
    public var products = 0
    /// The number of relation rows so far.
    public var relations = 0
    /// The number of code rows so far.
    public var codes = 0
    /// The fields that got their default value because of a wrong type.
    public var defaulted = DefaultedFields()
    /// The number of unpaired surrogates in texts, which were read as U+FFFD.
    public var replacedSurrogates = 0
    /// The number of bytes read so far.
    public var bytesIn = 0

    /// Creates the summary of an empty text.
    public init() {}
  }

  /// Rows are nested one level deep.
  private static let rowDepth = 1

  private let kind: Kind
  private var splitter: LineSplitter
  private var tokens: JSONTokenizer
  private var productReader = RowReader(ProductRow())
  private var relationReader = RowReader(RelationRow())
  private var codeReader = RowReader(CodeRow())
  private var matcher = KeyMatcher(["type"])
  /// The summary of what has been read so far.
  public private(set) var summary = Summary()
  private var failure: RowFileError?

  /// Creates a reader of a new text.
  ///
  /// - Parameters:
  ///   - kind: How a line says whether it is a product, a relation or a code.
  ///   - limits: The bounds on memory. One line has at most `tokenByteCount` bytes.
  public init(kind: Kind, limits: WireLimits = WireLimits()) {
    self.kind = kind
    splitter = LineSplitter(lineByteCount: limits.tokenByteCount)
    tokens = JSONTokenizer(
      limits: JSONLimits(nestingDepth: limits.nestingDepth, tokenByteCount: limits.tokenByteCount))
  }

  /// Reads the next bytes of the text, and passes the row of each completed line to `sink`.
  ///
  /// - Throws: ``RowFileError`` with the number of the line; ``RowFileError/sinkFailed(_:row:)`` with the error that
  ///   the sink throws. All later calls throw the same error.
  public mutating func consume<Sink: RowSink>(
    _ bytes: Span<UInt8>, into sink: inout Sink
  ) throws(RowFileError) {
    if let failure { throw failure }
    summary.bytesIn += bytes.count
    do {
      try split(bytes, into: &sink)
    } catch {
      failure = error
      throw error
    }
  }

  /// Ends the text, and reads a last line without a line feed.
  public mutating func finish<Sink: RowSink>(into sink: inout Sink) throws(RowFileError) -> Summary {
    if let failure { throw failure }
    if splitter.finish() { try readCutLine(into: &sink) }
    return summary
  }

  private mutating func split<Sink: RowSink>(
    _ bytes: Span<UInt8>, into sink: inout Sink
  ) throws(RowFileError) {
    var start = 0
    while let line = try splitter.next(in: bytes, from: &start) {
      switch line {
      case .inChunk(let range): try read(bytes.extracting(range), into: &sink)
      case .cut: try readCutLine(into: &sink)
      }
    }
  }

  private mutating func readCutLine<Sink: RowSink>(into sink: inout Sink) throws(RowFileError) {
    let line = splitter.takeCutLine()
    try read(line.span, into: &sink)
    splitter.reuse(line)
  }

  private mutating func read<Sink: RowSink>(
    _ line: Span<UInt8>, into sink: inout Sink
  ) throws(RowFileError) {
    summary.lines += 1
    guard !LineSplitter.isBlank(line) else { return }
    let list: RowList
    switch kind {
    case .products: list = .products
    case .relations: list = .relations
    case .codes: list = .codes
    case .tagged: list = try type(of: line)
    }
    try begin(line)
    do throws(JSONError) {
      switch list {
      case .products: try readProduct()
      case .relations: try readRelation()
      case .codes: try readCode()
      }
      // A second value in the line is an error here.
      _ = try tokens.next()
    } catch {
      throw .lineNotJSON(error, line: summary.lines)
    }
    summary.replacedSurrogates += tokens.replacedSurrogates
    switch list {
    case .products:
      do {
        try sink.product(productReader.row)
      } catch {
        throw .sinkFailed(error, row: RowPosition(list: list, index: summary.products, id: productReader.row[.id]))
      }
      summary.products += 1
    case .relations:
      do {
        try sink.relation(relationReader.row)
      } catch {
        throw .sinkFailed(error, row: RowPosition(list: list, index: summary.relations, id: relationReader.row[.id]))
      }
      summary.relations += 1
    case .codes:
      do {
        try sink.code(codeReader.row)
      } catch {
        throw .sinkFailed(error, row: RowPosition(list: list, index: summary.codes, id: codeReader.row[.id]))
      }
      summary.codes += 1
    }
  }

  /// Passes the line to the tokenizer, and reads its opening brace.
  private mutating func begin(_ line: Span<UInt8>) throws(RowFileError) {
    tokens.reset()
    tokens.append(line)
    tokens.finish()
    let token = try nextToken()
    guard token == .beginObject else {
      throw .lineNotObject(found: JSONKind(token) ?? .null, line: summary.lines)
    }
  }

  private mutating func nextToken() throws(RowFileError) -> JSONToken {
    do { return try tokens.next() } catch { throw .lineNotJSON(error, line: summary.lines) }
  }

  /// Searches for `type`, which a dump writes first.
  private mutating func type(of line: Span<UInt8>) throws(RowFileError) -> RowList {
    try begin(line)
    while true {
      switch try nextToken() {
      case .key:
        guard tokens.depth == Self.rowDepth, matcher.match(tokens.textByteCount, tokens.textWords) != nil
        else { continue }
        guard try nextToken() == .string else { throw .lineWithoutType(line: summary.lines) }
        let type = tokens.textString
        switch type {
        case "product": return .products
        case "relation": return .relations
        case "code": return .codes
        default: throw .lineTypeUnknown(String(type.prefix(40)), line: summary.lines)
        }
      case .endOfDocument, .needsInput:
        throw .lineWithoutType(line: summary.lines)
      default:
        continue
      }
    }
  }

  private mutating func readProduct() throws(JSONError) {
    productReader.begin()
    _ = try productReader.read(&tokens, depth: Self.rowDepth) { field, offset in
      guard let field = ProductField(rawValue: field) else {
        return summary.defaulted.countExtra(row: summary.products, offset: offset)
      }
      summary.defaulted.count(field, row: summary.products, offset: offset)
    }
  }

  private mutating func readRelation() throws(JSONError) {
    relationReader.begin()
    _ = try relationReader.read(&tokens, depth: Self.rowDepth) { field, offset in
      guard let field = RelationField(rawValue: field) else { return }
      summary.defaulted.count(field, row: summary.relations, offset: offset)
    }
  }

  private mutating func readCode() throws(JSONError) {
    codeReader.begin()
    _ = try codeReader.read(&tokens, depth: Self.rowDepth) { field, offset in
      guard let field = CodeField(rawValue: field) else { return }
      summary.defaulted.count(field, row: summary.codes, offset: offset)
    }
  }
}
