import Cryptography
package import Platform
package import PublicationFormat
package import Storage
import TextFormat

/// The immutable files that a mirror keeps for its neighbours, and that a device fetches ahead: `objects/SHA.KIND` is the file `publication-SHA.KIND` next
/// to the catalogue. Each was compared with its hash before it got this name.
extension PublicationCache {
  /// The name of the file that has an object; `nil` if the name is none of an object.
  package static func fileName(ofObject name: String) -> String? {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0] == "objects" else { return nil }
    let pieces = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    guard pieces.count == 2, isHash(pieces[0]), ["base", "delta", "probe"].contains(pieces[1]) else { return nil }
    return "publication-\(parts[1])"
  }

  private static func isHash(_ text: Substring) -> Bool {
    text.utf8.count == 64
      && text.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }

  /// Opens an object for reading; `nil` if it is not kept.
  package func openObject(_ name: String) throws(StorageError) -> (any StorageFile)? {
    guard let name = Self.fileName(ofObject: name) else { return nil }
    return try directory.open(name, .read)
  }

  /// The bytes of an object that is kept and is what its hash says.
  func object(_ name: String, _ file: PublicationHead.File) -> [UInt8]? {
    guard let kept = try? openObject(name), (try? kept.size()) == file.byteCount,
      let bytes = try? kept.read(file.byteCount, at: 0),
      (try? Hash.sha256(of: bytes)).map({ Hexadecimal.text($0, .lowercase) }) == file.sha256
    else { return nil }
    return bytes
  }

  /// Keeps an object whose bytes were compared with its hash.
  func keepObject(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
    guard keepsObjects, let name = Self.fileName(ofObject: name) else { return }
    try write(name, bytes)
  }

  /// Removes the objects that no head of these names.
  func forgetObjects(except heads: [PublicationHead]) throws(StorageError) {
    let kept = Set(heads.flatMap { $0.objects.map(\.name) }.compactMap(Self.fileName(ofObject:)))
    for name in try directory.names() where name.hasPrefix("publication-") && !kept.contains(name) {
      let object = "objects/" + name.dropFirst("publication-".count)
      if Self.fileName(ofObject: object) != nil { try directory.remove(name) }
    }
  }
}

extension PublicationHead {
  /// The immutable files that the head names.
  package var objects: [(name: String, file: File)] {
    ([state] + held).flatMap { state in
      [(state.base.name, state.base.file)] + state.deltas.map { ($0.name, $0.file) }
        + (state.probe.map { [($0.name("probe"), $0)] } ?? [])
    }
  }

  /// The base with a name; `nil` if the head names none so.
  package func base(named name: String) -> Base? {
    ([state] + held).map(\.base).first { $0.name == name }
  }
}

extension PublicationClient {
  /// Fetches an object that a head names, so that it is kept.
  ///
  /// - Throws: ``PublicationFailure``; `StorageError`; `CancellationError`.
  package func fetchObject(_ name: String, _ head: PublicationHead) async throws {
    if let base = head.base(named: name) {
      let lock = try cache.lock()
      defer { lock.release() }
      _ = try await BaseDownload(self, base, cache.openBase(base))
      try cache.finishBase(base)
    } else if let object = head.objects.first(where: { $0.name == name }) {
      _ = try await self.object(object.name, object.file)
    }
  }
}
