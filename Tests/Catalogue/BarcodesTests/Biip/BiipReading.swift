import Foundation

/// What biip reads in an element string: the answer of `scripts/biip-reader.py`.
struct BiipReading: Decodable {
  struct Element: Decodable {
    let ai: String
    let value: String
    let date: String?
    let moment: String?
    let decimal: String?
    /// Whether the check digit is right; `nil` if biip does not check it.
    let sound: Bool?
  }

  /// Why nothing was read; `nil` if everything was.
  let error: String?
  let elements: [Element]

  /// Reads texts with biip.
  ///
  /// - Parameter python: The path of a Python that has biip.
  static func readings(of texts: [String], python: String) throws -> [BiipReading] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "biip-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let input = folder.appending(path: "texts")
    try Data((texts.joined(separator: "\n") + "\n").utf8).write(to: input)

    let process = Process()
    process.executableURL = URL(filePath: python)
    process.arguments = [repository.appending(path: "scripts/biip-reader.py").path]
    process.standardInput = try FileHandle(forReadingFrom: input)
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let decoder = JSONDecoder()
    return try output.split(separator: UInt8(ascii: "\n")).map { try decoder.decode(BiipReading.self, from: $0) }
  }

  static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
