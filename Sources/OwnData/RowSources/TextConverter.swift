internal import CTextEncoding

/// A converter of the C library, between UTF-8 and another encoding.
///
/// Unsafe: the converter belongs to this value alone; pointers to input and output are used within one call.
@safe
struct TextConverter: ~Copyable {
  enum Direction { case toUTF8, fromUTF8 }

  /// The result of a step.
  struct Step {
    /// The number of bytes of the input that were converted.
    var consumed: Int
    /// The converted bytes.
    var text: ArraySlice<UInt8>
    /// Whether the next bytes are the beginning of a character.
    var isInCharacter: Bool
    /// Whether the next bytes are not a character, or not one of the other encoding.
    var isRefused: Bool
  }

  private let converter: UnsafeMutableRawPointer
  private var output = [UInt8](repeating: 0, count: 64 << 10)

  /// - Throws: `SourceError.unknownEncoding`.
  init(_ encoding: String, _ direction: Direction) throws(SourceError) {
    // Suffixes such as //IGNORE and //TRANSLIT would lose or change characters silently.
    guard !encoding.isEmpty, !encoding.contains("/"), !encoding.utf8.contains(0),
      let converter = unsafe direction == .toUTF8
        ? shelfmark_converter_open(encoding) : shelfmark_encoder_open(encoding)
    else { throw .unknownEncoding(name: encoding) }
    unsafe self.converter = converter
  }

  deinit {
    // No other reference exists.
    unsafe shelfmark_converter_close(converter)
  }

  /// Converts bytes from `offset` on, as many as the output has room for.
  mutating func convert(_ input: [UInt8], from offset: Int) -> Step {
    let converter = unsafe self.converter
    let step = unsafe input.withUnsafeBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output -> shelfmark_conversion? in
        // Both arrays are not empty.
        guard let bytes = input.baseAddress, let room = output.baseAddress else { return nil }
        return unsafe shelfmark_converter_run(converter, bytes + offset, input.count - offset, room, output.count)
      }
    }
    guard let step else { return Step(consumed: 0, text: [], isInCharacter: false, isRefused: false) }
    return Step(
      consumed: step.consumed, text: output[..<step.produced], isInCharacter: step.status == 2,
      isRefused: step.status > 2)
  }

  /// Ends the text, and returns the remaining bytes of an encoding with shift states.
  mutating func finish() -> ArraySlice<UInt8> {
    let converter = unsafe self.converter
    let step = unsafe output.withUnsafeMutableBufferPointer { output -> shelfmark_conversion? in
      guard let room = output.baseAddress else { return nil }
      return unsafe shelfmark_converter_run(converter, nil, 0, room, output.count)
    }
    return step.map { output[..<$0.produced] } ?? []
  }
}
