import DaemonConfiguration
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
  /// What a daemon with a few inputs and webhooks has open, and some for what comes and goes. Below it nothing begins: a server
  /// that can open no more answers nobody, and a store that it cannot open is not written.
  static let least = 64

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

  /// What a daemon may have open if all connections that a configuration allows are made.
  static func most(_ configuration: DaemonConfiguration) -> Int {
    let servers = configuration.inputs.count { $0.source.isServer }
    return least + (configuration.server?.maximumConnections ?? 0) + servers * ScanInput.maximumConnections
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
