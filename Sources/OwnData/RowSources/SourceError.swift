internal import Zstd

/// An error in the bytes of a source, before they are text.
package enum SourceError: Error, Sendable, Equatable {
  /// There is no memory for a decompressor.
  case outOfMemory
  /// The zstd data is damaged; `offset` is the number of compressed bytes read so far.
  case zstdDamaged(reason: String, offset: Int)
  /// The zstd data ends inside a frame.
  case zstdEndsEarly(offset: Int)
  /// The file decompresses to more than the limit.
  case unpacksTooLarge(unpacked: Int, packed: Int, limit: Int)
  /// The C library has no converter for the encoding.
  case unknownEncoding(name: String)
  /// The bytes on a line are not text in the encoding.
  case notText(encoding: String, line: Int, byte: UInt8)
  /// A character on this line of the text to write does not exist in the encoding.
  case notInEncoding(encoding: String, line: Int, character: String)
  /// The file is not text: its format, and the remedy.
  case notRows(what: String, remedy: String)
  /// The file ends inside a character.
  case endsInCharacter(encoding: String, line: Int)

  /// - Parameter offset: The number of compressed bytes read so far.
  init(_ error: ZstdError, offset: Int) {
    self =
      switch error {
      case .outOfMemory: .outOfMemory
      case .damaged(let reason): .zstdDamaged(reason: reason, offset: offset)
      // What only a decompressor of single frames says.
      case .invalidDictionary, .notZstd, .endsEarly, .trailingBytes, .unknownSize, .tooLarge:
        .zstdDamaged(reason: "\(error)", offset: offset)
      }
  }
}

extension SourceError: CustomStringConvertible {
  /// The error, its position, and its remedy, for people.
  package var description: String {
    switch self {
    case .outOfMemory: "there is no memory to decompress it; end other programs and try again"
    case .zstdDamaged(let reason, let offset):
      "the file is damaged zstd (\(reason), within the first \(offset) bytes); get it again"
    case .zstdEndsEarly(let offset): "the file is zstd and is not whole: it ends after \(offset) bytes; get it again"
    case .unpacksTooLarge(let unpacked, let packed, let limit):
      "\(packed) bytes decompress to more than \(unpacked), and \(limit) are allowed; if the file is right, allow more"
        + " with --max-unpacked"
    case .unknownEncoding(let name):
      "this system knows no encoding \"\(name)\"; 'iconv --list' lists all, such as UTF-8, GB18030 and WINDOWS-1252"
    case .notText(let encoding, let line, let byte):
      "Line \(line): byte 0x\(String(byte, radix: 16, uppercase: true)) is not \(encoding); name the file's encoding with"
        + " --encoding"
    case .notInEncoding(let encoding, let line, let character):
      "Line \(line): \(encoding) has no character \"\(character)\""
        + (character.unicodeScalars.first.map { " (U+" + String($0.value, radix: 16, uppercase: true) + ")" } ?? "")
        + "; take another encoding, such as UTF-8"
    case .notRows(let what, let remedy): "this is \(what), not rows of text; \(remedy)"
    case .endsInCharacter(let encoding, let line):
      "Line \(line): the file ends inside a character of \(encoding); it is cut, or has another encoding (--encoding)"
    }
  }
}
