import Crypto
import Storage

/// A file that is sent as it stands on the disk: a picture.
public struct FileReference: Codable, Sendable, Hashable {
  /// As it was given; best absolute, since a worker may run elsewhere.
  public let path: String
  /// Of the content.
  public let byteCount: Int
  /// SHA-256 of the content, 64 hexadecimal digits.
  public let sha256: String

  /// The file at `path` as it is now, read once.
  ///
  /// - Throws: `UploadQueueError.unreadable`.
  public init(contentsOf path: String) throws {
    var hash = SHA256()
    byteCount = try Self.read(path) { hash.update(data: $0) }
    sha256 = Self.text(hash)
    self.path = path
  }

  /// Whether the file is still the same: its length, and then its content.
  ///
  /// - Throws: `UploadQueueError.unreadable`, `.changed`.
  /// - Complexity: reads the file.
  public func check() throws {
    var hash = SHA256()
    let count = try Self.read(path, expecting: byteCount) { hash.update(data: $0) }
    guard count == byteCount, Self.text(hash) == sha256 else { throw UploadQueueError.changed(path: path) }
  }

  /// The content, checked. Memory: all of it.
  ///
  /// - Throws: `UploadQueueError.unreadable`, `.changed`.
  public func contents() throws -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    var hash = SHA256()
    _ = try Self.read(path, expecting: byteCount) {
      hash.update(data: $0)
      bytes += $0
    }
    guard bytes.count == byteCount, Self.text(hash) == sha256 else { throw UploadQueueError.changed(path: path) }
    return bytes
  }

  private static func text(_ hash: SHA256) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: hash.finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Shows `body` the content piece by piece, and returns how long it is.
  private static func read(_ path: String, expecting byteCount: Int? = nil, _ body: ([UInt8]) -> Void) throws -> Int {
    let slash = path.lastIndex(of: "/")
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    func unreadable(_ reason: String) -> UploadQueueError { .unreadable(path: path, reason: reason) }
    guard PosixDirectory.isName(name) else { throw unreadable("it names no file") }
    do {
      guard let file = try PosixDirectory.open(parent)?.open(name, .read) else {
        throw unreadable("there is no such file")
      }
      if let byteCount, try file.size() != byteCount { throw UploadQueueError.changed(path: path) }
      var offset = 0
      while true {
        let bytes = try file.read(1 << 20, at: offset)
        if bytes.isEmpty { return offset }
        body(bytes)
        offset += bytes.count
      }
    } catch let error as StorageError { throw unreadable("\(error)") }
  }
}
