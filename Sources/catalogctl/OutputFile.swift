import CatalogWire
import Foundation
import GzipStream
import Storage

/// A file that appears whole or not at all: written beside its place under another name, synced, renamed.
final class OutputFile {
  private let directory: PosixDirectory
  private let file: any StorageFile
  private let name: String
  private let temporaryName: String
  /// Bytes of the file.
  private(set) var byteCount = 0
  private let deflater: GzipDeflater?

  /// - Parameters:
  ///   - path: The file's path.
  ///   - isPacked: Whether what is written is packed with gzip.
  /// - Throws: `Failure` with exit code 73 where no file can be; `StorageError`.
  init(_ path: String, isPacked: Bool = false) throws {
    deflater = isPacked ? GzipDeflater(level: -1) : nil
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
    guard let deflater else { return try append(bytes) }
    try pack(bytes, isLast: false, deflater)
  }

  private func pack(_ bytes: Span<UInt8>, isLast: Bool, _ deflater: GzipDeflater) throws {
    var packed: [UInt8] = []
    deflater.consume(bytes, isLast: isLast) { piece in
      for index in piece.indices { packed.append(piece[index]) }
    }
    if !packed.isEmpty { try append(packed.span) }
  }

  private func append(_ bytes: Span<UInt8>) throws {
    try file.write(bytes.rawSpan, at: byteCount)
    byteCount += bytes.count
  }

  /// Gives the file its name; it is durable then.
  func publish() throws {
    if let deflater { try pack([UInt8]().span, isLast: true, deflater) }
    try file.sync()
    try directory.rename(temporaryName, to: name)
    try directory.sync()
  }

  /// Removes what was written, unless it was published.
  func discard() { _ = try? directory.remove(temporaryName) }
}
