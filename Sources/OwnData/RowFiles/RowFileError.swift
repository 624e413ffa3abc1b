public import Gzip
public import JSONFormat
public import ServerAnswers
package import Platform

/// An error in a file of rows.
///
/// Rows may have been passed to the sink before any of these errors was found; the sink must then discard them all.
public enum RowFileError: Error {
  /// Line `line` (from 1) is not JSON.
  case lineNotJSON(JSONError, line: Int)
  /// Line `line` (from 1) is JSON, but not an object.
  case lineNotObject(found: JSONKind, line: Int)
  /// Line `line` (from 1) has more bytes than `limit`.
  case lineTooLong(limit: Int, line: Int)
  /// Line `line` (from 1) has no `type`, or one that is not a string.
  case lineWithoutType(line: Int)
  /// `type` in line `line` (from 1) is not `product`, `relation` or `code`.
  case lineTypeUnknown(String, line: Int)
  /// The file is gzip and cannot be decompressed.
  case notUnpacked(GzipError)
  /// The file has faults; none of its rows is used.
  case refused(RowFaults)
  /// The sink threw `error` for this row.
  case sinkFailed(any Error, row: RowPosition)
}

extension RowFileError: CustomStringConvertible {
  /// What is wrong, where, and what to do, for people.
  public var description: String {
    switch self {
    case .lineNotJSON(let error, let line):
      "Line \(line) is not JSON: \(error) of the line. Correct or remove the line."
    case .lineNotObject(let found, let line):
      "Line \(line) is \(found.rawValue) instead of an object. Correct or remove the line."
    case .lineTooLong(let limit, let line):
      "Line \(line) is longer than \(limit) bytes. Lines must end with a line feed; correct or remove the line."
    case .lineWithoutType(let line):
      "Line \(line) has no text under the key type. Add \"type\":\"product\", \"relation\" or \"code\"."
    case .lineTypeUnknown(let type, let line):
      "Line \(line) has the type \"\(type)\"; only product, relation and code are known. Correct or remove the line."
    case .notUnpacked(let cause): Self.description(of: cause)
    case .refused(let faults):
      (faults.first.first.map { "\($0). " } ?? "") + "Nothing was taken: \(faults). Correct the file and try again."
    case .sinkFailed(let error, let row):
      "The \(row) could not be taken: \((error as? RowRefusal)?.message ?? "\(error)")"
    }
  }

  private static func description(of cause: GzipError) -> String {
    switch cause {
    case .endsEarly(let offset):
      "The file is gzip and ends early, after \(offset) packed bytes: it is not whole. Copy or pack it again."
    case .damaged(let reason, let offset):
      "The file is gzip and damaged near packed byte \(offset): \(reason). Copy or pack it again."
    case .trailingData(let offset):
      "The file is gzip, and something that is no gzip member follows at byte \(offset). Pack it again."
    case .tooLarge(let unpacked, let packed, let limit):
      "The file is refused: \(packed) packed bytes had unpacked to \(unpacked) bytes, the limit is \(limit). "
        + "If it is known to be that large, raise the limit with catalogctl's option --max-unpacked."
    case .outOfMemory: "Not enough memory to unpack the file. Free memory and try again."
    case .notGzip: "The file is no gzip. Pack it again."
    }
  }
}

extension RowFileError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    .data
  }
}
