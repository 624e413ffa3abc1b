import ArgumentParser
import Catalog
import LogStore
import Workspace

struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Read and check everything that the user has.",
    discussion: """
      Clean: exit code 0, and a last line 'digest HEX' over the content alone. Damaged: exit code 65, and a line on \
      standard error for each finding: file, offset, what, what is lost. The store that says who is signed in is checked too. With --batch, reads root directories from \
      standard input, one a line, and answers each with 'ok HEX' or 'err MESSAGE'.

      --repair writes what can be saved of a damaged store into a new file and keeps the damaged one beside it, as \
      NAME.damaged-1 and so on. A clean store is left as it is. What is lost is told; if anything but history is, the \
      cursor is emptied, so that the next sync brings everything. Exit code 0 once the store is clean.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Flag(help: "Save what can be saved of a damaged store.") var repair = false
  @Flag(help: "Check one root directory after another, as they are given on standard input.") var batch = false

  func validate() throws {
    if batch, repair { throw ValidationError("--batch only looks; repair one store at a time") }
  }

  func run() throws {
    if repair, try !runRepair() { return }
    if batch {
      try InputFile("-").forEachLine { Console.print(Self.answer(root: $0, user: store.user)) }
      return
    }
    let (findings, digest) = try Self.check(store.workspace, user: store.user)
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
      throw Failure(.data, Self.count(findings) + "; nothing was changed; --repair saves what can be saved")
    }
  }

  /// Repairs the stores where they are damaged.
  ///
  /// - Returns: whether there is a catalogue to verify: not where all that was asked for was the store that says who is
  ///   signed in, and it says it no more.
  private func runRepair() throws -> Bool {
    if try repairSettings(), store.user == nil, try store.workspace.currentUser() == nil {
      Console.say(
        "nobody is signed in any more: sign in again with 'catalogctl login ID' ('catalogctl users' names who has stores)"
      )
      return false
    }
    guard let location = try store.workspace.catalogue(of: store.userID()),
      let repair = try CatalogRepair.run(location, waiting: write.milliseconds)
    else { return true }
    guard let kept = repair.damagedPath else {
      Console.say("the store is clean; nothing was changed")
      return true
    }
    say(repair.findings, repair.losses)
    let snapshot = repair.snapshot
    Console.say(
      "repaired: commit \(snapshot.sequence) has \(Quantity.count(snapshot.productCount)) products and"
        + " \(Quantity.count(snapshot.relationCount)) relations; the damaged file is \(kept)")
    Console.say(
      repair.losses.isEmpty
        ? "nothing but history is lost" : "the cursor is empty: the next sync brings everything that is missing")
    return true
  }

  /// Repairs the store that says who is signed in, where it is damaged; whether it was.
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
    findings.count == 1 ? "1 finding" : "\(findings.count) findings"
  }

  /// One line of a batch. Nothing stays open or remembered behind it.
  private static func answer(root: String, user: String?) -> String {
    if root.isEmpty { return "err an empty line names no root directory" }
    do {
      let (findings, digest) = try check(WorkspaceDirectory(root: root), user: user, orNobody: true)
      if let first = findings.first { return "err \(count(findings)), the first: \(first)" }
      return "ok \(digest.map { "\($0)" } ?? "")"
    } catch {
      let message = Failure(error)?.message ?? "\(error)"
      return "err " + message.split(separator: "\n").joined(separator: " ")
    }
  }

  /// Verifies who is signed in, and the catalogue of `user` or of whoever that is. The digest is that of a clean catalogue.
  ///
  /// - Parameter orNobody: whether a root where nobody is signed in is one with an empty catalogue, not a fault.
  private static func check(
    _ workspace: WorkspaceDirectory, user: String?, orNobody: Bool = false
  ) throws -> ([Finding], CatalogDigest?) {
    let settings = try workspace.verifySettings()
    var id = user
    if id == nil {
      do { id = try workspace.currentUser() } catch {
        guard case .settings = error, !settings.isEmpty else { throw error }
        return (settings, nil)
      }
    }
    if id == nil, !orNobody, settings.isEmpty { throw WorkspaceError.nobodySignedIn }
    let (findings, digest) = try check(id.flatMap { try workspace.catalogue(of: $0) })
    return (settings + findings, settings.isEmpty ? digest : nil)
  }

  /// Verifies a catalogue. Where it is clean, its digest; an empty one where there is no store.
  private static func check(_ location: StoreLocation?) throws -> ([Finding], CatalogDigest?) {
    guard let location, let verification = try Verification.run(location) else {
      return ([], try CatalogDigest(.empty))
    }
    if !verification.findings.isEmpty { return (verification.findings, nil) }
    let snapshot = try CatalogReader.open(location)?.snapshot() ?? .empty
    return ([], try CatalogDigest(snapshot))
  }
}
