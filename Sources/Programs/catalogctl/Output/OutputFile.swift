import Essentials
import Gzip
import Platform
import Storage

/// An atomically written file: written next to its destination under another name, synced, then renamed.
final class OutputFile {
  private let directory: PosixDirectory
  private let file: any StorageFile
  private let name: String
  private let temporaryName: String
  /// The number of bytes written.
  private(set) var byteCount = 0
  private let deflater: GzipDeflater?
  /// The permissions of the file: those of the one that it replaces, else what the process gives new files.
  private let permissions: UInt32

  /// - Parameters:
  ///   - path: The file's path.
  ///   - isCompressed: Whether to compress the file with gzip.
  ///   - isPrivate: Whether nobody else may read the file.
  /// - Throws: `Failure` with exit code 73 if the file cannot be created; `StorageError`.
  init(_ path: String, isCompressed: Bool = false, isPrivate: Bool = false) throws {
    deflater = isCompressed ? GzipDeflater(level: -1) : nil
    // Replace the target of a symbolic link, not the link.
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
    // As if the file were written in place: others may have to read it.
    let usual = Self.permissions(of: target.path) ?? 0o666 & ~Self.mask
    permissions = isPrivate ? 0o600 : usual
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

  /// The permissions of a file; `nil` if there is none.
  private static func permissions(of path: String) -> UInt32? {
    var status = stat()
    // The path is a C string during the call, which fills the structure.
    return unsafe stat(path, &status) == 0 ? UInt32(status.st_mode & 0o7777) : nil
  }

  /// The permissions that the process withholds from new files. Only this call can tell, and it changes them for a
  /// moment.
  private static let mask: UInt32 = {
    let mask = umask(0o077)
    umask(mask)
    return UInt32(mask)
  }()

  /// Renames the file to its final name. It is then durable.
  func publish() throws {
    if let deflater { try pack([UInt8]().span, isLast: true, deflater) }
    if let descriptor = file.systemDescriptor { fchmod(descriptor, mode_t(permissions)) }
    try file.sync()
    try directory.rename(temporaryName, to: name)
    try directory.sync()
  }

  /// Removes the file, unless it was published.
  func discard() { _ = try? directory.remove(temporaryName) }
}
