import ArgumentParser
import Catalog
import LogStore
import Workspace

struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read and check everything that the user has.",
    discussion: """
      Clean: exit code 0, and a last line 'digest HEX' over the content alone. Damaged: exit code 65, and a line on \
      standard error for each finding: file, offset, what, what is lost. With --batch, reads root directories from \
      standard input, one a line, and answers each with 'ok HEX' or 'err MESSAGE'.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Flag(help: "Check one root directory after another, as they are given on standard input.") var batch = false

  func run() throws {
    if batch {
      try InputFile("-").forEachLine { Console.print(Self.answer(root: $0, user: store.user)) }
      return
    }
    let (findings, digest) = try Self.check(store.workspace.catalogue(of: store.userID()))
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
    if !findings.isEmpty { throw Failure(.data, Self.count(findings) + "; nothing was changed") }
  }

  private static func count(_ findings: [Finding]) -> String {
    findings.count == 1 ? "1 finding" : "\(findings.count) findings"
  }

  /// One line of a batch. Nothing stays open or remembered behind it.
  private static func answer(root: String, user: String?) -> String {
    if root.isEmpty { return "err an empty line names no root directory" }
    do {
      let workspace = Workspace(root: root)
      let id = try user ?? workspace.currentUser()
      let (findings, digest) = try check(id.flatMap { try workspace.catalogue(of: $0) })
      if let first = findings.first { return "err \(count(findings)), the first: \(first)" }
      return "ok \(digest.map { "\($0)" } ?? "")"
    } catch {
      let message = Failure(error)?.message ?? "\(error)"
      return "err " + message.split(separator: "\n").joined(separator: " ")
    }
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
