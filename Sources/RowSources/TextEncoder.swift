internal import CTextEncoding

/// A converter of UTF-8 to another encoding.
///
///     var encoder = try TextEncoder("WINDOWS-1252")
///     write(try encoder.encode(Array("Größe".utf8)))
///     write(encoder.finish())
///
/// Unsafe: the converter belongs to this value alone; pointers to input and output are used within one call.
@safe
public struct TextEncoder: ~Copyable {
  private let converter: UnsafeMutableRawPointer
  private let encoding: String
  private var output = [UInt8](repeating: 0, count: 64 << 10)
  private var line = 1

  /// Creates a converter to an encoding with a name that `iconv --list` shows.
  ///
  /// - Throws: `SourceError.unknownEncoding`.
  public init(_ encoding: String) throws(SourceError) {
    // Suffixes such as //TRANSLIT would change characters silently.
    guard !encoding.isEmpty, !encoding.contains("/"), !encoding.utf8.contains(0),
      let converter = unsafe shelfmark_encoder_open(encoding)
    else { throw .unknownEncoding(name: encoding) }
    unsafe self.converter = converter
    self.encoding = encoding
  }

  deinit {
    // No other reference exists.
    unsafe shelfmark_converter_close(converter)
  }

  /// Converts whole characters.
  ///
  /// - Parameter text: UTF-8 that does not end inside a character.
  /// - Throws: `SourceError.notInEncoding` for a character that the encoding does not have.
  public mutating func encode(_ text: [UInt8]) throws(SourceError) -> [UInt8] {
    var bytes: [UInt8] = []
    var offset = 0
    while offset < text.count {
      let converter = unsafe self.converter
      let step = unsafe text.withUnsafeBufferPointer { input in
        unsafe output.withUnsafeMutableBufferPointer { output -> shelfmark_conversion? in
          // Both arrays are not empty.
          guard let start = input.baseAddress, let room = output.baseAddress else { return nil }
          return unsafe shelfmark_converter_run(converter, start + offset, input.count - offset, room, output.count)
        }
      }
      guard let step else { break }
      for byte in text[offset..<offset + step.consumed] where byte == 0x0A { line += 1 }
      bytes += output[..<step.produced]
      offset += step.consumed
      if step.status >= 2 {
        let character = String(decoding: text[offset...].prefix(16), as: UTF8.self).unicodeScalars.first ?? "?"
        throw .notInEncoding(encoding: encoding, line: line, character: String(character))
      }
    }
    return bytes
  }

  /// The bytes that end the text; encodings with states have some.
  public mutating func finish() -> [UInt8] {
    let converter = unsafe self.converter
    let step = unsafe output.withUnsafeMutableBufferPointer { output -> shelfmark_conversion? in
      guard let room = output.baseAddress else { return nil }
      return unsafe shelfmark_converter_run(converter, nil, 0, room, output.count)
    }
    return step.map { Array(output[..<$0.produced]) } ?? []
  }
}
