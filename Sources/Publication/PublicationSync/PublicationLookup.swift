import Bytes
package import Catalog
import CatalogRows
package import Cryptography
import LogStore
package import PublicationFormat
import Storage
import TextFormat
import Zstd

/// Answers scans of a device that has no rows yet, from a few parts of the publication: head, table of groups, and the
/// groups that can have what matches.
///
/// The real matching reads a catalogue in memory with the rows of these groups, and notes what it asked for. If the table
/// of groups proves that no other group has any of that, the match is that of all rows of the base.
package actor PublicationLookup {
  package struct Answer: Sendable {
    /// The match. If it is not known yet, it has no products.
    package var match: Match
    /// Whether the match is the one that all rows would give, apart from suggestions, of which it has none.
    package var isKnown: Bool
    /// The state whose rows were read: that of the base. Devices get later ones with deltas.
    package var sequence: UInt64
    package var head: PublicationHead
    package var notes: [String]
    /// The root key that was taken from the publication itself, because none was given.
    package var trustedFirstKey: String?
  }

  /// The most groups of entries that are read for one answer.
  package static let groupLimit = 24
  private static let roundLimit = 24
  /// How long a head counts before it is asked for again.
  private static let headLifetime: Duration = .seconds(60)
  /// A table of at most this many bytes is fetched together with the top, as that takes no longer than a request of its own.
  private static let tableByteCount = 10_000

  private let client: PublicationClient
  /// Where a base arrives at the same time; `nil` if none does.
  private let arriving: PublicationCache?
  private var checked: (head: PublicationClient.CheckedHead, time: ContinuousClock.Instant)?
  private var parts: PublicationParts?

  /// - Parameters:
  ///   - origin: The publication.
  ///   - mirrors: Where files are asked for first.
  ///   - rootKey: The root key that the operator has given; `nil` to take that of the publication.
  ///   - deviceNumber: The device's number among all devices, which decides its ring.
  ///   - arriving: The cache of the catalogue that the base is being fetched for: parts that are there are not fetched.
  package init(
    origin: any PublicationOrigin, mirrors: [any PublicationOrigin], rootKey: SignifyPublicKey?, deviceNumber: Double,
    arriving: PublicationCache? = nil
  ) {
    client = PublicationClient(
      origin: origin, mirrors: mirrors, cache: PublicationCache(of: StoreLocation(MemoryDirectory(), name: "head")),
      rootKey: rootKey, deviceNumber: deviceNumber)
    self.arriving = arriving
  }

  /// The requests so far, and the bytes that they brought.
  package var traffic: (requests: Int, bytesIn: Int) {
    (client.mirrors + [client.origin]).reduce(into: (requests: 0, bytesIn: 0)) {
      $0.requests += $1.traffic.requests
      $0.bytesIn += $1.traffic.bytesIn
    }
  }

  /// Matches a scan.
  ///
  /// - Parameters:
  ///   - fields: The declared fields of one's own.
  ///   - match: Matches the scan in a catalogue.
  /// - Throws: ``PublicationFailure`` if the publication cannot be reached, or is refused; `StoreError`;
  ///   `CancellationError`.
  package func answer(
    fields: DeclaredFields = DeclaredFields(), _ match: @Sendable (CatalogSnapshot) throws -> Match
  ) async throws -> Answer {
    let checked = try await head()
    let base = checked.head.state(ofDevice: client.deviceNumber).base
    do {
      if parts?.base != base { parts = try await top(of: base, checked.head) }
      let (found, isKnown) = try await self.match(base, fields, match)
      return Answer(
        match: found, isKnown: isKnown, sequence: base.sequence, head: checked.head, notes: checked.notes,
        trustedFirstKey: client.rootKey == nil ? checked.trust.root.map { "\($0.number)" } : nil)
    } catch let error as PublicationError {
      throw PublicationFailure.refused("the base: \(error)")
    } catch let error as ZstdError {
      throw PublicationFailure.refused("the base: \(error)")
    }
  }

  private func head() async throws -> PublicationClient.CheckedHead {
    let now = ContinuousClock.now
    if let checked, now - checked.time < Self.headLifetime { return checked.head }
    if let known = checked?.head {
      var head = known
      do { head = try await client.head(nil, takesOther: false) } catch PublicationFailure.unavailable(let reason) {
        head.notes = ["the head is that of a while ago: \(reason)"]
      }
      checked = (head, now)
      return head
    }
    let places = (client.mirrors + [client.origin]).map { HeadPrefetch($0) }
    defer { for place in places { place.cancel() } }
    let first = PublicationClient(
      origin: places[places.count - 1], mirrors: places.dropLast(), cache: client.cache, rootKey: client.rootKey,
      deviceNumber: client.deviceNumber)
    let head = try await first.head(nil, takesOther: false)
    checked = (head, now)
    return head
  }

  // MARK: Matching

  private func match(
    _ base: PublicationHead.Base, _ fields: DeclaredFields, _ match: @Sendable (CatalogSnapshot) throws -> Match
  ) async throws -> (Match, isKnown: Bool) {
    // The groups that the catalogue has, by their number.
    var loaded: [Int: [UInt8]] = [:]
    var rows = try Self.catalogue([])
    // Each round reads further groups, or parts that tell which ones.
    for _ in 0..<Self.roundLimit {
      guard let parts, parts.base == base else {
        throw PublicationFailure.busy("the publication has changed meanwhile: ask again")
      }
      let trace = LookupTrace(declaresCodes: !fields.codes.isEmpty)
      let found = try match(rows.declaring(fields).noting(trace, hasCodes: parts.hasCodes))
      var wanted = PublicationParts.Wanted()
      var needed: Set<Int> = []
      for request in trace.requests {
        needed.formUnion(Self.entryGroups(request, parts, &wanted))
        // The first question is answered before the others are asked: most scans are a barcode.
        if request == trace.requests.first, !wanted.isEmpty || needed.contains(where: { loaded[$0] == nil }) { break }
      }
      needed.subtract(loaded.keys)
      if wanted.isEmpty, needed.isEmpty {
        if trace.requests.contains(.otherFields) { break }
        return (found, true)
      }
      if loaded.count + needed.count > Self.groupLimit { break }
      for number in needed where parts.groups[number] == nil {
        let id = PublicationParts.ID(section: .entries, number: number)
        if parts.group(id) != nil {
          wanted.groups.insert(id)
        } else if let page = parts.pageID(ofGroup: id)?.page {
          wanted.pages.insert(page)
        } else {
          throw PublicationError.damaged("a code is in a group that the base lacks")
        }
      }
      if !wanted.isEmpty {
        try await fetch(wanted, base)
        continue
      }
      for number in needed { loaded[number] = parts.groups[number] }
      rows = try Self.catalogue(Array(loaded.values))
    }
    return (try match(.empty), false)
  }

  /// The groups of entries that a request depends on, as far as it can be told.
  ///
  /// - Parameter wanted: Receives what has to be fetched to tell the others.
  private static func entryGroups(
    _ request: LookupTrace.Request, _ parts: PublicationParts, _ wanted: inout PublicationParts.Wanted
  ) -> Set<Int> {
    var groups: [PublicationParts.ID] = []
    switch request {
    case .barcodes(let keys):
      for key in keys where !key.isEmpty { groups += parts.groups(withKey: key, .entries, &wanted) }
    case .furtherCodes(let keys):
      for key in keys where !key.isEmpty {
        let places = parts.groups(withKey: key, .codes, &wanted)
        groups += parts.groups(ofCodes: [key], in: places, &wanted)
      }
    case .heads(let key, let shortest):
      groups += parts.groups(withHeadsOf: key, shortest: shortest, .entries, &wanted)
      let places = parts.groups(withHeadsOf: key, shortest: shortest, .codes, &wanted)
      if !places.isEmpty, shortest < key.count {
        let heads = (shortest..<key.count).map { Array(key.prefix($0)) }
        groups += parts.groups(ofCodes: heads, in: places, &wanted)
      }
    case .otherFields: break
    }
    return Set(groups.map(\.number))
  }

  /// A catalogue in memory with the rows of some groups.
  private static func catalogue(_ groups: [[UInt8]]) throws -> CatalogSnapshot {
    let writer = try CatalogWriter(StoreLocation(MemoryDirectory(), name: "catalogue"))
    defer { writer.close() }
    var sink = RowSink(update: try writer.beginFullUpdate(.open))
    do {
      for group in groups { try RowGroupReader(group).forEachEntry(into: &sink) }
    } catch {
      sink.update.cancel()
      throw error
    }
    _ = try sink.update.commit(cursor: "")
    return try writer.snapshot()
  }

  private struct RowSink: RowGroupSink {
    var update: FullUpdate
    mutating func entry(_ id: RawSpan) {}
    mutating func product(_ row: borrowing ProductRow) throws { try update.product(row) }
    mutating func relation(_ row: borrowing RelationRow) throws { try update.relation(row) }
    mutating func code(_ row: borrowing CodeRow) throws { try update.code(row) }
  }

  // MARK: Fetching

  private func top(of base: PublicationHead.Base, _ head: PublicationHead) async throws -> PublicationParts {
    guard base.top.byteCount <= BaseFile.topLimit, base.top.byteCount <= base.file.byteCount else {
      throw PublicationFailure.refused("the base has a top of \(base.top.byteCount) bytes")
    }
    let counts = head.state(ofDevice: client.deviceNumber).counts
    // About 60 bytes for each group.
    let table = 60 * (counts.products / RowGroup.entryLimit + counts.codes / CodeGroup.codeLimit + 4)
    let end = table <= Self.tableByteCount ? base.top.byteCount + table : base.top.byteCount
    let part = BaseFile.Part(
      key: [], offset: 0, byteCount: base.top.byteCount, sha256: Hexadecimal.bytes(of: base.top.sha256) ?? [])
    let bytes = try await Self.fetch(
      [Run(parts: [part], end: min(end, base.file.byteCount))], base, client, arriving)[0]
    return try PublicationParts(base, bytes)
  }

  private func fetch(_ wanted: PublicationParts.Wanted, _ base: PublicationHead.Base) async throws {
    guard let known = parts, known.base == base else { return }
    var ids: [(id: PublicationParts.ID, isPage: Bool, part: BaseFile.Part)] = []
    for id in wanted.pages { ids.append((id, true, known.page(id))) }
    for id in wanted.groups { if let part = known.group(id) { ids.append((id, false, part)) } }
    ids.sort { $0.part.offset < $1.part.offset }
    var arrived: [Int: [UInt8]] = [:]
    var runs: [(run: Run, first: Int)] = []
    for (index, item) in ids.enumerated() {
      let start = item.part.offset - base.top.byteCount
      if start >= 0, start + item.part.byteCount <= known.rest.count {
        let bytes = Array(known.rest[start..<start + item.part.byteCount])
        if try item.part.isPart(bytes) {
          arrived[index] = bytes
          continue
        }
      }
      if let last = runs.last, last.run.end == item.part.offset, last.first + last.run.parts.count == index {
        runs[runs.count - 1].run.parts.append(item.part)
        runs[runs.count - 1].run.end += item.part.byteCount
      } else {
        runs.append((Run(parts: [item.part], end: item.part.offset + item.part.byteCount), index))
      }
    }
    let bytes = try await Self.fetch(runs.map(\.run), base, client, arriving)
    for (run, bytes) in zip(runs, bytes) {
      var offset = 0
      for (index, part) in run.run.parts.enumerated() {
        arrived[run.first + index] = Array(bytes[offset..<offset + part.byteCount])
        offset += part.byteCount
      }
    }
    // Another lookup may have gone on to another base.
    guard parts?.base == base else { return }
    parts?.trim()
    for (index, item) in ids.enumerated() {
      guard let bytes = arrived[index] else { continue }
      if item.isPage { try parts?.add(page: item.id, bytes) } else { try parts?.add(group: item.id, bytes) }
    }
  }

  /// Parts that follow each other, and possibly more bytes after them.
  private struct Run: Sendable {
    var parts: [BaseFile.Part]
    var end: Int

    var range: Range<Int> { parts[0].offset..<end }

    /// Whether bytes begin with these parts.
    func isBegin(of bytes: [UInt8]) throws -> Bool {
      var offset = 0
      for part in parts {
        guard offset + part.byteCount <= bytes.count,
          try part.isPart(Array(bytes[offset..<offset + part.byteCount]))
        else { return false }
        offset += part.byteCount
      }
      return true
    }
  }

  /// Fetches runs at the same time, each from the first place that has it as it was published.
  private static func fetch(
    _ runs: [Run], _ base: PublicationHead.Base, _ client: PublicationClient, _ arriving: PublicationCache?
  ) async throws -> [[UInt8]] {
    try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
      for (index, run) in runs.enumerated() {
        group.addTask { (index, try await fetch(run, base, client, arriving)) }
      }
      var all = [[UInt8]](repeating: [], count: runs.count)
      for try await (index, bytes) in group { all[index] = bytes }
      return all
    }
  }

  private static func fetch(
    _ run: Run, _ base: PublicationHead.Base, _ client: PublicationClient, _ arriving: PublicationCache?
  ) async throws -> [UInt8] {
    let count = run.parts.reduce(0) { $0 + $1.byteCount }
    let start = run.range.lowerBound
    if let kept = arriving?.arrived(start..<start + count, of: base), try run.isBegin(of: kept) { return kept }
    var reasons: [String] = []
    for place in client.mirrors + [client.origin] {
      for isFresh in [false, true] {
        var bytes: [UInt8] = []
        do {
          _ = try await place.read(base.name, run.range, isFresh: isFresh) { bytes.append(copying: $0) }
        } catch PublicationFailure.unavailable(let reason) {
          reasons.append(reason)
          break
        }
        if try run.isBegin(of: bytes) { return bytes }
        if isFresh {
          reasons.append("\(place.name)/\(base.name) is not there, or has other bytes than were published")
          if place.name != client.origin.name, !bytes.isEmpty {
            client.mirrorFaults.add(.wrong, place.name, reasons.last ?? "")
          }
        }
      }
    }
    throw PublicationFailure.unavailable(reasons.joined(separator: "; "))
  }
}
