import DaemonProcess
import ScanInputs

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How many files, sockets and devices this process may have open at once.
enum DescriptorLimit {
  /// What stores, inputs and webhooks have open, and some for what comes and goes: no caller gets these. A store that cannot be
  /// opened is not written.
  static let reserve = 64
  /// Connections of each server and each input that listens, at least.
  static let leastConnections = 8

  /// How many connections there may be.
  struct Connections: Equatable {
    /// Of the HTTP server.
    var server: Int
    /// Of each input that listens.
    var input: Int
  }

  /// Raises the limit as far as the system lets this process, which starts no others.
  ///
  /// - Returns: the limit then.
  static func raise() -> Int {
    var limit = rlimit()
    // The structure lives for the calls.
    guard unsafe getrlimit(resource, &limit) == 0 else { return .max }
    var higher = limit
    higher.rlim_cur = highest(limit.rlim_max)
    if higher.rlim_cur > limit.rlim_cur, unsafe setrlimit(resource, &higher) == 0 { limit = higher }
    return Int(clamping: limit.rlim_cur)
  }

  /// Without so many nothing begins.
  static func least(for configuration: DaemonConfiguration) -> Int {
    let listeners = configuration.inputs.count { $0.source.isServer } + (configuration.server == nil ? 0 : 1)
    return reserve + leastConnections * listeners
  }

  /// What a configuration allows, or as much less as the limit makes necessary.
  static func connections(_ configuration: DaemonConfiguration, limit: Int) -> Connections {
    let inputs = configuration.inputs.count { $0.source.isServer }
    let wanted = Connections(
      server: configuration.server?.maximumConnections ?? 0, input: ScanInput.maximumConnections)
    let (count, free) = (wanted.server + inputs * wanted.input, max(0, limit - reserve))
    guard count > free else { return wanted }
    func share(_ wanted: Int) -> Int { min(wanted, max(leastConnections, wanted * free / count)) }
    return Connections(server: share(wanted.server), input: share(wanted.input))
  }

  #if canImport(Glibc)
  // An enumeration there, for the compiler's sake.
  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
  private static let resource = RLIMIT_NOFILE
  #endif

  private static func highest(_ hard: rlim_t) -> rlim_t {
    #if canImport(Darwin)
    // The system refuses what is above, though it calls the limit infinite.
    min(hard, rlim_t(OPEN_MAX))
    #else
    hard
    #endif
  }
}
