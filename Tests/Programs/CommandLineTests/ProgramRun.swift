import Foundation

/// What a run of the program left behind.
struct ProgramRun {
  /// The exit code, or 128 and the signal's number.
  var code: Int32
  var output: Data
  /// Standard error.
  var words: String

  /// Standard output as text.
  var text: String { String(decoding: output, as: UTF8.self) }
  /// The lines of standard output. A line feed ends each; what else Unicode takes for a line's end does not.
  var lines: [String] {
    var parts = [UInt8](output).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if parts.last?.isEmpty == true { parts.removeLast() }
    return parts.map { String(decoding: $0, as: UTF8.self) }
  }
  /// Whether the program ended by its own decision and in its own words.
  var isOrderly: Bool {
    code < 128 && !["Fatal error", "crashed", "Backtrac", "NSCocoa"].contains { words.contains($0) }
  }

  /// Standard output as JSON objects, one a line.
  func objects() throws -> [[String: Any]] {
    try [UInt8](output).split(separator: UInt8(ascii: "\n")).map { line in
      guard let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] else {
        throw CocoaError(.coderReadCorrupt)
      }
      return object
    }
  }

  /// Standard output as the one JSON object that it has to be.
  func object() throws -> [String: Any] {
    let objects = try objects()
    guard objects.count == 1, output.last == UInt8(ascii: "\n") else { throw CocoaError(.coderReadCorrupt) }
    return objects[0]
  }
}
