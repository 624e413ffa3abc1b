import Gzip
public import JSONFormat
import TextFormat
package import Platform

/// A kind of JSON value, as named in error messages.
public enum JSONKind: String, Sendable, Equatable {
  case object = "an object"
  case array = "an array"
  case string = "a text"
  case number = "a number"
  case boolean = "a Boolean"
  case null = "null"

  package init?(_ token: JSONToken) {
    switch token {
    case .beginObject: self = .object
    case .beginArray: self = .array
    case .string, .stringPart, .stringEnd: self = .string
    case .number: self = .number
    case .true, .false: self = .boolean
    case .null: self = .null
    case .needsInput, .endOfDocument, .endObject, .endArray, .key: return nil
    }
  }
}

/// A row of a payload.
public struct RowPosition: Sendable, Equatable {
  /// The list of the payload that contains the row.
  public var list: RowList
  /// The index of the row in its list, from 0.
  public var index: Int
  /// The beginning of the row's id, if it is known.
  public var id: String?

  /// Creates a position. Only the first 40 characters of the id are kept.
  public init(list: RowList, index: Int, id: String? = nil) {
    self.list = list
    self.index = index
    self.id = id.map { String($0.prefix(40)) }
  }
}

/// An error in a server's response or a payload.
///
/// Rows may have been passed to the sink before any of these errors was found; the sink must then discard them all.
/// Offsets count bytes from 0: in the response as received, in the compressed data (after base64 decoding), in the
/// payload (after decompression).
public enum WireError: Error {
  // MARK: The response

  /// The response is not JSON.
  case responseNotJSON(JSONError)
  /// The response is JSON, but not an object.
  case responseNotObject(found: JSONKind)
  /// The response has no `code`. `looksLikePayload`: Whether it has the keys of a bare payload instead.
  case codeMissing(looksLikePayload: Bool)
  /// The server refused the request: `code` (as written) is not the number 1000.
  case codeRefused(code: String, message: String?)
  /// The response has no `data`.
  case dataMissing
  /// `data` is not a string.
  case dataNotText(found: JSONKind)

  // MARK: The compressed data

  /// The base64 text ends inside a group of four: padding is missing or too short.
  case base64EndsEarly(offset: Int)
  /// `=` occurs where a group of four cannot end.
  case base64BadPadding(offset: Int)
  /// Data or more padding follows the padding.
  case base64AfterPadding(offset: Int)
  /// The data does not begin with the two magic bytes of gzip (1F 8B).
  case notGzip(firstBytes: [UInt8])
  /// The data ends inside a member.
  case gzipEndsEarly(offset: Int)
  /// A checksum, a length, a header or the compressed data is invalid; `reason` is zlib's message.
  case gzipDamaged(reason: String, offset: Int)
  /// Data that is not gzip follows the last member.
  case gzipTrailingData(offset: Int)
  /// The payload decompresses to more bytes than the limits allow.
  case unpacksTooLarge(unpacked: Int, packed: Int, limit: Int)
  /// zlib could not allocate its tables.
  case outOfMemory

  // MARK: The payload

  /// The payload is not JSON; `row` is the row in which the error was found.
  case payloadNotJSON(JSONError, row: RowPosition?)
  /// The payload is JSON, but not an object.
  case payloadNotObject(found: JSONKind)
  /// A required key is missing.
  case payloadKeyMissing(String)
  /// A known key has a value of the wrong type.
  case payloadKeyWrongType(String, found: JSONKind, offset: Int)
  /// `updateTime` is longer than the limit for a cursor.
  case cursorTooLong(byteCount: Int, limit: Int, offset: Int)
  /// The lists together have more rows than allowed for the compressed size of the response, or, if `isAbsolute`,
  /// than allowed for any response.
  case tooManyRows(limit: Int, isAbsolute: Bool, offset: Int)
  /// An element of a list is not an object.
  case rowNotObject(RowPosition, found: JSONKind, offset: Int)

  // MARK: The sink

  /// The sink threw `error` for this row.
  case sinkFailed(any Error, row: RowPosition)
}

extension WireError {
  init(_ error: GzipError) {
    self =
      switch error {
      case .notGzip(let bytes): .notGzip(firstBytes: bytes)
      case .endsEarly(let offset): .gzipEndsEarly(offset: offset)
      case .damaged(let reason, let offset): .gzipDamaged(reason: reason, offset: offset)
      case .trailingData(let offset): .gzipTrailingData(offset: offset)
      case .tooLarge(let unpacked, let packed, let limit):
        .unpacksTooLarge(unpacked: unpacked, packed: packed, limit: limit)
      case .outOfMemory: .outOfMemory
      }
  }
}

extension WireError: CustomStringConvertible {
  /// What is wrong, where, and what to do, for people.
  public var description: String {
    switch self {
    case .responseNotJSON(let error):
      "The answer is not JSON: \(error). Check that the address is the server's and not a proxy's or a login page."
    case .responseNotObject(let found):
      "The answer is \(found.rawValue) instead of an object with message, code and data. Check the address."
    case .codeMissing(looksLikePayload: true):
      "The answer has no code but the keys of a bare payload. Allow bare payloads if this file is meant to be one."
    case .codeMissing(looksLikePayload: false):
      "The answer has no code. Check that the address is the catalogue's."
    case .codeRefused(let code, let message):
      "The server refused the request: code \(code) instead of the number 1000"
        + (message.map { ", message: \($0)" } ?? "") + ". Nothing was changed."
    case .dataMissing:
      "The answer has no data although its code is 1000. Ask again; if it happens again, ask the server's operator."
    case .dataNotText(let found):
      "data in the answer is \(found.rawValue) instead of base64 text. Ask the server's operator."
    case .base64EndsEarly(let offset):
      "The base64 text of data ends inside a group of four at byte \(offset) of the answer. Ask again."
    case .base64BadPadding(let offset):
      "Misplaced '=' in the base64 text of data at byte \(offset) of the answer. Ask again."
    case .base64AfterPadding(let offset):
      "Data after the padding of the base64 text at byte \(offset) of the answer. Ask again."
    case .notGzip(let bytes):
      bytes.isEmpty
        ? "data is empty instead of gzip. Ask the server's operator."
        : "data is not gzip: it begins with \(Self.hexadecimal(bytes)) instead of 1F 8B. Ask the server's operator."
    case .gzipEndsEarly(let offset):
      "The gzip data ends early, after \(offset) packed bytes. The transfer was cut: ask again."
    case .gzipDamaged(let reason, let offset):
      "The gzip data is damaged near packed byte \(offset): \(reason). Ask again."
    case .gzipTrailingData(let offset):
      "Something that is no gzip member follows at packed byte \(offset). Ask the server's operator."
    case .unpacksTooLarge(let unpacked, let packed, let limit):
      "The payload is refused: \(packed) packed bytes had unpacked to \(unpacked) bytes, the limit is \(limit). "
        + "If the catalogue is known to be that large, raise the limit with catalogctl's option --max-unpacked."
    case .outOfMemory:
      "Not enough memory to unpack the payload. Free memory and ask again."
    case .payloadNotJSON(let error, let row):
      "The payload is not JSON: \(error)\(row.map { ", in \($0)" } ?? ""). Ask the server's operator."
    case .payloadNotObject(let found):
      "The payload is \(found.rawValue) instead of an object. Ask the server's operator."
    case .payloadKeyMissing(let key):
      "The payload has no \(key), which is required. Ask the server's operator."
    case .payloadKeyWrongType(let key, let found, let offset):
      "\(key) at byte \(offset) of the payload is \(found.rawValue) instead of "
        + (key == "updateTime" ? "a text" : "an array") + ". Ask the server's operator."
    case .cursorTooLong(let byteCount, let limit, let offset):
      "updateTime at byte \(offset) of the payload has \(byteCount) bytes, the limit is \(limit). "
        + "Ask the server's operator."
    case .tooManyRows(let limit, let isAbsolute, let offset):
      "The payload is refused at its byte \(offset): it has more than \(limit) rows, the limit "
        + (isAbsolute ? "for any answer. " : "for an answer that is packed so small: such rows are all but empty. ")
        + "Ask the server's operator; raise the limit only if the catalogue is known to be that large."
    case .rowNotObject(let row, let found, let offset):
      "The \(row) at byte \(offset) of the payload is \(found.rawValue) instead of an object, "
        + "so the whole payload is refused. Ask the server's operator."
    case .sinkFailed(let error, let row):
      "The \(row) could not be taken: \(error)"
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { Hexadecimal.text($0) }.joined(separator: " ")
  }
}

extension RowPosition: CustomStringConvertible {
  /// The row's index, list and, if known, id.
  public var description: String {
    "row \(index) (from 0) of \(list.rawValue)" + (id.map { ", id \"\($0)\"" } ?? "")
  }
}

extension WireError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    .data
  }
}
