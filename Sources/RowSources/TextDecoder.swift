internal import CTextEncoding

/// A converter of text in another encoding to UTF-8, as it arrives.
///
/// Unsafe: the converter belongs to this value alone; pointers to input and output are used within one call.
@safe
struct TextDecoder: ~Copyable {
  private let converter: UnsafeMutableRawPointer
  private let encoding: String
  private var output = [UInt8](repeating: 0, count: 64 << 10)
  /// The beginning of a character whose end has not arrived.
  private var rest: [UInt8] = []
  private var line = 1

  /// - Throws: `SourceError.unknownEncoding`.
  init(_ encoding: String) throws(SourceError) {
    // Suffixes such as //IGNORE would lose characters silently.
    guard !encoding.isEmpty, !encoding.contains("/"), !encoding.utf8.contains(0),
      let converter = unsafe shelfmark_converter_open(encoding)
    else { throw .unknownEncoding(name: encoding) }
    unsafe self.converter = converter
    self.encoding = encoding
  }

  deinit {
    // No other reference exists.
    unsafe shelfmark_converter_close(converter)
  }

  /// Converts the next bytes and appends them to `text`.
  ///
  /// - Throws: `SourceError.notText`.
  mutating func decode(_ bytes: [UInt8], into text: inout [UInt8]) throws(SourceError) {
    let input = rest.isEmpty ? bytes : rest + bytes
    rest = []
    var offset = 0
    while offset < input.count {
      let converter = unsafe self.converter
      let step = unsafe input.withUnsafeBufferPointer { input in
        unsafe output.withUnsafeMutableBufferPointer { output -> shelfmark_conversion? in
          // Both arrays are not empty.
          guard let bytes = input.baseAddress, let room = output.baseAddress else { return nil }
          return unsafe shelfmark_converter_run(converter, bytes + offset, input.count - offset, room, output.count)
        }
      }
      guard let step else { return }
      for byte in output[..<step.produced] where byte == 0x0A { line += 1 }
      text.append(contentsOf: output[..<step.produced])
      offset += step.consumed
      // No character of any encoding is longer.
      if step.status == 2, input.count - offset < 16 {
        rest = Array(input[offset...])
        return
      }
      if step.status >= 2 { throw .notText(encoding: encoding, line: line, byte: input[offset]) }
    }
  }

  /// Ends the text.
  ///
  /// - Throws: `SourceError.endsInCharacter`.
  mutating func finish(into text: inout [UInt8]) throws(SourceError) {
    guard rest.isEmpty else { throw .endsInCharacter(encoding: encoding, line: line) }
    // Some encodings hold a character back until it is known what follows.
    let converter = unsafe self.converter
    let step = unsafe output.withUnsafeMutableBufferPointer { output -> shelfmark_conversion? in
      guard let room = output.baseAddress else { return nil }
      return unsafe shelfmark_converter_run(converter, nil, 0, room, output.count)
    }
    if let step { text.append(contentsOf: output[..<step.produced]) }
  }
}
