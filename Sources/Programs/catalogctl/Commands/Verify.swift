import ArgumentParser
import Bytes
import Catalog
import JSONFormat
import LogStore
import Studio
import Workspace

struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Read and check everything that the user has.",
    discussion: """
      The catalogue, the documents, and the user's other stores. Clean: exit code 0, and a last line 'digest HEX' over \
      the content of catalogue and documents alone. Damaged: exit code 65, and a line on standard error for each \
      finding: file, offset, what, what is lost. The store that says who is signed in is checked too. With --default, \
      what belongs to nobody is verified. With --batch, reads root directories from standard input, one a line, and \
      answers each with 'ok HEX' or 'err MESSAGE'.

      --repair writes what can be saved of a damaged store into a new file and keeps the damaged one beside it, as \
      NAME.damaged-1 and so on. A clean store is left as it is. What is lost is told; if anything but history is, the \
      cursor is emptied, so that the next sync brings everything. Where nothing in the file can be read, the \
      generation before the last full update takes its place, or what the store shares with other users, with the \
      cursor of that time. Exit code 0 once the store is clean.

      --structure checks frames, checksums and counters only: of sealed stores, that is what can be checked without \
      their key. There is no digest then.
      """)

  @OptionGroup var owner: OwnerOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Flag(help: "Save what can be saved of a damaged store.") var repair = false
  @Flag(help: "Check one root directory after another, as they are given on standard input.") var batch = false
  @Flag(help: "Check what needs no key.") var structure = false

  private var store: StoreOptions { owner.store }
  private var isDefault: Bool { owner.isDefault }

  func validate() throws {
    if batch, repair { throw ValidationError("--batch only looks; repair one store at a time") }
    if structure, batch || repair || isDefault {
      throw ValidationError("--structure looks at the stores of one user, and only looks")
    }
  }

  func run() throws {
    if repair {
      let isOver = try !runRepair()
      DurableChange.report("the repair is done")
      if isOver { return }
    }
    if batch {
      try InputFile("-").forEachLine { root in
        let answer = Self.answer(store.workspace.elsewhere(root), user: store.user, isDefault: isDefault)
        if output.json { answer.json(root: root).print() } else { Console.print(answer.line) }
      }
      return
    }
    let (findings, digest) =
      structure
      ? (try store.workspace.structureFindings(of: store.userID()), nil)
      : try Self.check(store.workspace, user: store.user, isDefault: isDefault)
    for finding in findings { Console.say("\(finding)") }
    if output.json {
      let list = findings.map { finding in
        JSONText.object([
          ("file", .text(finding.path)), ("offset", .int(finding.offset)), ("what", .text(finding.what)),
          ("lost", .text(finding.lost)),
        ])
      }
      JSONText.object([("digest", .optional(digest?.description)), ("findings", .array(list))]).print()
    } else if let digest {
      Console.print("digest \(digest)")
    }
    if !findings.isEmpty {
      throw Failure(.data, Self.count(findings) + "; nothing was changed; " + advice(findings))
    }
  }

  /// Advice for damaged stores. If a catalogue cannot be opened, it includes the available alternatives.
  private func advice(_ findings: [Finding]) -> String {
    if findings.allSatisfy({ $0.lost.isEmpty && $0.what == "acknowledgement slot" }) {
      return "nothing is lost, and the next import or sync writes it again; --repair does at once, and leaves history"
        + " out"
    }
    if !isDefault, let id = try? store.userID(), let location = try? store.workspace.catalogue(of: id) {
      do { _ = try CatalogReader.open(location)?.snapshot() } catch {
        if error.isAboutNewerFile { return "what a newer version wrote is not damaged: install that version" }
        if Failure(error)?.code == .data { return location.remedies }
      }
    }
    return "--repair saves what can be saved"
  }

  /// Repairs the damaged stores.
  ///
  /// - Returns: Whether there is a catalogue to verify. There is none if only the store that records the signed-in user
  ///   was to be repaired, and no user is signed in any more.
  private func runRepair() throws -> Bool {
    let wereSettingsDamaged = try repairSettings()
    if isDefault {
      if try !repairStores(of: nil), !wereSettingsDamaged { Console.say("the stores are clean; nothing was changed") }
      return true
    }
    if wereSettingsDamaged, store.user == nil, try store.workspace.currentUser() == nil {
      Console.say(
        "nobody is signed in any more: sign in again with 'catalogctl login ID' ('catalogctl users' names who has stores)"
      )
      return false
    }
    let id = try store.userID()
    var isClean = true
    if let location = try store.workspace.catalogue(of: id), let repair = try repairCatalogue(location) {
      isClean = false
      report(repair)
    }
    if try repairStores(of: id) { isClean = false }
    if isClean { Console.say("the store is clean; nothing was changed") }
    return true
  }

  /// Repairs a catalogue; `nil` if it is not damaged.
  private func repairCatalogue(_ location: StoreLocation) throws -> CatalogRepair? {
    do {
      // A setting that cannot be used keeps nobody from a repair.
      let indexes = (try? store.workspace.indexes(of: store.userID())) ?? .standard
      guard let repair = try CatalogRepair.run(location, lockTimeout: write.lockTimeout, indexes: indexes),
        !repair.findings.isEmpty
      else {
        return nil
      }
      return repair
    } catch let error as StoreError {
      guard let failure = Failure(error), failure.code == .data, !error.isNewer else { throw error }
      throw Failure(
        .data, "\(failure.message); \(StoreLocation.replacementAdvice)")
    }
  }

  private func report(_ repair: CatalogRepair) {
    say(repair.findings, repair.losses)
    let snapshot = repair.snapshot
    let kept = repair.damagedPath.map { "; the damaged file is \($0)" } ?? ""
    Console.say(
      "repaired: commit \(snapshot.sequence) has \(Quantity.of(snapshot.productCount, "product")) and"
        + " \(Quantity.of(snapshot.relationCount, "relation"))"
        + (snapshot.hasCodeTable ? " and \(Quantity.of(snapshot.codeCount, "code"))" : "") + kept)
    if let source = repair.source {
      Console.say(
        "it is \(source.words) again: everything since then is lost here, and the next sync asks for it with the cursor of"
          + " that time, \(snapshot.cursor.shown)")
    } else if repair.losses.isEmpty {
      Console.say("nothing but history is lost")
    } else if snapshot.cursor.isEmpty {
      Console.say("the cursor is empty: the next sync brings everything that is missing")
    }
  }

  /// Repairs the stores next to the catalogue. Returns whether any was damaged.
  private func repairStores(of id: String?) throws -> Bool {
    var wasDamaged = false
    let check = StoreCheck(workspace: store.workspace, id: id)
    try check.repair(lockTimeout: write.lockTimeout) { queue in
      wasDamaged = true
      Console.say("repaired: the queue \(Table.cell(queue)); its numbers are those of what is in it")
    } _: { name, repair in
      wasDamaged = true
      say(repair.findings, repair.losses)
      Console.say(
        "repaired: \(name); the damaged file is \(repair.damagedPath ?? "gone")"
          + (repair.losses.isEmpty ? "; nothing but history is lost" : ""))
    }
    return wasDamaged
  }

  /// Repairs the store that records the signed-in user if it is damaged. Returns whether it was.
  private func repairSettings() throws -> Bool {
    let repair: Repair?
    do { repair = try store.workspace.repairSettings() } catch WorkspaceError.settings(let cause) {
      throw Failure(
        .data, "\(cause); nothing of it can be saved: move it away, and sign in again with 'catalogctl login ID'")
    }
    guard let repair, let kept = repair.damagedPath else { return false }
    say(repair.findings, repair.losses)
    Console.say("repaired: the store that says who is signed in; the damaged file is \(kept)")
    return true
  }

  private func say(_ findings: [Finding], _ losses: [Finding]) {
    for finding in findings { Console.say("found: \(finding)") }
    for loss in losses { Console.say("lost: \(loss)") }
  }

  private static func count(_ findings: [Finding]) -> String {
    Quantity.of(findings.count, "finding")
  }

  /// The answer to one line of a batch. It keeps nothing open and no state.
  private static func answer(_ workspace: WorkspaceDirectory, user: String?, isDefault: Bool) -> BatchResult {
    let root = workspace.root
    if root.isEmpty { return .bad("an empty line names no root directory") }
    // Bytes that are not UTF-8 were replaced, so the text is another path, where there may be nothing to find.
    if root.unicodeScalars.contains("\u{FFFD}") { return .bad("the path is not valid UTF-8: \(root)") }
    do {
      let (findings, digest) = try check(workspace, user: user, isDefault: isDefault, orNobody: true)
      if let first = findings.first { return .bad("\(count(findings)), the first: \(first)") }
      return .good(digest: digest.map { "\($0)" } ?? "")
    } catch {
      let message = Failure(error)?.message ?? "\(error)"
      return .bad(message.split(separator: "\n").joined(separator: " "))
    }
  }

  /// Verifies the store that records the signed-in user, and the stores of `user`, of the signed-in user, or the
  /// default stores. The digest is that of undamaged stores.
  ///
  /// - Parameter orNobody: Whether a root directory without a signed-in user counts as an empty catalogue, and not as
  ///   an error.
  private static func check(
    _ workspace: WorkspaceDirectory, user: String?, isDefault: Bool, orNobody: Bool = false
  ) throws -> ([Finding], ContentDigest?) {
    let settings = try workspace.verifySettings()
    var id = user
    if id == nil, !isDefault {
      do { id = try workspace.currentUser() } catch {
        guard case .settings = error, !settings.isEmpty else { throw error }
        return (settings, nil)
      }
      guard id != nil else {
        if !orNobody, settings.isEmpty { throw WorkspaceError.notSignedIn }
        return (settings, settings.isEmpty ? try CatalogDigest(.empty).content : nil)
      }
    }
    let (findings, digest) = try StoreCheck(workspace: workspace, id: id).verify()
    return (settings + findings, settings.isEmpty ? digest : nil)
  }
}

/// The answer of a batch for one root directory.
private enum BatchResult {
  case good(digest: String)
  case bad(String)

  var line: String {
    switch self {
    case .good(let digest): "ok \(digest)"
    case .bad(let message): "err \(message)"
    }
  }

  func json(root: String) -> JSONText {
    switch self {
    case .good(let digest): .object([("root", .text(root)), ("digest", .text(digest)), ("error", .null)])
    case .bad(let message): .object([("root", .text(root)), ("digest", .null), ("error", .text(message))])
    }
  }
}
