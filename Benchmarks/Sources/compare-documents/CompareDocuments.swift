import BenchmarkSupport

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Measures collections of documents beside GRDB: the same members, the same questions, in turn.
@main
struct CompareDocuments {
  static func main() {
    do {
      let options = try DocumentsOptions(Array(CommandLine.arguments.dropFirst()))
      if options.wantsHelp { print(DocumentsOptions.help) } else { try run(options) }
    } catch {
      complain("\(error)")
      exit(error is UsageError ? 64 : 1)
    }
  }

  private static func run(_ options: DocumentsOptions) throws {
    var all: [(name: String, type: any MemberStore.Type)] = [("Shelfmark", ShelfmarkMembers.self)]
    #if PEER_GRDB
    all.append(("GRDB", GRDBMembers.self))
    #endif
    if let only = options.only { all.removeAll { $0.name.lowercased() != only.lowercased() } }
    guard !all.isEmpty else { throw UsageError("--only: no such store in this build") }
    let machine = Machine()
    let folder = try WorkFolder("shelfmark-documents", keeping: options.keep)
    defer { folder.remove() }
    var comparison = DocumentComparison(options, folder, all.map(\.type))
    try comparison.run()
    let report = DocumentReport(
      machine: machine, options: options, stores: all.map { ($0.name, $0.type.configuration) },
      figures: comparison.figures, lastLoad: Machine().load)
    _ = unsafe mkdir(options.output, 0o755)
    try OutputFile(creating: "\(options.output)/documents.md").append((report.markdown + "\n").utf8)
    try OutputFile(creating: "\(options.output)/documents.json").append((report.json + "\n").utf8)
    print(report.markdown)
  }
}
