import CatalogHTTP
import Cryptography
import ObjectStores
import PublicationFormat
import PublicationSync
import RandomTestSupport
import Synchronization

/// What a place answers instead of what was published.
enum Lie: CaseIterable {
  /// The file is not there.
  case missing
  /// The file ends early.
  case cut
  /// There are bytes after the end of the file.
  case longer
  /// One bit is another one.
  case flipped
  /// The bytes are those of another file of the same kind.
  case swapped
  /// A page for people, with the status 200.
  case page
  case empty
  /// The connection breaks.
  case silent
  /// Nothing has changed, whatever is asked for.
  case unchanged
  /// The file is signed by a key that nobody knows, or was changed and has a signature of that key.
  case forged
}

/// A place from which devices read the files of a publication: those of now, or of an earlier time, or others.
final class LyingOrigin: PublicationOrigin {
  /// Which files the place lies about.
  struct Fault: Sendable, CustomStringConvertible {
    var lie: Lie
    /// The beginning or the end of the names; empty for all files.
    var names: String
    /// Whether only caches lie, which a device can pass by.
    var isOfCaches: Bool
    /// Of how many answers one is a lie.
    var period = 1

    func concerns(_ name: String) -> Bool { name.hasPrefix(names) || name.hasSuffix(names) }
    var description: String { "\(lie)(\(names)\(isOfCaches ? ", caches" : ""), 1 of \(period))" }
  }

  private struct State {
    var files: [String: [UInt8]] = [:]
    var faults: [Fault] = []
    var random = SeededGenerator(seed: 0)
    var requests = 0
    var bytesIn = 0
  }

  let name: String
  private let state = Mutex(State())
  private let forger: SignifySecretKey

  init(_ name: String, forger: SignifySecretKey) {
    self.name = name
    self.forger = forger
  }

  var traffic: (requests: Int, bytesIn: Int) { state.withLock { ($0.requests, $0.bytesIn) } }
  var isHonest: Bool { state.withLock { $0.faults.isEmpty } }

  /// From now on the place has these files, and lies about some of them.
  func set(_ files: [String: [UInt8]], _ faults: [Fault], seed: UInt64) {
    state.withLock { state in
      state.files = files
      state.faults = faults
      state.random = SeededGenerator(seed: seed)
    }
  }

  private enum Answer {
    case missing, silent, unchanged
    case bytes([UInt8])
  }

  private func answer(_ name: String, isFresh: Bool) throws -> Answer {
    try state.withLock { state in
      state.requests += 1
      let bytes = state.files[name]
      var lie: Lie?
      for fault in state.faults where fault.concerns(name) && !(fault.isOfCaches && isFresh) {
        if Int.random(in: 0..<fault.period, using: &state.random) == 0 { lie = fault.lie }
      }
      guard let lie else { return bytes.map(Answer.bytes) ?? .missing }
      switch lie {
      case .missing: return .missing
      case .silent: return .silent
      case .unchanged: return .unchanged
      case .page: return .bytes(Array("<html><body>Please sign in</body></html>".utf8))
      case .empty: return .bytes([])
      case .cut:
        return .bytes(
          Array((bytes ?? []).prefix(Int.random(in: 0...max(0, (bytes ?? []).count - 1), using: &state.random))))
      case .longer: return .bytes((bytes ?? []) + state.random.bytes(3))
      case .flipped:
        guard var bytes, !bytes.isEmpty else { return .missing }
        bytes[Int.random(in: 0..<bytes.count, using: &state.random)] ^=
          1 << UInt8.random(in: 0..<8, using: &state.random)
        return .bytes(bytes)
      case .swapped:
        let kind = name.split(separator: ".").last ?? ""
        let others = state.files.keys.filter { $0 != name && $0.hasSuffix(kind) }.sorted()
        return others.randomElement(using: &state.random).flatMap { state.files[$0] }.map(Answer.bytes) ?? .missing
      case .forged: return try .bytes(forged(name, state.files))
      }
    }
  }

  /// A head that promises a later state, or a list of keys with another key; whole and consistent, but signed by nobody.
  private func forged(_ name: String, _ files: [String: [UInt8]]) throws -> [UInt8] {
    let line = PublicationTrust.line(forger.publicKey)
    switch name {
    case PublicationHead.name, PublicationHead.signatureName:
      guard let json = files[PublicationHead.name], var head = try? PublicationHead(json: json) else { return [] }
      head.state.sequence += 1000
      let text = try head.json()
      return try name == PublicationHead.name ? text : forger.sign(text).embedding(text)
    case KeyList.name, KeyList.signatureName:
      guard let json = files[KeyList.name], var list = try? KeyList(json: json) else { return [] }
      list.version += 1000
      list.keys.append(KeyList.Key(key: line, since: list.keys[0].since))
      return try name == KeyList.name ? list.json : forger.sign(list.json).embedding(list.json)
    default:
      // Another object, whose name is not its hash.
      return Array((files[name] ?? [0]).reversed())
    }
  }

  func contents(
    of name: String, limit: Int, validators: FileValidators?, isFresh: Bool
  ) async throws -> OriginContents {
    switch try answer(name, isFresh: isFresh) {
    case .missing: return .missing(status: 404)
    case .silent: throw PublicationFailure.unavailable("\(self.name)/\(name): the connection was closed")
    case .unchanged: return .unchanged
    case .bytes(let bytes):
      let etag = bytes.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
      if let validators, validators.etag == "\(etag)" { return .unchanged }
      state.withLock { $0.bytesIn += bytes.count }
      guard bytes.count <= limit else {
        throw PublicationFailure.unavailable("\(self.name)/\(name) has more than \(limit) bytes")
      }
      return .bytes(bytes, FileValidators(etag: "\(etag)", lastModified: nil))
    }
  }

  nonisolated(nonsending) func read(
    _ name: String, _ range: Range<Int>, isFresh: Bool, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> Bool {
    switch try answer(name, isFresh: isFresh) {
    case .missing, .unchanged: return false
    case .silent: throw PublicationFailure.unavailable("\(self.name)/\(name): the connection was closed")
    case .bytes(let bytes):
      let part = Array(bytes[range.clamped(to: 0..<bytes.count)])
      for start in stride(from: 0, to: part.count, by: 700) {
        let piece = Array(part[start..<min(start + 700, part.count)])
        state.withLock { $0.bytesIn += piece.count }
        try onPiece(piece.span)
      }
      return part.count == range.count
    }
  }
}
