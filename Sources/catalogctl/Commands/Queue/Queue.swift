import ArgumentParser
import Documents
import JSONOutput
import LogStore
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
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Option(help: ArgumentHelp("Which of the user's queues.", valueName: "name")) var queue = UploadQueue.defaultName

  /// The queue as it is; `nil` where there is none. Creates nothing.
  func existing() throws -> UploadQueue? {
    guard let catalogue = try store.workspace.catalogue(of: store.userID()) else { return nil }
    let location = StoreLocation(catalogue.directory, name: "documents")
    return try UploadQueue(in: DocumentStore.inspect(location), name: queue, isReadOnly: true)
  }

  /// The queue to write to; directories are made where they are missing.
  func writable(_ write: WriteOptions) throws -> UploadQueue {
    let location = StoreLocation(try store.workspace.makeCatalogue(of: store.userID()).directory, name: "documents")
    var options = DocumentStore.Options()
    options.waiting = write.milliseconds
    return try UploadQueue(in: DocumentStore.inspect(location, options: options), name: queue)
  }
}

extension UploadID: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

extension UploadPriority: ExpressibleByArgument {
  public init?(argument: String) {
    guard let level = Self.allCases.first(where: { $0.name == argument }) else { return nil }
    self = level
  }

  public var defaultValueDescription: String { name }
  public static var allValueStrings: [String] { allCases.map(\.name) }
}

extension UploadState: ExpressibleByArgument {}
