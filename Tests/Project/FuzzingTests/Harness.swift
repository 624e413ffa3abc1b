/// What is done with one input. It may not trap, hang, or break one of the rules that it checks with ``require(_:_:)``.
struct Harness: Sendable {
  let name: String
  /// The longest input that is worth a try.
  let maximumLength: Int
  let run: @Sendable ([UInt8]) -> Void

  init(_ name: String, _ maximumLength: Int, _ run: @escaping @Sendable ([UInt8]) -> Void) {
    self.name = name
    self.maximumLength = maximumLength
    self.run = run
  }

  static let all: [Harness] = [
    Harness("structures", 256, fuzzStructure),
    Harness("manifest", 1024, fuzzManifest),
    Harness("objects", 512, fuzzObjects),
    Harness("page", 2048, fuzzPage),
    Harness("log", 256, fuzzLog),
    Harness("sealed", 256, fuzzSealed),
    Harness("keys", 512, fuzzKeys),
    Harness("catalogue", 256, fuzzCatalogue),
    Harness("documents", 256, fuzzDocuments),
    Harness("document", 512, fuzzDocument),
    Harness("conditions", 256, fuzzConditions),
    Harness("packed", 64, fuzzPacked),
    Harness("response", 2048, fuzzResponse),
    Harness("base64", 256, fuzzBase64),
    Harness("gzip", 1024, fuzzGzip),
    Harness("payload", 2048, fuzzPayload),
    Harness("json", 512, fuzzJSON),
    Harness("numbers", 64, fuzzNumber),
    Harness("lines", 1024, fuzzLines),
    Harness("csv", 1024, fuzzCSV),
    Harness("mapping", 1024, fuzzMapping),
    Harness("mapped", 1024, fuzzMapped),
    Harness("source", 1024, fuzzSource),
    Harness("database", 256, fuzzDatabaseValue),
    Harness("scan", 128, fuzzScan),
    Harness("elements", 256, fuzzElements),
    Harness("content", 256, fuzzContent),
    Harness("label", 256, fuzzLabel),
    Harness("measures", 64, fuzzMeasures),
    Harness("compressed", 64, fuzzCompressedLink),
    Harness("users", 300, fuzzUsers),
    Harness("framer", 256, fuzzFramer),
    Harness("keyboard", 512, fuzzKeyboard),
    Harness("request", 256, fuzzRequest),
    Harness("publication", 2048, fuzzPublication),
    Harness("groups", 1024, fuzzGroups),
    Harness("zstd", 512, fuzzZstd),
  ]

  static func named(_ name: String) -> Harness? { all.first { $0.name == name } }
}

/// Ends the process, which libFuzzer takes for a finding, if a rule does not hold.
func require(_ holds: Bool, _ rule: @autoclosure () -> String) {
  if !holds { fatalError(rule()) }
}

/// Takes an input apart. Behind its end everything is zero.
struct Input {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// A number below `limit`; 0 if that is 0.
  mutating func number(below limit: Int) -> Int {
    let number = Int(byte()) | Int(byte()) << 8
    return limit > 0 ? number % limit : 0
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }
}

/// Feeds `bytes` piece by piece: the sizes are those of `sizes` in turn, from 1 on; all at once if there is none.
func inPieces<Failure: Error>(
  _ bytes: [UInt8], _ sizes: [UInt8], _ body: (Span<UInt8>) throws(Failure) -> Void
) throws(Failure) {
  var start = 0
  var turn = 0
  while start < bytes.count {
    let size = sizes.isEmpty ? bytes.count : Int(sizes[turn % sizes.count]) % 23 + 1
    let end = min(bytes.count, start + size)
    try body(bytes.span.extracting(start..<end))
    start = end
    turn += 1
  }
}
