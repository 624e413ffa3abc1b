import ArgumentParser
import UploadHTTP
import UploadQueue

struct Queue: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queue", abstract: "Look after uploads that wait for a server.",
    subcommands: [
      QueueAdd.self, QueueList.self, QueueShow.self, QueueRun.self, QueuePause.self, QueueResume.self, QueueRetry.self,
      QueueDrop.self, QueueClear.self, QueueStat.self,
    ])
}

/// The options that select the queue.
struct QueueTarget: ParsableArguments {
  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @Option(help: ArgumentHelp("Which of the queues.", valueName: "name")) var queue = UploadQueue.defaultName

  /// The queue for reading; `nil` if the user has no documents. Creates nothing.
  func existing() throws -> UploadQueue? {
    try documents.existing().map { try UploadQueue(in: $0, name: queue, isReadOnly: true) }
  }

  /// The queue for writing. Creates missing directories.
  func writable(_ write: WriteOptions) throws -> UploadQueue {
    try UploadQueue(in: documents.writable(write), name: queue)
  }
}

extension UploadID: ExpressibleByArgument {
  /// Parses an argument of the command line; `nil` if it does not have the form of a UUID.
  public init?(argument: String) { self.init(argument) }
}

extension UploadPriority: ExpressibleByArgument {
  /// Parses a priority by its name; `nil` for any other text.
  public init?(argument: String) {
    guard let level = Self.allCases.first(where: { $0.name == argument }) else { return nil }
    self = level
  }

  /// The names of all priorities, as help texts list them.
  public static var allValueStrings: [String] { allCases.map(\.name) }
  /// None: the names say it. The parser's own would name the numbers that are stored.
  public static var allValueDescriptions: [String: String] { [:] }
}

extension UploadState: ExpressibleByArgument {}

extension ParkedUploadPolicy: ExpressibleByArgument {}

extension UploadHTTPOptions.BatchFormat: ExpressibleByArgument {}
