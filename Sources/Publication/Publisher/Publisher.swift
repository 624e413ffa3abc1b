import Bytes
package import Catalog
import CatalogRows
import Cryptography
import Essentials
package import LogStore
package import ObjectStores
import PublicationFormat
import PublicationSync
import TextFormat
import Zstd

/// Publishes a catalogue: writes what changed as immutable objects, and then the head that names them.
///
/// It keeps the published rows as a catalogue of its own, so that each publication costs what changed. A publication has these
/// steps, and can be interrupted in each of them:
///
/// 1. The objects and the new head are written to the outbox, and the state says that they are pending.
/// 2. The published rows are changed, in one commit, if they then have the digest of the source.
/// 3. The objects are written to where devices read them, then the signature with the head in it, then the head.
/// 4. The state says that nothing is pending.
///
/// The next run drops a publication that was interrupted before the end of step 2, of which nobody has seen anything, and
/// completes one that was interrupted later.
package struct Publisher: Sendable {
  let place: PublisherDirectory
  let target: any ObjectStore
  package var options: PublisherOptions

  /// - Parameters:
  ///   - location: The catalogue of the published rows, in a directory of its own.
  ///   - target: Where devices read.
  package init(_ location: StoreLocation, to target: any ObjectStore, _ options: PublisherOptions) {
    place = PublisherDirectory(location)
    self.target = target
    self.options = options
  }

  private static let objectType = ObjectType(
    mediaType: "application/octet-stream", cacheControl: "public, max-age=31536000, immutable")
  private static let headType = ObjectType(mediaType: "application/json", cacheControl: "no-cache")

  /// Publishes what a catalogue has now.
  ///
  /// - Throws: ``PublisherError``; `ObjectStoreError`; `StoreError`, `CatalogError`. Devices then see the state that they saw
  ///   before, or the new one if only reading it back has failed.
  package func publish(_ source: CatalogSnapshot) async throws -> PublishReport {
    let lock = try place.lock()
    defer { lock.release() }
    guard source.sequence > 0 else {
      throw PublisherError.invalid("the catalogue was never filled: there is nothing to publish")
    }
    var (state, head, versions, report) = try await open()
    let published = try CatalogReader.open(place.published)?.snapshot()
    let changed: [[UInt8]] = try head == nil ? [] : source.changedEntries(since: published ?? source)
    let cursorMoved = published.map { $0.cursor != source.cursor } ?? true
    if var head, changed.isEmpty, !cursorMoved {
      // Nothing but the head may change.
      let now = options.now()
      let isDue = now >= head.published.addingTimeInterval(head.expires.timeIntervalSince(head.published) / 2)
      let rings = options.rings ?? head.rings
      // The key that signed it may have been withdrawn.
      let isSigned = versions.signer == options.key.number
      report.expires = head.expires
      try await addText(source, head, &state, &report)
      if !isDue, isSigned, rings == head.rings { return report }
      head.rings = rings
      try hold(&head, former: head, state)
      try fit(&head)
      stamp(&head, now, after: head.published)
      try await write(head, &state, &versions, outbox: [:], &report)
      return report
    }
    report.changed = changed.count
    try await publish(source, changed, published, head, &state, &versions, &report)
    return report
  }

  /// Gives the rings of the options to the devices, without a new state.
  ///
  /// - Throws: ``PublisherError``; `ObjectStoreError`.
  package func setRings() async throws -> PublishReport {
    let lock = try place.lock()
    defer { lock.release() }
    var (state, known, versions, report) = try await open()
    guard var head = known else { throw PublisherError.invalid("nothing was published to \(target) yet") }
    report.expires = head.expires
    guard let rings = options.rings, rings != head.rings else { return report }
    let former = head
    head.rings = rings
    try hold(&head, former: former, state)
    try options.checkRings?(former, head)
    try fit(&head)
    stamp(&head, options.now(), after: former.published)
    try await write(head, &state, &versions, outbox: [:], &report)
    return report
  }

  // MARK: Where things stand

  /// The versions of the two files of the head where devices read, and the key that signed it.
  private struct Versions {
    var head: String?
    var signature: String?
    var signer: SignifyKeyNumber?
  }

  /// Reads the state, compares it with what devices see, and completes a publication that was interrupted.
  private func open() async throws -> (PublisherState, PublicationHead?, Versions, PublishReport) {
    var state = try place.state() ?? PublisherState(catalogue: UUID().uuidString.lowercased())
    let seen = try await readHead()
    var versions = seen.versions
    let mark = try CatalogReader.open(place.published)?.snapshot().publication
    let pending = try state.isPending ? state.head.map { try PublicationHead(json: Array($0.utf8)) } : nil
    if let pending, mark?.sequence ?? 0 < pending.sequence {
      // The published rows do not have it yet, so nobody has seen it.
      state.head = state.formerHead
      state.isPending = false
      state.outbox = []
      try place.write(state)
    }
    let own = state.isPending ? [state.formerHead, state.head] : [state.head]
    guard let text = state.head else {
      if let head = seen.head ?? seen.signed {
        let other = try PublicationHead(json: Array(head.utf8))
        throw PublisherError.otherPublisher(
          "\(target) has the catalogue \(other.catalogue) of \(other.publisher) already, state \(other.sequence):"
            + " publish from the same user and root directory as before, or to another place; if that directory is lost, go"
            + " on from what is there with --take-over")
      }
      return (state, nil, versions, PublishReport(sequence: 0))
    }
    if let head = seen.head, !own.contains(head) { throw otherPublisher(head) }
    if let head = seen.signed, !own.contains(head) { throw otherPublisher(head) }
    if seen.head == nil, !own.contains(nil) {
      throw PublisherError.notPublished(
        "\(target)/\(PublicationHead.name) is gone, and what it named may be too: put the files back, or publish to"
          + " another place")
    }
    let head = try PublicationHead(json: Array(text.utf8))
    var report = PublishReport(sequence: head.sequence)
    if state.isPending {
      report.isContinued = true
      try await upload(head, Array(text.utf8), &state, &versions, &report)
    }
    return (state, head, versions, report)
  }

  /// - Parameter text: A head that this publisher has not written.
  private func otherPublisher(_ text: String?) -> PublisherError {
    guard let head = text.flatMap({ try? PublicationHead(json: Array($0.utf8)) }) else {
      return .otherPublisher("\(target)/\(PublicationHead.name) is no head: something else writes there")
    }
    let time = CivilTime(milliseconds: Int64(head.published.timeIntervalSince1970 * 1000)).secondsText
    return .otherPublisher(
      "\(head.publisher) has published the state \(head.sequence) to \(target), at \(time): stop one of the two publishers;"
        + " if the other one is gone, go on from its state with --take-over")
  }

  /// The head where devices read, the head that its signature signs, and the versions of the two files.
  private func readHead() async throws -> (head: String?, signed: String?, versions: Versions) {
    let head = try await target.get(PublicationHead.name, limit: PublicationHead.byteLimit)
    let signature = try await target.get(PublicationHead.signatureName, limit: 2 * PublicationHead.byteLimit)
    return (
      head.map { String(decoding: $0.bytes, as: UTF8.self) }, signature.flatMap { Self.signed($0.bytes) },
      Versions(
        head: head?.version, signature: signature?.version,
        signer: signature.flatMap { try? SignifySignature.embedded(in: $0.bytes).signature.number })
    )
  }

  /// The head that follows a signature.
  private static func signed(_ file: [UInt8]) -> String? {
    guard let signed = try? SignifySignature.embedded(in: file).message, !signed.isEmpty else { return nil }
    return String(decoding: signed, as: UTF8.self)
  }

  // MARK: A new state

  private func publish(
    _ source: CatalogSnapshot, _ changed: [[UInt8]], _ published: CatalogSnapshot?, _ former: PublicationHead?,
    _ state: inout PublisherState, _ versions: inout Versions, _ report: inout PublishReport
  ) async throws {
    let sequence = (former?.sequence ?? 0) + 1
    let sum = try CatalogRowSum(source)
    let digest = sum.digest(cursor: source.cursor).description
    let mark = PublicationMark(catalogue: state.catalogue, sequence: sequence, keysVersion: 0, rootKey: [])
    var outbox: [String: [UInt8]] = [:]
    var limits = former?.limits ?? PublicationHead.Limits(rows: 0, bytes: 0, text: 0)
    var deltas = former?.state.deltas ?? []
    var base = former?.state.base
    if let former {
      try addDeltas(changed, from: former.sequence, source, former.state, &deltas, &outbox, &limits)
    }
    let rings = options.rings ?? former?.rings ?? []
    var isFar = true
    if let former {
      var next = former.state
      (next.sequence, next.deltas) = (sequence, deltas)
      isFar = HeadSelection.isFar(next, pathLimit: HeadSelection.pathLimit(rings))
    }
    if isFar { base = try makeBase(source, sequence, &outbox, &limits) }
    guard var newBase = base else { return }
    limits.rows = source.productCount + source.relationCount + source.codeCount
    var head = makeHead(source, sequence, digest, newBase, deltas, limits, former, state)
    head.state.probe = try options.probe.map { probe in
      let file = try add(probe.json, "probe", to: &outbox)
      return file
    }
    head.state.activation = options.activation
    try hold(&head, former: former, state)
    if !HeadSelection.fit(&head) {
      if newBase.sequence != sequence { newBase = try makeBase(source, sequence, &outbox, &limits) }
      head.state.base = newBase
      head.limits = limits
      try fit(&head)
    }
    if options.writesNDJSON { outbox[Self.textName(sequence)] = try Self.text(of: source) }
    Self.keepNamed(by: head, &outbox)
    // Until here nothing was changed. From here on the publication is pending.
    try keep(outbox, head, &state)
    let isSame = try commit(source, changed, mark, digest, isFirst: published == nil || former == nil)
    if !isSame {
      // Deltas cannot say what changed: devices take all rows.
      newBase = try newBase.sequence == sequence ? newBase : makeBase(source, sequence, &outbox, &limits)
      head.state.base = newBase
      head.state.deltas = []
      head.limits = limits
      Self.keepNamed(by: head, &outbox)
      try keep(outbox, head, &state)
      try replaceAll(source, mark, sum)
    }
    report.sequence = sequence
    report.baseByteCount = newBase.sequence == sequence ? newBase.file.byteCount : nil
    report.deltas = head.state.deltas.filter { delta in outbox[delta.name] != nil }
    try await upload(head, Array(state.head?.utf8 ?? "".utf8), &state, &versions, &report)
  }

  private func makeHead(
    _ source: CatalogSnapshot, _ sequence: UInt64, _ digest: String, _ base: PublicationHead.Base,
    _ deltas: [PublicationHead.Delta], _ limits: PublicationHead.Limits, _ former: PublicationHead?,
    _ state: PublisherState
  ) -> PublicationHead {
    let new = PublicationHead.State(
      sequence: sequence, cursor: source.cursor,
      counts: PublicationHead.Counts(
        products: source.productCount, relations: source.relationCount, codes: source.codeCount),
      digest: digest, base: base, deltas: deltas)
    let now = options.now()
    var head = PublicationHead(
      catalogue: state.catalogue, publisher: options.publisher, published: now,
      expires: now, poll: options.poll, spread: options.spread, limits: limits, state: new)
    stamp(&head, now, after: former?.published)
    head.rings = options.rings ?? former?.rings ?? []
    return head
  }

  /// Gives a head its times, to the second. Of two heads, the later one has the later time: so a device that finds one of
  /// them with the signature of the other one knows which counts.
  private func stamp(_ head: inout PublicationHead, _ now: Date, after former: Date?) {
    let second = max(now.timeIntervalSince1970.rounded(.down), (former?.timeIntervalSince1970 ?? 0) + 1)
    head.published = Date(timeIntervalSince1970: second)
    head.expires = Date(timeIntervalSince1970: (second + options.lifetime).rounded(.down))
    head.publisher = options.publisher
  }

  /// Adds the delta from the last state, and those that lead over the last 2, 4, 8 … states at once if their time has
  /// come: so a device that missed N states needs about log₂ N files.
  private func addDeltas(
    _ changed: [[UInt8]], from former: UInt64, _ source: CatalogSnapshot, _ last: PublicationHead.State,
    _ deltas: inout [PublicationHead.Delta], _ outbox: inout [String: [UInt8]], _ limits: inout PublicationHead.Limits
  ) throws {
    let to = former + 1
    var ids = changed
    var length: UInt64 = 1
    while true {
      let (groups, longestText) = try GroupBuilder.groups(of: ids, in: source)
      let bytes = try DeltaFile.bytes(from: to - length, to: to, groups: groups, level: options.level)
      // All rows at once cost less then.
      if bytes.count > max(last.base.file.byteCount / 2, 1024) { return }
      limits.text = max(limits.text, longestText)
      deltas.append(
        PublicationHead.Delta(from: to - length, to: to, file: try add(bytes, "delta", to: &outbox)))
      length *= 2
      guard to.isMultiple(of: length), to >= length else { return }
      // The first half, whose ids are in the copy that was kept.
      guard let half = deltas.first(where: { $0.from == to - length && $0.to == to - length / 2 }),
        let copy = try place.read(PublisherDirectory.copy(half.name))
      else { return }
      var all = IDSink(ids: Set(ids))
      try DeltaFile.forEachGroup(of: copy, from: half.from, to: half.to) { try $0.forEachEntry(into: &all) }
      ids = all.ids.sorted { $0.lexicographicallyPrecedes($1) }
    }
  }

  private struct IDSink: RowGroupSink {
    var ids: Set<[UInt8]>
    mutating func entry(_ id: RawSpan) { ids.insert(id.copied()) }
    mutating func product(_ row: borrowing ProductRow) {}
    mutating func relation(_ row: borrowing RelationRow) {}
    mutating func code(_ row: borrowing CodeRow) {}
  }

  private func makeBase(
    _ source: CatalogSnapshot, _ sequence: UInt64, _ outbox: inout [String: [UInt8]],
    _ limits: inout PublicationHead.Limits
  ) throws -> PublicationHead.Base {
    let base = try GroupBuilder.base(
      of: source, level: options.level, dictionaryByteCount: options.dictionaryByteCount)
    limits.bytes = base.byteCount
    limits.text = base.longestText
    let top = try Hash.sha256(of: Array(base.bytes[..<base.topByteCount]))
    return PublicationHead.Base(
      sequence: sequence, file: try add(base.bytes, "base", to: &outbox),
      top: PublicationHead.File(byteCount: base.topByteCount, sha256: Hexadecimal.text(top, .lowercase)))
  }

  private func add(
    _ bytes: [UInt8], _ kind: String, to outbox: inout [String: [UInt8]]
  ) throws -> PublicationHead.File {
    let file = PublicationHead.File(
      byteCount: bytes.count, sha256: Hexadecimal.text(try Hash.sha256(of: bytes), .lowercase))
    outbox[file.name(kind)] = bytes
    return file
  }

  /// Keeps the states that rings have, as the heads had them when they were the newest.
  private func hold(_ head: inout PublicationHead, former: PublicationHead?, _ known: PublisherState) throws {
    var held: [PublicationHead.State] = []
    for sequence in Set(head.rings.map(\.sequence)).sorted() where sequence != head.sequence {
      guard let state = former?.state(sequence) ?? head.state(sequence) ?? known.state(sequence) else {
        throw PublisherError.invalid(
          "a ring cannot have the state \(sequence): the newest one is \(head.sequence), and of those before it the last"
            + " \(PublisherState.headCount) can be given whose files are still there")
      }
      held.append(state)
    }
    head.held = held
  }

  /// Leaves out deltas until the head has room for what is left.
  private func fit(_ head: inout PublicationHead) throws {
    guard !HeadSelection.fit(&head) else { return }
    throw PublisherError.invalid(
      "the head has no room for the states of its rings (\(head.held.map { "\($0.sequence)" }.joined(separator: ", "))):"
        + " let the rings have fewer states, with 'catalogctl publish ring'")
  }

  // MARK: The published rows

  /// Writes the outbox and the state, durably.
  private func keep(_ outbox: [String: [UInt8]], _ head: PublicationHead, _ state: inout PublisherState) throws {
    for (name, bytes) in outbox.sorted(by: { $0.key < $1.key }) {
      try place.write(PublisherDirectory.copy(name), bytes)
    }
    if !state.isPending { state.formerHead = state.head }
    state.head = String(decoding: try head.json(), as: UTF8.self)
    state.isPending = true
    state.outbox = outbox.keys.sorted()
    try place.write(state)
  }

  /// Changes the published rows as a device would. Returns whether they have the digest of the source.
  private func commit(
    _ source: CatalogSnapshot, _ changed: [[UInt8]], _ mark: PublicationMark, _ digest: String, isFirst: Bool
  ) throws -> Bool {
    if isFirst { return false }
    let writer = try CatalogWriter(place.published)
    defer { writer.close() }
    var rows = ReplacementSink()
    for group in try GroupBuilder.groups(of: changed, in: source).groups {
      try RowGroupReader(group).forEachEntry(into: &rows)
    }
    do {
      _ = try rows.rows.commit(to: writer, cursor: source.cursor, mark, digest: digest)
      return true
    } catch is DigestMismatch {
      return false
    }
  }

  private struct ReplacementSink: RowGroupSink {
    var rows = RowReplacement()
    mutating func entry(_ id: RawSpan) { rows.entry(id) }
    mutating func product(_ row: borrowing ProductRow) throws { try rows.product(row) }
    mutating func relation(_ row: borrowing RelationRow) throws { try rows.relation(row) }
    mutating func code(_ row: borrowing CodeRow) throws { try rows.code(row) }
  }

  private func replaceAll(_ source: CatalogSnapshot, _ mark: PublicationMark, _ sum: CatalogRowSum) throws {
    let writer = try CatalogWriter(place.published)
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    var mark = mark
    mark.rowSum = PublicationMark.RowSum(sum)
    do {
      var (product, relation, code) = (ProductRow(), RelationRow(), CodeRow())
      let rows = try source.rowIDs()
      for row in rows.products where try source.copy(row, to: &product) { try update.product(product) }
      for row in rows.relations where try source.copy(row, to: &relation) { try update.relation(relation) }
      for row in rows.codes {
        for one in try source.codes(inRecord: row) {
          one.fill(&code)
          try update.code(code)
        }
      }
    } catch {
      update.cancel()
      throw error
    }
    _ = try update.commit(cursor: source.cursor, publication: mark) { candidate in
      let own = try CatalogDigest(candidate).description
      let wanted = sum.digest(cursor: source.cursor).description
      if own != wanted { throw DigestMismatch(own: own, published: wanted) }
    }
  }

  // MARK: Writing

  /// Writes the objects of the outbox and the head that is pending, and reads them back.
  private func upload(
    _ head: PublicationHead, _ json: [UInt8], _ state: inout PublisherState, _ versions: inout Versions,
    _ report: inout PublishReport
  ) async throws {
    for name in state.outbox {
      guard let bytes = try place.read(PublisherDirectory.copy(name)) else {
        throw PublisherError.invalid("the copy of \(name) is not in \(place.directory.path) any more")
      }
      try await put(name, bytes, &report)
    }
    try await ensureKeys(&report)
    try await putHead(json, &versions, &report)
    try await check(head, json, new: state.outbox)
    for name in state.outbox {
      state.sizes[name] = try place.directory.byteCount(of: PublisherDirectory.copy(name))
    }
    finish(head, &state)
    try place.write(state)
    try place.removeCopies(except: Set(head.state.deltas.map { PublisherDirectory.copy($0.name) }))
    report.isPublished = true
    report.expires = head.expires
  }

  /// Writes a head that names the same objects as the last one.
  private func write(
    _ head: PublicationHead, _ state: inout PublisherState, _ versions: inout Versions, outbox: [String: [UInt8]],
    _ report: inout PublishReport
  ) async throws {
    try keep(outbox, head, &state)
    try await upload(head, Array(state.head?.utf8 ?? "".utf8), &state, &versions, &report)
  }

  func put(_ name: String, _ bytes: [UInt8], _ report: inout PublishReport) async throws {
    switch try await target.put(name, bytes, .ifAbsent, Self.objectType) {
    case .written:
      report.objects += 1
      report.bytesOut += bytes.count
    case .preconditionFailed:
      // The name is the hash, so what is there should be the same.
      let known: [UInt8]?
      do { known = try await target.get(name, limit: bytes.count)?.bytes } catch ObjectStoreError.tooLarge {
        known = nil
      }
      guard known == bytes else {
        throw PublisherError.notPublished(
          "\(target)/\(name) is there already, with other bytes than belong there: remove it, and try again")
      }
    }
  }

  /// Writes the signature, which has the head in it, and then the head. Both are replaced only if they are as they were
  /// read.
  private func putHead(_ json: [UInt8], _ versions: inout Versions, _ report: inout PublishReport) async throws {
    let signature = try options.key.sign(json).embedding(json)
    let files = [
      (PublicationHead.signatureName, signature, versions.signature), (PublicationHead.name, json, versions.head),
    ]
    for (name, bytes, version) in files {
      let type =
        name == PublicationHead.name ? Self.headType : ObjectType(mediaType: "text/plain", cacheControl: "no-cache")
      switch try await target.put(name, bytes, version.map(PutCondition.ifVersion) ?? .ifAbsent, type) {
      case .written(let version):
        if name == PublicationHead.name { versions.head = version } else { versions.signature = version }
        versions.signer = options.key.number
        report.objects += 1
        report.bytesOut += bytes.count
      case .preconditionFailed:
        let seen = try await target.get(name, limit: 2 * PublicationHead.byteLimit)?.bytes
        // A retry of a write whose answer was lost.
        if seen == bytes { continue }
        let text = seen.flatMap { name == PublicationHead.name ? String(decoding: $0, as: UTF8.self) : Self.signed($0) }
        throw otherPublisher(text)
      }
    }
  }

  /// Reads the head and the new objects back, as a device does.
  private func check(_ head: PublicationHead, _ json: [UInt8], new names: [String]) async throws {
    let seen = try await readHead().head
    let file = try await target.get(PublicationHead.signatureName, limit: 2 * PublicationHead.byteLimit)?.bytes
    guard seen == String(decoding: json, as: UTF8.self), let file,
      let signature = try? SignifySignature.embedded(in: file).signature,
      try signature.isValid(of: json, key: options.key.publicKey)
    else {
      throw PublisherError.notPublished(
        "\(target)/\(PublicationHead.name) is not what was written to it a moment ago: another publisher writes there, or the"
          + " store answers with older copies")
    }
    for name in names {
      guard let copy = try place.read(PublisherDirectory.copy(name)),
        try await target.get(name, limit: copy.count)?.bytes == copy
      else { throw PublisherError.notPublished("\(target)/\(name) is not what was written to it a moment ago") }
    }
  }

  private func finish(_ head: PublicationHead, _ state: inout PublisherState) {
    let now = options.now().timeIntervalSince1970
    // The former head named its objects until now.
    let former = state.formerHead.flatMap { try? PublicationHead(json: Array($0.utf8)) }
    for name in state.outbox + Self.objects(of: head) + (former.map(Self.objects) ?? []) { state.objects[name] = now }
    if let text = state.head { state.heads = ((state.heads ?? []) + [text]).suffix(PublisherState.headCount) }
    state.isPending = false
    state.formerHead = nil
    state.outbox = []
  }

  /// The objects that a head names.
  static func objects(of head: PublicationHead) -> [String] {
    ([head.state] + head.held).flatMap { state in
      [state.base.name] + state.deltas.map(\.name) + (state.probe.map { [$0.name("probe")] } ?? [])
    }
  }

  /// Writes the list of keys if there is none; otherwise checks that it has the key.
  ///
  /// The signature is written first. If the writer dies in between, it is of the next list, which follows it: then that
  /// list is written. If two write the first list at once, the signature is of another list, and is written again if the
  /// list is by the key of this publisher.
  private func ensureKeys(_ report: inout PublishReport) async throws {
    let line = PublicationTrust.line(options.key.publicKey)
    var known = try await target.get(KeyList.name, limit: KeyList.byteLimit)
    let signature = try await target.get(KeyList.signatureName, limit: 2 * KeyList.byteLimit)
    if known == nil {
      let since = Date(timeIntervalSince1970: options.now().timeIntervalSince1970.rounded(.down))
      let list = KeyList(version: 1, root: line, keys: [KeyList.Key(key: line, since: since)])
      try await putKeys(KeyList.signatureName, options.key.sign(list.json).embedding(list.json), signature, &report)
      if try await putKeys(KeyList.name, list.json, nil, &report) { return }
      known = try await target.get(KeyList.name, limit: KeyList.byteLimit)
    }
    guard let known else { return }
    var list = try KeyList(json: known.bytes)
    let file = try await target.get(KeyList.signatureName, limit: 2 * KeyList.byteLimit)
    let signed = file.flatMap { file in
      PublicationTrust.publicKey(list.root).flatMap {
        try? PublicationTrust.signedList(known.bytes, signature: file.bytes, root: $0)
      }
    }
    if let signed, signed.json != known.bytes {
      try await putKeys(KeyList.name, signed.json, known, &report)
      list = signed.list
    }
    try checkKey(list)
    if signed != nil { return }
    guard list.root == line else {
      throw PublisherError.key(
        "\(target)/\(KeyList.signatureName) does not sign \(KeyList.name): write both again, with the root key and"
          + " 'catalogctl publish keys rotate'")
    }
    let json = known.bytes
    try await putKeys(KeyList.signatureName, options.key.sign(json).embedding(json), file, &report)
  }

  /// Returns whether the file was written, and not by somebody else meanwhile.
  @discardableResult
  private func putKeys(
    _ name: String, _ bytes: [UInt8], _ known: StoredObject?, _ report: inout PublishReport
  ) async throws -> Bool {
    let condition = known.map { PutCondition.ifVersion($0.version) } ?? .ifAbsent
    guard case .written = try await target.put(name, bytes, condition, Self.headType) else { return false }
    report.objects += 1
    report.bytesOut += bytes.count
    return true
  }
}
