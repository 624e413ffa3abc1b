import ArgumentParser
import Catalog
import CatalogSync
import JSONFormat

struct Apply: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apply", abstract: "Apply the server's answers from files, one durable commit each.",
    discussion: """
      The first one into an empty catalogue or after a repair is a full update, the others are increments, whatever \
      their size; with --full each one is a full update. Keys of products beyond their fields are kept if the setting \
      sync.extra names them. Prints 'begin SEQUENCE' before a commit starts and 'committed SEQUENCE MODE CURSOR' once \
      it is durable; with --json, an object for each of these lines. Stops at the first refused file, keeping what was \
      committed.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var accept: UpdateOptions
  @OptionGroup var output: OutputOptions
  @Flag(help: "Take each file as a full update.") var full = false
  @Argument(
    help: ArgumentHelp("Files with the server's answers; - is standard input.", valueName: "file"), completion: .file())
  var files: [String]

  func run() throws {
    // Report a missing first file before a store is created.
    let first = try files.first.map(InputFile.init)
    let location = try store.workspace.makeCatalogue(of: store.userID())
    var writer: CatalogWriter?
    defer { writer?.close() }
    let extraKeys = try store.extraKeys()
    for (index, path) in files.enumerated() {
      let file = try index == 0 ? first ?? InputFile(path) : InputFile(path)
      if file.byteCount == nil {
        // A pipe may stay open for any time; let others write until then.
        writer?.close()
        writer = nil
      }
      let arrived = try file.arrived(nextTo: location)
      if writer == nil {
        writer = try store.writer(lockTimeout: write.lockTimeout)
        // The origin of files is unknown, so no other user may adopt this catalogue from now on.
        try store.workspace.forgetOrigin(of: store.userID())
      }
      if let writer { try apply(arrived, writer, extraKeys, filesAfter: files.count - 1 - index) }
    }
  }

  private func apply(
    _ file: InputFile, _ writer: CatalogWriter, _ extraKeys: Set<String>, filesAfter: Int
  ) throws {
    let snapshot = try writer.snapshot()
    // A repair may have lost rows, so it has no cursor. Neither have rows of one's own, which an increment changes.
    let isFirst = snapshot.cursor.isEmpty && (snapshot.productCount == 0 || snapshot.state.mode == .repair)
    let mode: UpdateMode = full || isFirst ? .full : .incremental
    if mode == .full { try writer.roomForFullUpdate().warnIfScarce() }
    var options = accept.importOptions(threshold: nil, extraKeys: extraKeys)
    options.allowsBarePayload = true
    var answer = try AnswerImport(writer, mode, options)
    do {
      var text = InputText(file, limits: accept.limits)
      while let piece = try text.next() { try answer.consume(piece.span) }
      let sequence = writer.nextSequence
      let report = try answer.finish { tellBegin(sequence) }
      DurableChange.report(commit: report.update.sequence, filesAfter: filesAfter)
      tellCommitted(report.update)
      SyncReport(report).warn()
    } catch {
      answer.cancel()
      throw Failure(named: file.name, error)
    }
    writer.tidyUp()
  }

  private func tellBegin(_ sequence: UInt64) {
    if output.json {
      JSONText.object([("event", .text("begin")), ("sequence", .uint(sequence))]).print()
    } else {
      Console.print("begin \(sequence)")
    }
  }

  private func tellCommitted(_ update: UpdateReport) {
    if output.json {
      JSONText.object([
        ("event", .text("committed")), ("sequence", .uint(update.sequence)), ("mode", .text(update.mode.name)),
        ("cursor", .text(update.cursor)),
      ]).print()
    } else {
      Console.print("committed \(update.sequence) \(update.mode.name) \(update.cursor.onOneLine)")
    }
  }
}
