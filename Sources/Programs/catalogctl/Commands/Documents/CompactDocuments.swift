import ArgumentParser
import Documents
import JSONFormat
import LogStore

struct CompactDocuments: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Write the documents into a new file, without deleted and replaced ones.",
    discussion: """
      Needs room for one more copy; where the file system has less, nothing is written and the exit code is 74. \
      Readers go on undisturbed. The queue of uploads is in the same file.
      """)

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions

  func run() throws {
    let before = try documents.existing()?.fileByteCount() ?? 0
    var after = 0
    if before > 0 {
      let store = try documents.writable(write)
      try store.compact()
      DurableChange.report("the documents are compacted")
      after = try store.fileByteCount()
    }
    if output.json {
      JSONText.object([("before", .int(before)), ("after", .int(after))]).print()
    } else {
      Console.print("\(Quantity.bytes(before)) before, \(Quantity.bytes(after)) after")
    }
  }
}
