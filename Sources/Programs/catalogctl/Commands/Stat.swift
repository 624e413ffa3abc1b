import ArgumentParser
import Catalog
import JSONFormat
import LogStore
import Workspace

struct Stat: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stat", abstract: "Print what the catalogue holds and what it costs.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let user = try store.userID()
    let history = try store.history()
    let snapshot = history?.current ?? .empty
    let files = try store.workspace.files(of: user)
    let sets = try snapshot.setStatistics()
    let statistics = try snapshot.store?.statistics()
    let space = try Space(snapshot)
    let deleted = try snapshot.deletedProductCount()
    let orphans = try snapshot.orphanCodeCount()
    let goneBack = try store.workspace.storesGoneBack(of: user)
    for store in goneBack {
      Console.say(
        "\(store.store) went back to commit \(store.found): commit \(store.marked) was seen at"
          + " \(Moment.text(store.time)), so an older file was put in its place; 'catalogctl keys accept' accepts it, and"
          + " 'catalogctl sync --full' brings a catalogue up to date")
    }
    if output.json { return json(snapshot, sets, deleted, orphans, statistics, space, files, goneBack).print() }
    show(user, snapshot, sets, deleted, orphans, statistics)
    if files.isEmpty { return }
    show(files)
    if let failure = history?.previousFailure {
      Console.say(
        "the generation before the last full update cannot be read, so that the update cannot be undone: \(failure)"
          + (failure.isAboutNewerFile ? "" : "; 'catalogctl verify --repair' sets it aside"))
    } else if history?.previous != nil {
      let lifetime = try store.workspace.previousLifetime(of: user)
      let end = history?.replaced.map { $0 + lifetime.components.seconds * 1_000_000 }
      Console.say(
        "the generation before the last full update is kept\(end.map { " until " + Moment.text($0) } ?? ""), so that the"
          + " update can be undone (see 'log' and 'rollback'); 'catalogctl compact --drop-previous' deletes it")
    }
  }

  /// The space that a compaction would free, and whether the next update compacts.
  private struct Space {
    var reclaimableBytes = 0
    var isCompactionDue = false

    init(_ snapshot: CatalogSnapshot) throws(StoreError) {
      guard let store = snapshot.store else { return }
      reclaimableBytes = try store.reclaimableByteCount()
      isCompactionDue = try CompactionPolicy.standard.isDue(in: store)
    }
  }

  private func json(
    _ snapshot: CatalogSnapshot, _ sets: SetStatistics, _ deleted: Int, _ orphans: Int,
    _ statistics: StoreStatistics?, _ space: Space, _ files: [StoredFile], _ goneBack: [StoreGoneBack]
  ) -> JSONText {
    let indexes = (statistics?.indexes ?? []).map { index in
      JSONText.object([
        ("name", .text(index.name)), ("kind", .text(index.kind.rawValue)), ("blocks", .int(index.blockCount)),
        ("entries", .int(index.entryCount)), ("bytes", .int(index.byteCount)), ("load", .double(index.load)),
        ("longestProbe", .int(index.longestProbe)), ("keyLengths", .array(index.keyLengths.map(JSONText.int))),
      ])
    }
    // A catalogue without codes has no counts of them.
    let codes: [(String, JSONText)] =
      snapshot.hasCodeTable ? [("codes", .int(snapshot.codeCount)), ("orphanCodes", .int(orphans))] : []
    let rows: [(String, JSONText)] = [
      ("products", .int(snapshot.productCount)), ("deletedProducts", .int(deleted)),
      ("relations", .int(snapshot.relationCount)),
      ("sets", .int(sets.sets)), ("danglingComponents", .int(sets.danglingComponents)),
    ]
    let store: [(String, JSONText)] = [
      ("fileBytes", .int(statistics?.fileByteCount ?? 0)), ("liveBytes", .int(statistics?.liveByteCount ?? 0)),
      ("deadBytes", .int(statistics?.deadByteCount ?? 0)), ("deadRows", .int(statistics?.deadRowCount ?? 0)),
      ("tailRows", .int(statistics?.tailRowCount ?? 0)), ("tailBytes", .int(statistics?.tailByteCount ?? 0)),
      ("reclaimableBytes", .int(space.reclaimableBytes)), ("compactionDue", .bool(space.isCompactionDue)),
      ("generation", .uint(snapshot.generation)), ("sequence", .uint(snapshot.sequence)),
      ("cursor", .text(snapshot.cursor)),
      ("lastCompaction", .optional(statistics.map { Moment.text($0.baseTime) })), ("indexes", .array(indexes)),
      (
        "files",
        .array(
          files.map {
            .object([("name", .text($0.name)), ("bytes", .int($0.byteCount)), ("role", .text($0.role.rawValue))])
          })
      ),
    ]
    // Only sealed stores can tell.
    let back: [(String, JSONText)] =
      goneBack.isEmpty ? [] : [("wentBack", .array(goneBack.map(\.json)))]
    return .object(rows + codes + store + back)
  }

  /// Prints the user's files, and which of them can be deleted.
  private func show(_ files: [StoredFile]) {
    Console.print("")
    var table = Table("FILE", ">SIZE", "ROLE")
    for file in files where file.role != .lock {
      table.add(Table.cell(file.name), Quantity.bytes(file.byteCount), file.role.words)
    }
    table.print()
    if let damaged = files.first(where: { $0.role == .damaged }) {
      Console.say("\(damaged.name) was set aside as damaged; nothing needs it, and it may be deleted")
    }
  }

  private func show(
    _ user: String, _ snapshot: CatalogSnapshot, _ sets: SetStatistics, _ deleted: Int, _ orphans: Int,
    _ statistics: StoreStatistics?
  ) {
    var table = Table("CATALOGUE", ">")
    table.add("user", Table.cell(user))
    table.add("products", Quantity.count(snapshot.productCount))
    table.add("of these marked as deleted", Quantity.count(deleted))
    table.add("relations", Quantity.count(snapshot.relationCount))
    table.add("sets", Quantity.count(sets.sets))
    table.add("components that are missing or deleted", Quantity.count(sets.danglingComponents))
    if snapshot.hasCodeTable {
      table.add("codes", Quantity.count(snapshot.codeCount))
      table.add("of these without a product", Quantity.count(orphans))
    }
    table.add("cursor", snapshot.cursor.isEmpty ? "none yet" : Table.cell(snapshot.cursor))
    table.add("commit", String(snapshot.sequence))
    table.add("generation", String(snapshot.generation))
    if let statistics {
      table.add("file", Quantity.bytes(statistics.fileByteCount))
      table.add("live rows", Quantity.bytes(statistics.liveByteCount))
      table.add(
        "dead rows", "\(Quantity.bytes(statistics.deadByteCount)) in \(Quantity.count(statistics.deadRowCount))")
      table.add(
        "tail", "\(Quantity.bytes(statistics.tailByteCount)) with \(Quantity.of(statistics.tailRowCount, "row"))")
      table.add("base written", Moment.text(statistics.baseTime))
    }
    table.print()
    guard let statistics else { return }
    Console.print("")
    var indexes = Table("INDEX", "KIND", ">ENTRIES", ">SIZE", ">BLOCKS", ">LOAD", ">LONGEST PROBE", "KEY LENGTHS")
    for index in statistics.indexes {
      // Only a hash table has a load and probes.
      let isHash = index.kind == .hash
      indexes.add(
        index.name, index.kind.rawValue, Quantity.count(index.entryCount), Quantity.bytes(index.byteCount),
        String(index.blockCount), isHash ? "\(Int((index.load * 100).rounded())) %" : "",
        isHash ? String(index.longestProbe) : "", Self.ranges(index.keyLengths))
    }
    indexes.print()
  }

  /// Formats 4, 5, 6, 9 as `4–6 9`.
  private static func ranges(_ lengths: [Int]) -> String {
    var parts: [String] = []
    var rest = lengths[...]
    while let first = rest.popFirst() {
      var last = first
      while let next = rest.first, next == last + 1 {
        last = next
        rest.removeFirst()
      }
      parts.append(first == last ? "\(first)" : "\(first)–\(last)")
    }
    return parts.joined(separator: " ")
  }
}

extension StoredFile.Role {
  /// The purpose of a file, for people.
  fileprivate var words: String {
    switch self {
    case .log: "log"
    case .previous: "previous: before the last full update"
    case .base: "base: shared with users of the same organisation"
    case .damaged: "set aside as damaged"
    case .new: "a generation that is being written"
    case .lock: "lock"
    case .other: "other"
    }
  }
}

extension StoreGoneBack {
  var json: JSONText {
    .object([
      ("store", .text(store)), ("sequence", .uint(found)), ("seen", .uint(marked)),
      ("seenAt", .text(Moment.text(time))),
    ])
  }
}
