import ArgumentParser
import JSONFormat
import UploadQueue

struct QueuePause: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Stop sending in every process, until 'resume'.")

  @OptionGroup var target: QueueTarget
  @OptionGroup var write: WriteOptions

  func run() async throws {
    try await target.writable(write).pause()
    DurableChange.report("the queue is paused")
    if target.output.json { JSONText.object([("paused", .bool(true))]).print() }
  }
}

struct QueueResume: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "resume", abstract: "Go on sending.")

  @OptionGroup var target: QueueTarget
  @OptionGroup var write: WriteOptions

  func run() async throws {
    try await target.writable(write).resume()
    DurableChange.report("the queue goes on sending")
    if target.output.json { JSONText.object([("paused", .bool(false))]).print() }
  }
}

struct QueueRetry: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Retry failed uploads now, in their old order.",
    discussion: """
      An upload that failed is parked, or waits for its next attempt, for as long as its server asked for. A server \
      that is left alone because it failed is tried at once. One that was added while the clock was ahead counts as \
      well. A time that was given with 'queue add --not-before' stays.
      """)

  @OptionGroup var target: QueueTarget
  @OptionGroup var write: WriteOptions
  @Argument(help: "The upload's id.") var id: UploadID?
  @Flag(help: "All that are parked.") var parked = false
  @Flag(help: "All that wait for their next attempt.") var waiting = false

  func validate() throws {
    guard (id == nil) == (parked || waiting) else {
      throw ValidationError("give either an id, or --parked, --waiting or both of these")
    }
  }

  func run() async throws {
    let queue = try target.writable(write)
    if let id { return target.output.tell("retried", try await queue.retry(id) ? 1 : 0) }
    var states: Set<UploadState> = []
    if parked { states.insert(.parked) }
    if waiting { states.insert(.waiting) }
    target.output.tell("retried", try await queue.retryAll(states))
  }
}

struct QueueDrop: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Remove one upload.", discussion: "Exit code 1 if no upload has this id.")

  @OptionGroup var target: QueueTarget
  @OptionGroup var write: WriteOptions
  @Argument(help: "The upload's id.") var id: UploadID

  func run() async throws {
    try await target.writable(write).drop(id)
    DurableChange.report("the upload \(id) was removed")
    if target.output.json { JSONText.object([("removed", .int(1))]).print() }
  }
}

struct QueueClear: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Remove all uploads but those that are being sent.")

  @OptionGroup var target: QueueTarget
  @OptionGroup var write: WriteOptions
  @Flag(help: "Only those that are parked.") var parked = false

  func run() async throws {
    let states: Set<UploadState> = parked ? [.parked] : [.waiting, .parked]
    target.output.tell("removed", try await target.writable(write).clear(states))
  }
}

extension OutputOptions {
  /// Prints the number of affected uploads.
  fileprivate func tell(_ what: String, _ count: Int) {
    DurableChange.report("\(Quantity.of(count, "upload")) \(what)")
    if json { JSONText.object([(what, .int(count))]).print() } else { Console.print("\(what): \(count)") }
  }
}
