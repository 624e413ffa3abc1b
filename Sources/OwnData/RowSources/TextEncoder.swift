/// A converter of UTF-8 to another encoding.
///
///     var encoder = try TextEncoder("WINDOWS-1252")
///     write(try encoder.encode(Array("Größe".utf8)))
///     write(encoder.finish())
package struct TextEncoder: ~Copyable {
  private var converter: TextConverter
  private let encoding: String
  private var line = 1

  /// Creates a converter to an encoding with a name that `iconv --list` shows.
  ///
  /// - Throws: `SourceError.unknownEncoding`.
  package init(_ encoding: String) throws(SourceError) {
    converter = try TextConverter(encoding, .fromUTF8)
    self.encoding = encoding
  }

  /// Converts whole characters.
  ///
  /// - Parameter text: UTF-8 that does not end inside a character.
  /// - Throws: `SourceError.notInEncoding` for a character that the encoding does not have.
  package mutating func encode(_ text: [UInt8]) throws(SourceError) -> [UInt8] {
    var bytes: [UInt8] = []
    var offset = 0
    while offset < text.count {
      let step = converter.convert(text, from: offset)
      for byte in text[offset..<offset + step.consumed] where byte == 0x0A { line += 1 }
      bytes += step.text
      offset += step.consumed
      if step.isInCharacter || step.isRefused {
        let character = String(decoding: text[offset...].prefix(16), as: UTF8.self).unicodeScalars.first ?? "?"
        throw .notInEncoding(encoding: encoding, line: line, character: String(character))
      }
    }
    return bytes
  }

  /// Returns the bytes that end the text, which only encodings with shift states have.
  package mutating func finish() -> [UInt8] { Array(converter.finish()) }
}
