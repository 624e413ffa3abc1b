import CatalogSources
import RowSources
import ServerAnswers

/// A `SourceReader` of an input, whose errors are those of the command.
struct InputText: ~Copyable {
  private var text: SourceReader

  /// Reads a server's answer.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - limits: The limits of decompression.
  init(_ file: InputFile, limits: WireLimits) {
    text = SourceReader(limits: limits) { try file.next() }
  }

  /// Reads a person's own rows.
  ///
  /// - Parameters:
  ///   - file: A person's own file.
  ///   - encoding: The name of its encoding; `nil` to guess it.
  ///   - limits: The limits of decompression.
  /// - Throws: `Failure` with exit code 64 for an unknown encoding.
  init(rows file: InputFile, encoding: String?, limits: WireLimits) throws {
    do { text = try SourceReader(encoding: encoding, limits: limits) { try file.next() } } catch {
      throw Failure(.usage, "\(error)")
    }
  }

  /// The encoding of a person's own file, if it was guessed.
  var guess: EncodingGuess? { text.guess }

  /// The number of bytes read from the file.
  var byteCount: Int { text.byteCount }

  /// The next bytes of text; `nil` at the end.
  ///
  /// - Throws: `Failure` with exit code 66, or 65 for damaged zstd and bytes that are not text in the encoding;
  ///   `RowFileError` for invalid gzip.
  mutating func next() throws -> [UInt8]? {
    do { return try text.next() } catch let error as SourceError {
      throw Failure(.data, "\(error); nothing was changed")
    }
  }
}
