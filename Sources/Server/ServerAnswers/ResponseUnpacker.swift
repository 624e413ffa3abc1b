internal import Gzip
internal import JSONFormat

/// A decoder of the server's response into the bytes of the payload as they arrive: the first stage of
/// ``ResponseDecoder``, for callers that run the two stages on two cores.
///
/// A response is an envelope `{message, code, data}` with the keys in any order. Unknown keys are skipped; if a key is
/// duplicated, the first value is used. If `code` comes after `data`, the payload has been passed on before a bad code
/// is found. With `allowsBarePayload`, a document that has one of the payload's own keys at its top level, before any
/// of the envelope's, is passed on unchanged.
///
/// Memory: one slice of input in each of its forms, and zlib's window. For a document that may be bare, also the bytes
/// before the first known key, which must begin before ``WireLimits/tokenByteCount``, and that key.
public struct ResponseUnpacker: ~Copyable {
  private enum Form: Sendable { case undecided, envelope, bare }

  private enum Key: Int, Sendable { case message, code, data }

  private enum Place: Sendable {
    case beginning, top, value(Key), skipping, data, end
  }

  /// The size of the largest part of a response that is processed at once: it stays in a core's cache in all its forms.
  static let sliceByteCount = 64 << 10

  private let limits: WireLimits
  private var tokens: JSONTokenizer
  private var base64 = Base64Decoder()
  private var gzip: GzipInflater
  private var form: Form
  private var place = Place.beginning
  private var matcher = KeyMatcher(["message", "code", "data"])
  private var payloadMatcher = KeyMatcher([
    RowList.products.rawValue, RowList.relations.rawValue, RowList.codes.rawValue, "updateTime",
  ])
  private var seen: UInt8 = 0
  /// The bytes read of a document whose form is not known yet.
  private var head: [UInt8] = []
  private var looksLikePayload = false
  private var isCodeGood = false
  /// The first `code` as written, if it is not 1000.
  private var badCode: String?
  /// The first `message`, if it is a string; at most 200 characters.
  private(set) var message: String?
  /// The first `code` as written, if it is a number or a string; at most 40 characters.
  private(set) var code: String?
  /// The kind of the value of `data`, if it is not a string.
  private var badData: JSONKind?

  /// The number of bytes of the response read so far.
  public private(set) var bytesIn = 0
  /// Whether the response is a payload without envelope, base64 and gzip.
  var isBare: Bool { form == .bare }
  /// The number of base64-decoded bytes decompressed so far.
  var compressedByteCount: Int { gzip.compressedByteCount }
  private var bareByteCount = 0
  /// The number of bytes of the payload passed on so far.
  public var bytesUnpacked: Int { gzip.unpackedByteCount + bareByteCount }

  /// Creates an unpacker of one answer.
  ///
  /// - Throws: ``WireError/outOfMemory``.
  public init(limits: WireLimits = WireLimits(), allowsBarePayload: Bool = false) throws(WireError) {
    self.limits = limits
    tokens = JSONTokenizer(
      limits: JSONLimits(nestingDepth: limits.nestingDepth, tokenByteCount: limits.tokenByteCount))
    do { gzip = try GzipInflater() } catch { throw WireError(error) }
    form = allowsBarePayload ? .undecided : .envelope
  }

  /// Decodes the next bytes of the response, and passes the payload in them to `body`, chunk by chunk.
  ///
  /// - Throws: ``WireError``, of the response or of `body`. The unpacker must not be used afterwards.
  public mutating func consume(
    _ bytes: Span<UInt8>, _ body: (Span<UInt8>) throws(WireError) -> Void
  ) throws(WireError) {
    try unpack(bytes) { (chunk, _) throws(WireError) in try body(chunk) }
  }

  /// Like ``consume(_:_:)``, with the compressed size of the response up to each chunk: see
  /// ``WireLimits/packedBytesPerRow``. Bytes that were not compressed have the largest number.
  mutating func unpack(
    _ bytes: Span<UInt8>, _ body: (Span<UInt8>, _ compressedByteCount: Int) throws(WireError) -> Void
  ) throws(WireError) {
    var start = 0
    while start < bytes.count {
      let stop = min(bytes.count, start + Self.sliceByteCount)
      let slice = bytes.extracting(start..<stop)
      start = stop
      bytesIn += slice.count
      switch form {
      case .bare:
        try pass(slice, body)
      case .undecided:
        // A key that begins before the limit ends before twice the limit; nothing is left out until then.
        if head.count / 2 < limits.tokenByteCount { head.append(copying: slice) }
        tokens.append(slice)
        try readEnvelope(body)
        if case .bare = form {
          let bytes = head
          head = []
          try pass(bytes.span, body)
        }
      case .envelope:
        tokens.append(slice)
        try readEnvelope(body)
      }
    }
  }

  /// Ends the response.
  ///
  /// - Throws: ``WireError`` if the response is incomplete.
  public mutating func finish() throws(WireError) {
    guard form != .bare else { return }
    tokens.finish()
    try readEnvelope { (_, _) throws(WireError) in }
  }

  private mutating func pass(
    _ bytes: Span<UInt8>, _ body: (Span<UInt8>, Int) throws(WireError) -> Void
  ) throws(WireError) {
    bareByteCount += bytes.count
    guard bareByteCount <= limits.absoluteByteCount else {
      throw .unpacksTooLarge(
        unpacked: bareByteCount, packed: bareByteCount, limit: limits.absoluteByteCount)
    }
    try body(bytes, .max)
  }

  private mutating func readEnvelope(
    _ body: (Span<UInt8>, Int) throws(WireError) -> Void
  ) throws(WireError) {
    while form != .bare {
      let token: JSONToken
      do { token = try tokens.next() } catch { throw .responseNotJSON(error) }
      guard token != .needsInput, token != .endOfDocument else { return }
      switch place {
      case .beginning:
        guard token == .beginObject else { throw .responseNotObject(found: JSONKind(token) ?? .null) }
        place = .top
      case .top:
        if token == .endObject {
          try judge()
          place = .end
        } else {
          takeKey()
        }
      case .value(let key):
        take(key, token)
        if case .data = place { try takeData(token, body) }
      case .data:
        try takeData(token, body)
      case .skipping:
        if tokens.depth == 1 { place = .top }
      case .end:
        return
      }
    }
  }

  private mutating func takeKey() {
    place = .skipping
    if let key = matcher.match(tokens.textByteCount, tokens.textWords).flatMap(Key.init) {
      if form == .undecided {
        form = .envelope
        head = []
      }
      let bit: UInt8 = 1 << UInt8(key.rawValue)
      guard seen & bit == 0 else { return }
      seen |= bit
      place = .value(key)
      tokens.deliversStringParts = key == .data
    } else if payloadMatcher.match(tokens.textByteCount, tokens.textWords) != nil {
      looksLikePayload = true
      if form == .undecided, tokens.tokenOffset < limits.tokenByteCount { form = .bare }
    }
  }

  /// Reads the first token of a known key's value.
  private mutating func take(_ key: Key, _ token: JSONToken) {
    tokens.deliversStringParts = false
    let kind = JSONKind(token) ?? .null
    place = tokens.depth == 1 ? .top : .skipping
    switch key {
    case .message:
      if kind == .string { message = String(tokens.textString.prefix(200)) }
    case .code:
      isCodeGood = kind == .number && tokens.int64Value == 1000
      if kind == .number || kind == .string { code = String(tokens.textString.prefix(40)) }
      if !isCodeGood {
        switch kind {
        case .number: badCode = String(tokens.textString.prefix(40))
        case .string: badCode = "\"\(tokens.textString.prefix(40))\" (a text)"
        case .null, .boolean, .object, .array: badCode = kind.rawValue
        }
      }
    case .data:
      if kind == .string { place = .data } else { badData = kind }
    }
  }

  /// Reads a piece of `data`, or its end.
  private mutating func takeData(
    _ token: JSONToken, _ body: (Span<UInt8>, Int) throws(WireError) -> Void
  ) throws(WireError) {
    if token == .stringEnd { place = .top }
    // The data of a refused request is not needed, but the message may still follow.
    guard badCode == nil else { return }
    let offset = tokens.tokenOffset
    if token == .stringEnd {
      try base64.finish(offset: offset)
      do { try gzip.finish() } catch { throw WireError(error) }
    } else {
      let problem = Self.decode(tokens, &base64, offset: offset)
      // The data before the error may have an error of its own, which is then reported first.
      try gzip.consume(
        base64.bytes, count: base64.byteCount, limits: limits.gzip, failure: WireError.init, body)
      if let problem { throw problem }
    }
  }

  private static func decode(
    _ tokens: borrowing JSONTokenizer, _ base64: inout Base64Decoder, offset: Int
  ) -> WireError? {
    do throws(WireError) {
      try tokens.withText { (text) throws(WireError) in try base64.decode(text, offset: offset) }
      return nil
    } catch {
      return error
    }
  }

  /// Checks the envelope at its closing brace.
  private func judge() throws(WireError) {
    if let badCode { throw .codeRefused(code: badCode, message: message) }
    guard isCodeGood else { throw .codeMissing(looksLikePayload: looksLikePayload) }
    if let badData { throw .dataNotText(found: badData) }
    guard seen >> UInt8(Key.data.rawValue) & 1 == 1 else { throw .dataMissing }
  }
}
