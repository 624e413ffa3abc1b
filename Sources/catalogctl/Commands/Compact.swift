import ArgumentParser
import Catalog

struct Compact: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write what is live into a new file, without dead rows and history.",
    discussion: "Needs room for one more copy. Readers go on undisturbed.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    // A user without a catalogue keeps none.
    guard try store.reader() != nil else { return report(before: 0, after: 0) }
    let writer = try store.writer(waiting: write.milliseconds)
    defer { writer.close() }
    let before = try writer.snapshot().store?.statistics().fileByteCount ?? 0
    let after = try writer.compact().store?.statistics().fileByteCount ?? 0
    report(before: before, after: after)
  }

  private func report(before: Int, after: Int) {
    if output.json {
      JSONText.object([("bytesBefore", .int(before)), ("bytesAfter", .int(after))]).print()
    } else {
      Console.print("before \(before) bytes (\(Quantity.bytes(before)))")
      Console.print("after  \(after) bytes (\(Quantity.bytes(after)))")
    }
  }
}
