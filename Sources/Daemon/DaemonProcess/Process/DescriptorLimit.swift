import Platform
import ScanInputs

/// The limit on open files, sockets and devices of this process.
enum DescriptorLimit {
  /// The descriptors for stores, inputs and webhooks, and some for short use. Clients cannot take them, because a store
  /// that cannot be opened cannot be written.
  static let reserve = 64
  /// The minimum number of connections of the server and of each listening input.
  static let leastConnections = 8

  /// The maximum numbers of connections.
  struct Connections: Equatable {
    /// The number for the HTTP server.
    var server: Int
    /// The number for each listening input.
    var input: Int
  }

  /// Raises the soft limit as far as the system permits. The process starts no child processes.
  ///
  /// - Returns: The new limit.
  static func raise() -> Int {
    var limit = rlimit()
    // The structure lives during the calls.
    guard unsafe getrlimit(resource, &limit) == 0 else { return .max }
    var higher = limit
    higher.rlim_cur = highest(limit.rlim_max)
    if higher.rlim_cur > limit.rlim_cur, unsafe setrlimit(resource, &higher) == 0 { limit = higher }
    return Int(clamping: limit.rlim_cur)
  }

  /// The minimum number of descriptors needed to start.
  static func least(for configuration: DaemonConfiguration) -> Int {
    let listeners = configuration.inputs.count { $0.source.isServer } + (configuration.server == nil ? 0 : 1)
    return reserve + leastConnections * listeners
  }

  /// The numbers of connections that a configuration allows, reduced if the limit requires it.
  static func connections(_ configuration: DaemonConfiguration, limit: Int) -> Connections {
    let inputs = configuration.inputs.count { $0.source.isServer }
    let wanted = Connections(
      server: configuration.server?.maximumConnections ?? 0, input: ScanInput.maximumConnections)
    let (count, free) = (wanted.server + inputs * wanted.input, max(0, limit - reserve))
    guard count > free else { return wanted }
    func share(_ wanted: Int) -> Int { min(wanted, max(leastConnections, wanted * free / count)) }
    return Connections(server: share(wanted.server), input: share(wanted.input))
  }

  /// The number of descriptors of a user whose documents are open and whose uploads are sent.
  static let descriptorsPerUser = 4

  /// The numbers of users whose uploads are sent at the same time, and whose documents stay open, reduced if the limit
  /// requires it.
  static func users(_ configuration: DaemonConfiguration, limit: Int) -> (workers: Int, documents: Int) {
    let connections = connections(configuration, limit: limit)
    let inputs = configuration.inputs.count { $0.source.isServer }
    let free = max(0, limit - reserve - connections.server - inputs * connections.input) / descriptorsPerUser
    let workers = min(configuration.daemon.maximumUploadWorkers, max(1, free / 3))
    return (workers, min(configuration.daemon.maximumOpenDocuments, max(4, free - workers)))
  }

  #if canImport(Glibc)
  // On this system the constant is an enumeration; the initializer satisfies the compiler.
  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
  private static let resource = RLIMIT_NOFILE
  #endif

  private static func highest(_ hard: rlim_t) -> rlim_t {
    #if canImport(Darwin)
    // The system refuses values above OPEN_MAX, although it reports the limit as infinite.
    min(hard, rlim_t(OPEN_MAX))
    #else
    hard
    #endif
  }
}
