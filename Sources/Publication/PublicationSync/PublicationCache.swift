import Bytes
import Cryptography
import CatalogHTTP
import DocumentFormat
import JSONFormat
package import LogStore
package import Platform
import PublicationFormat
import Storage
import TextFormat

/// What a device keeps of a publication besides the rows: the last head with its signature, the list of keys, and the
/// part of a base that has arrived. It lies next to the catalogue, as files whose names begin with `publication`.
///
/// All of it can be lost: the next synchronisation fetches it again. Nothing of it is trusted without its signature or
/// hash.
package struct PublicationCache: Sendable {
  package static let head = "publication-\(PublicationHead.name)"
  package static let headSignature = "publication-\(PublicationHead.signatureName)"
  package static let keys = "publication-\(KeyList.name)"
  package static let keysSignature = "publication-\(KeyList.signatureName)"
  static let source = "publication-source.json"
  static let lockName = "publication.lock"
  private static let partPrefix = "publication-"
  private static let partSuffix = ".base.part"

  let directory: any StorageDirectory
  /// Whether the immutable files are kept, for neighbours that ask this device.
  var keepsObjects: Bool

  package init(of location: StoreLocation, keepsObjects: Bool = false) {
    directory = location.directory
    self.keepsObjects = keepsObjects
  }

  /// Takes the lock of this cache, so that one process at a time fetches.
  ///
  /// - Throws: ``PublicationFailure/busy(_:)``; `StorageError`.
  func lock() throws -> any StorageLock {
    guard let lock = try directory.lock(Self.lockName) else {
      let holder = directory.holder(of: Self.lockName).map { " (\($0))" } ?? ""
      throw PublicationFailure.busy(
        "another process\(holder) fetches the publication for \(directory.path): wait for it to end")
    }
    return lock
  }

  /// Reads a small file; `nil` if it is not there, or longer than a file of a publication may be.
  package func read(_ name: String) throws(StorageError) -> [UInt8]? {
    guard let file = try directory.open(name, .read) else { return nil }
    let size = try file.size()
    return size <= 4 * PublicationHead.byteLimit ? try file.read(size, at: 0) : nil
  }

  /// Writes a small file. Readers see the former bytes or the new ones.
  func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
    let new = name + ".new"
    try directory.remove(new)
    guard let file = try directory.open(new, .create) else { return }
    try file.write(bytes, at: 0)
    try file.sync()
    try directory.rename(new, to: name)
    try directory.sync()
  }

  // MARK: Where the head came from

  /// What a web server said of a head; `nil` if that was of another head, or nothing.
  ///
  /// - Parameter head: The head that is kept.
  func validators(of url: String, for head: [UInt8]) -> FileValidators? {
    guard let digest = try? Self.digest(of: head) else { return nil }
    return places().first { $0.url == url && $0.head == digest }?.validators
  }

  /// Keeps what a web server said of a head. What others said of this head stays.
  func keep(_ validators: FileValidators?, of url: String, for head: [UInt8]) throws {
    let digest = try Self.digest(of: head)
    let old = places()
    var new = old.filter { $0.url != url && $0.head == digest }
    if let validators, validators.etag != nil || validators.lastModified != nil {
      new.append(Place(url: url, head: digest, validators: validators))
    }
    if new == old { return }
    try write(
      Self.source,
      JSONText.array(
        new.map {
          .object([
            ("url", .text($0.url)), ("head", .text($0.head)), ("etag", .optional($0.validators.etag)),
            ("lastModified", .optional($0.validators.lastModified)),
          ])
        }
      ).bytes)
  }

  /// A place that has served a head.
  private struct Place: Equatable {
    var url: String
    var head: String
    var validators: FileValidators
  }

  private static func digest(of head: [UInt8]) throws -> String {
    Hexadecimal.text(try Hash.sha256(of: head), .lowercase)
  }

  private func places() -> [Place] {
    guard let bytes = try? read(Self.source), case .array(let places)? = try? DocumentValue(json: bytes.span) else {
      return []
    }
    return places.compactMap { place in
      func text(_ name: String) -> String? {
        if case .text(let text)? = place[name] { text } else { nil }
      }
      guard let url = text("url"), let head = text("head") else { return nil }
      return Place(
        url: url, head: head, validators: FileValidators(etag: text("etag"), lastModified: text("lastModified")))
    }
  }

  // MARK: A base that arrives

  /// Opens the file of a base, which has the parts that have arrived in their places. Files of other bases are removed.
  func openBase(_ base: PublicationHead.Base) throws(StorageError) -> any StorageFile {
    let name = Self.partPrefix + base.file.sha256 + Self.partSuffix
    for other in try directory.names()
    where other.hasPrefix(Self.partPrefix) && other.hasSuffix(Self.partSuffix) && other != name {
      try directory.remove(other)
    }
    if let kept = Self.fileName(ofObject: base.name), let file = try directory.open(kept, .write) {
      return file
    }
    if let file = try directory.open(name, .write) { return file }
    guard let file = try directory.open(name, .create) else {
      throw StorageError(operation: "create", path: "\(directory.path)/\(name)", code: 2)
    }
    return file
  }

  /// The bytes of a base that have arrived in a place, which are not checked; `nil` if none have.
  func arrived(_ range: Range<Int>, of base: PublicationHead.Base) -> [UInt8]? {
    let names = [Self.fileName(ofObject: base.name), Self.partPrefix + base.file.sha256 + Self.partSuffix]
    for name in names.compactMap({ $0 }) {
      if let file = try? directory.open(name, .read), let bytes = try? file.read(range.count, at: range.lowerBound),
        bytes.count == range.count
      {
        return bytes
      }
    }
    return nil
  }

  /// Removes the file of a base that is complete, or keeps it for neighbours.
  func finishBase(_ base: PublicationHead.Base) throws {
    let name = Self.partPrefix + base.file.sha256 + Self.partSuffix
    if keepsObjects, let kept = Self.fileName(ofObject: base.name), let file = try directory.open(name, .read) {
      let hash = try Hash.sha256()
      let size = try file.size()
      for offset in stride(from: 0, to: size, by: 1 << 20) {
        try hash.update(file.read(min(1 << 20, size - offset), at: offset))
      }
      if try Hexadecimal.text(hash.digest(), .lowercase) == base.file.sha256 {
        try file.sync()
        try directory.rename(name, to: kept)
        return try directory.sync()
      }
    }
    try directory.remove(name)
  }
}
