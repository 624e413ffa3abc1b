import Foundation

/// A program that runs on while the test talks to it.
final class Conversation {
  let process: Process
  private let input = Pipe()
  private let output = Pipe()
  private var rest = Data()

  /// - Parameter words: takes standard error; without it, nobody does.
  init(_ arguments: [String], root: String, words: URL? = nil) throws {
    process = Program.process(arguments, root: root)
    process.standardInput = input
    process.standardOutput = output
    process.standardError = try words.map { try FileHandle(forWritingTo: $0) } ?? .nullDevice
    try process.run()
  }

  deinit { if process.isRunning { process.terminate() } }

  func say(_ text: String) throws { try input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }

  /// Ends the program's standard input.
  func hangUp() throws { try input.fileHandleForWriting.close() }

  /// The next line of standard output; `nil` at its end.
  func line() -> String? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest = rest[(end + 1)...] }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      let piece = output.fileHandleForReading.availableData
      if piece.isEmpty { return nil }
      rest += piece
    }
  }

  /// The exit code, or 128 and the signal's number.
  func end() -> Int32 {
    process.waitUntilExit()
    return (process.terminationReason == .exit ? 0 : 128) + process.terminationStatus
  }
}
