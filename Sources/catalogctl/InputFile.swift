import Foundation

/// A file, or with `-` standard input, read piece by piece.
struct InputFile {
  /// Bytes asked for at once.
  private static let pieceByteCount = 1 << 18

  /// For messages.
  let name: String
  private let handle: FileHandle

  /// - Throws: `Failure` with exit code 66.
  init(_ path: String) throws {
    if path == "-" {
      name = "standard input"
      handle = .standardInput
      return
    }
    name = path
    var isDirectory: ObjCBool = false
    // The call fills the local variable.
    let exists = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
    guard exists else { throw Failure(.noInput, "\(path): no such file") }
    guard !isDirectory.boolValue else { throw Failure(.noInput, "\(path): is a directory, not a file") }
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw Failure(.noInput, "\(path): cannot be opened; check who may read it")
    }
    self.handle = handle
  }

  /// Bytes in the file, where that can be known.
  var byteCount: Int? {
    guard name != "standard input" else { return nil }
    let attributes = try? FileManager.default.attributesOfItem(atPath: name)
    return (attributes?[.size] as? NSNumber)?.intValue
  }

  /// The next bytes; `nil` at the end.
  ///
  /// - Throws: `Failure` with exit code 66.
  func next() throws -> [UInt8]? {
    do {
      guard let data = try handle.read(upToCount: Self.pieceByteCount), !data.isEmpty else { return nil }
      return [UInt8](data)
    } catch {
      throw Failure(.noInput, "\(name): cannot be read: \(error.localizedDescription)")
    }
  }

  /// Calls `body` with each line, without its line feed, as soon as it is complete.
  func forEachLine(_ body: (String) throws -> Void) throws {
    var rest: [UInt8] = []
    while true {
      let data = handle.availableData
      if data.isEmpty { break }
      rest += data
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        try body(String(decoding: rest[..<end], as: UTF8.self))
        rest.removeFirst(end + 1)
      }
    }
    if !rest.isEmpty { try body(String(decoding: rest, as: UTF8.self)) }
  }
}
