import Bytes
import Cryptography
import JSONFormat
import Platform
import PublicationFormat
import Storage
import TextFormat

/// Brings a base into a file of the device, part by part: each is checked as it arrives, and fetched again alone if it is
/// damaged. Parts that are there from an earlier run are not fetched again.
///
/// A base of which nothing is there yet is fetched with one request. What that does not bring, a request for each gap does.
struct BaseDownload {
  private let client: PublicationClient
  private let base: PublicationHead.Base
  private let file: any StorageFile
  private(set) var top: BaseFile.Top
  /// The groups of entries, in order.
  private(set) var groups: [BaseFile.Part] = []

  /// Fetches the base.
  ///
  /// - Throws: ``PublicationFailure``; `StorageError`; `CancellationError`.
  init(_ client: PublicationClient, _ base: PublicationHead.Base, _ file: any StorageFile) async throws {
    self.client = client
    self.base = base
    self.file = file
    let whole = BaseFile.Part(
      key: [], offset: 0, byteCount: base.top.byteCount, sha256: Hexadecimal.bytes(of: base.top.sha256) ?? [])
    guard whole.byteCount <= BaseFile.topLimit else {
      throw PublicationFailure.refused("the base has a top of \(whole.byteCount) bytes")
    }
    if try file.size() == 0 { try await Self.fetchAll(whole, client, base, file) }
    try await Self.fetch([whole], client, base, file)
    do {
      top = try BaseFile.Top(file.read(whole.byteCount, at: 0))
    } catch {
      if error is StorageError { throw error }
      throw PublicationFailure.refused("the base: \(error)")
    }
    let pages = top.pages.flatMap { $0 }
    try check(pages)
    try await Self.fetch(pages, client, base, file)
    var all: [BaseFile.Part] = []
    for (section, pages) in top.pages.enumerated() {
      for page in pages {
        let parts: [BaseFile.Part]
        do { parts = try BaseFile.Part.groups(ofPage: file.read(page.byteCount, at: page.offset)) } catch {
          throw PublicationFailure.refused("\(error)")
        }
        all += parts
        if section == Int(BaseFile.Section.entries.rawValue) { groups += parts }
      }
    }
    try check(all)
    try await Self.fetch(all, client, base, file)
  }

  /// Passes the bytes of each group of entries on.
  func forEachGroup(_ body: ([UInt8]) throws -> Void) throws {
    for group in groups {
      let bytes = try file.read(group.byteCount, at: group.offset)
      guard try group.isPart(bytes) else {
        throw PublicationFailure.unavailable("the base was changed on this device while it was read")
      }
      try body(bytes)
    }
  }

  private func check(_ parts: [BaseFile.Part]) throws(PublicationFailure) {
    for part in parts where part.offset + part.byteCount > base.file.byteCount {
      throw .refused("the base has a part behind its end")
    }
  }

  /// Fetches the parts that the file does not have.
  private static func fetch(
    _ parts: [BaseFile.Part], _ client: PublicationClient, _ base: PublicationHead.Base, _ file: any StorageFile
  ) async throws {
    let size = try file.size()
    var missing: [BaseFile.Part] = []
    for part in parts.sorted(by: { $0.offset < $1.offset }) {
      if part.offset + part.byteCount <= size, try part.isPart(file.read(part.byteCount, at: part.offset)) { continue }
      missing.append(part)
    }
    var reasons: [String] = []
    for place in client.places {
      var isWrong = false
      for isFresh in [false, true] {
        if missing.isEmpty { return }
        do {
          (missing, isWrong) = try await fetchRuns(missing, from: place, base, file, isFresh: isFresh)
        } catch PublicationFailure.unavailable(let reason) {
          reasons.append(reason)
          client.mirrorFaults.isUnreachable(place.name, true)
          break
        }
      }
      if !missing.isEmpty, reasons.isEmpty {
        reasons.append(
          "\(place.name)/\(base.name) is not there, or \(missing.count) of its parts have other bytes than were published"
        )
      }
      // What has arrived stays, also if nothing more does.
      try file.sync()
      var rest: [BaseFile.Part] = []
      for part in missing {
        let isThere = try part.offset + part.byteCount <= file.size()
        if try !isThere || !part.isPart(file.read(part.byteCount, at: part.offset)) { rest.append(part) }
      }
      missing = rest
      if isWrong, place.name != client.origin.name {
        client.mirrorFaults.add(
          .wrong, place.name, "\(place.name)/\(base.name) has other bytes than were published")
      }
    }
    if missing.isEmpty { return }
    throw PublicationFailure.unavailable(reasons.joined(separator: "; "))
  }

  /// Fetches the file as a whole, from the first place that has it, as far as it is what was published.
  private static func fetchAll(
    _ top: BaseFile.Part, _ client: PublicationClient, _ base: PublicationHead.Base, _ file: any StorageFile
  ) async throws {
    for place in client.places {
      var sink = WholeSink(top: top, file: file)
      do {
        _ = try await place.read(base.name, 0..<base.file.byteCount, isFresh: false) { try sink.take($0) }
      } catch is WholeSink.Damaged {
      } catch is PublicationFailure {}
      // The rest is fetched part by part.
      if sink.partCount > 0 { return }
    }
  }

  /// Writes the parts of a base that arrives from its beginning, and learns from each which ones follow.
  private struct WholeSink {
    /// The bytes are not those that were published, and what follows cannot be told.
    struct Damaged: Error {}

    private let file: any StorageFile
    /// The parts that are known, in the order of the file.
    private var parts: [BaseFile.Part]
    private var next = 0
    private var pending: [UInt8] = []
    private var pageCount = 0
    private(set) var partCount = 0

    init(top: BaseFile.Part, file: any StorageFile) {
      parts = [top]
      self.file = file
    }

    mutating func take(_ piece: Span<UInt8>) throws {
      var offset = 0
      while offset < piece.count, next < parts.count {
        let part = parts[next]
        let count = min(part.byteCount - pending.count, piece.count - offset)
        pending.append(copying: piece.extracting(offset..<offset + count))
        offset += count
        if pending.count < part.byteCount { return }
        if try part.isPart(pending) {
          try file.write(pending, at: part.offset)
          partCount += 1
        } else if next <= pageCount {
          throw Damaged()
        }
        try addParts()
        pending.removeAll(keepingCapacity: true)
        next += 1
      }
    }

    /// Adds the parts that the last one names.
    private mutating func addParts() throws {
      let named: [BaseFile.Part]
      if next == 0 {
        guard let top = try? BaseFile.Top(pending) else { throw Damaged() }
        named = top.pages.flatMap { $0 }
        pageCount = named.count
      } else if next <= pageCount {
        guard let groups = try? BaseFile.Part.groups(ofPage: pending) else { throw Damaged() }
        named = groups
      } else {
        return
      }
      for part in named {
        guard let last = parts.last, part.offset == last.offset + last.byteCount else { throw Damaged() }
        parts.append(part)
      }
    }
  }

  /// Fetches parts, those that follow each other with one request. Returns the parts that are still missing, and whether
  /// one of them arrived with other bytes.
  private static func fetchRuns(
    _ parts: [BaseFile.Part], from place: any PublicationOrigin, _ base: PublicationHead.Base,
    _ file: any StorageFile, isFresh: Bool
  ) async throws -> (missing: [BaseFile.Part], isWrong: Bool) {
    var missing: [BaseFile.Part] = []
    var isWrong = false
    var first = 0
    while first < parts.count {
      var last = first
      while last + 1 < parts.count, parts[last + 1].offset == parts[last].offset + parts[last].byteCount { last += 1 }
      var sink = PartSink(parts: Array(parts[first...last]), file: file)
      let range = parts[first].offset..<parts[last].offset + parts[last].byteCount
      _ = try await place.read(base.name, range, isFresh: isFresh) { try sink.take($0) }
      missing += sink.missing
      isWrong = isWrong || !sink.damaged.isEmpty
      first = last + 1
    }
    return (missing, isWrong)
  }

  /// Writes parts that arrive one after the other, those that are what was published.
  private struct PartSink {
    let parts: [BaseFile.Part]
    let file: any StorageFile
    private var next = 0
    private var pending: [UInt8] = []
    private(set) var damaged: [BaseFile.Part] = []

    init(parts: [BaseFile.Part], file: any StorageFile) {
      self.parts = parts
      self.file = file
    }

    /// The parts that did not arrive, or not as they were published.
    var missing: [BaseFile.Part] { damaged + parts[next...] }

    mutating func take(_ piece: Span<UInt8>) throws {
      var offset = 0
      while offset < piece.count, next < parts.count {
        let part = parts[next]
        let count = min(part.byteCount - pending.count, piece.count - offset)
        pending.append(copying: piece.extracting(offset..<offset + count))
        offset += count
        if pending.count < part.byteCount { return }
        if try part.isPart(pending) { try file.write(pending, at: part.offset) } else { damaged.append(part) }
        pending.removeAll(keepingCapacity: true)
        next += 1
      }
    }
  }
}
