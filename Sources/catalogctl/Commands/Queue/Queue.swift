import ArgumentParser
import UploadQueue

struct Queue: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queue", abstract: "Look after uploads that wait for a server.",
    subcommands: [
      QueueAdd.self, QueueList.self, QueueShow.self, QueueRun.self, QueuePause.self, QueueResume.self, QueueRetry.self,
      QueueDrop.self, QueueClear.self, QueueStat.self,
    ])
}

/// Which queue is meant.
struct QueueTarget: ParsableArguments {
  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @Option(help: ArgumentHelp("Which of the queues.", valueName: "name")) var queue = UploadQueue.defaultName

  /// The queue as it is; `nil` where there is none. Creates nothing.
  func existing() throws -> UploadQueue? {
    try documents.existing().map { try UploadQueue(in: $0, name: queue, isReadOnly: true) }
  }

  /// The queue to write to; directories are made where they are missing.
  func writable(_ write: WriteOptions) throws -> UploadQueue {
    try UploadQueue(in: documents.writable(write), name: queue)
  }
}

extension UploadID: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

extension UploadPriority: ExpressibleByArgument {
  /// The name of a level, as people give it.
  var name: String {
    switch self {
    case .low: "low"
    case .normal: "normal"
    case .high: "high"
    }
  }

  public init?(argument: String) {
    guard let level = Self.allCases.first(where: { $0.name == argument }) else { return nil }
    self = level
  }

  public var defaultValueDescription: String { name }
  public static var allValueStrings: [String] { allCases.map(\.name) }
}

extension UploadState: ExpressibleByArgument {}

extension Upload {
  /// What `--json` prints of an upload.
  var json: JSONText {
    let payload: JSONText =
      switch payload {
      case .value(let value): .raw(value.json)
      case .file(let file):
        .object([("file", .text(file.path)), ("bytes", .int(file.byteCount)), ("sha256", .text(file.sha256))])
      }
    let error: JSONText =
      lastError.map { error in
        .object([("status", error.status.map(JSONText.int) ?? .null), ("message", .text(error.message))])
      } ?? .null
    return .object([
      ("id", .text(id.text)), ("kind", .text(kind)), ("state", .text(state.rawValue)),
      ("priority", .text(priority.name)),
      ("orderKey", .optional(orderKey)), ("replaceKey", .optional(replaceKey)), ("created", .text(created.stamp)),
      ("notBefore", .text(notBefore.stamp)), ("expires", .optional(expires?.stamp)), ("attempts", .int(attempts)),
      ("lastError", error), ("payload", payload),
    ])
  }
}
