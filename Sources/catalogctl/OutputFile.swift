import Foundation
import Storage

/// A file that appears whole or not at all: written beside its place under another name, synced, renamed.
final class OutputFile {
  private let directory: PosixDirectory
  private let file: any StorageFile
  private let name: String
  private let temporaryName: String
  private var byteCount = 0

  /// - Throws: `Failure` with exit code 73 where no file can be; `StorageError`.
  init(_ path: String) throws {
    // A link keeps pointing where it points.
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    let attributes = try? FileManager.default.attributesOfItem(atPath: target.path)
    if let type = attributes?[.type] as? FileAttributeType, type != .typeRegular {
      throw Failure(.cannotCreate, "\(path) is there and no regular file; give another name, or - for standard output")
    }
    name = target.lastPathComponent
    guard PosixDirectory.isName(name) else {
      throw Failure(.cannotCreate, "\(path) names no file; give another name, or - for standard output")
    }
    temporaryName = ".\(name.prefix(60)).\(ProcessInfo.processInfo.processIdentifier).partial"
    guard let directory = try PosixDirectory.open(target.deletingLastPathComponent().path) else {
      throw Failure(.cannotCreate, "\(path): there is no such directory")
    }
    self.directory = directory
    guard let file = try directory.open(temporaryName, .create) else {
      throw Failure(.cannotCreate, "\(path) cannot be created")
    }
    self.file = file
  }

  func write(_ bytes: [UInt8]) throws { try write(bytes.span) }

  func write(_ bytes: Span<UInt8>) throws {
    // A byte has no padding whose contents could leak.
    try file.write(unsafe bytes.bytes, at: byteCount)
    byteCount += bytes.count
  }

  /// Gives the file its name; it is durable then.
  func publish() throws {
    try file.sync()
    try directory.rename(temporaryName, to: name)
    try directory.sync()
  }

  /// Removes what was written, unless it was published.
  func discard() { _ = try? directory.remove(temporaryName) }
}
