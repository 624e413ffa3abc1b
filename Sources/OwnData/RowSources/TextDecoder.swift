/// A converter of text in another encoding to UTF-8, as it arrives.
struct TextDecoder: ~Copyable {
  private var converter: TextConverter
  private let encoding: String
  /// The beginning of a character whose end has not arrived.
  private var rest: [UInt8] = []
  private var line = 1

  /// - Throws: `SourceError.unknownEncoding`.
  init(_ encoding: String) throws(SourceError) {
    converter = try TextConverter(encoding, .toUTF8)
    self.encoding = encoding
  }

  /// Converts the next bytes and appends them to `text`.
  ///
  /// - Throws: `SourceError.notText`.
  mutating func decode(_ bytes: [UInt8], into text: inout [UInt8]) throws(SourceError) {
    let input = rest.isEmpty ? bytes : rest + bytes
    rest = []
    var offset = 0
    while offset < input.count {
      let step = converter.convert(input, from: offset)
      for byte in step.text where byte == 0x0A { line += 1 }
      text.append(contentsOf: step.text)
      offset += step.consumed
      // No character of any encoding is longer.
      if step.isInCharacter, input.count - offset < 16 {
        rest = Array(input[offset...])
        return
      }
      if step.isInCharacter || step.isRefused {
        throw .notText(encoding: encoding, line: line, byte: input[offset])
      }
    }
  }

  /// Ends the text.
  ///
  /// - Throws: `SourceError.endsInCharacter`.
  mutating func finish(into text: inout [UInt8]) throws(SourceError) {
    guard rest.isEmpty else { throw .endsInCharacter(encoding: encoding, line: line) }
    // Some encodings hold a character back until it is known what follows.
    text.append(contentsOf: converter.finish())
  }
}
