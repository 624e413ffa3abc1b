import CoreMetrics
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What this process takes, under the names that Prometheus' own clients use, measured when somebody asks. Linux only: other
/// systems have no `/proc`.
///
/// | name | kind | what |
/// |---|---|---|
/// | `process_resident_memory_bytes` | gauge | memory that is in use, mapped files that were read included |
/// | `process_anonymous_memory_bytes` | gauge | the part of it that no file stands behind: what a leak would let grow |
/// | `process_virtual_memory_bytes` | gauge | address space, most of which needs no memory |
/// | `process_cpu_seconds_total` | counter | processor time of all threads, in user and system mode |
/// | `process_open_fds` | gauge | open descriptors |
/// | `process_max_fds` | gauge | the limit of open descriptors |
/// | `process_threads` | gauge | threads |
/// | `process_start_time_seconds` | gauge | when the process began, in seconds since 1970 |
public enum ProcessMetrics {
  /// Has a registry tell them.
  public static func add(to registry: PrometheusRegistry) {
    let descriptions = [
      "process_resident_memory_bytes": "Memory in use, mapped files that were read included.",
      "process_anonymous_memory_bytes": "Memory in use that no file stands behind.",
      "process_virtual_memory_bytes": "Address space, most of which needs no memory.",
      "process_cpu_seconds_total": "Processor time of all threads, in user and system mode, in seconds.",
      "process_open_fds": "Open file descriptors.",
      "process_max_fds": "The limit of open file descriptors.",
      "process_threads": "Threads.",
      "process_start_time_seconds": "When the process began, in seconds since 1970.",
    ]
    for (name, sentence) in descriptions { registry.describe(name, sentence) }
    func gauge(_ name: String) -> Gauge { Gauge(label: name, factory: registry) }
    gauge("process_start_time_seconds").record(Date().timeIntervalSince1970)
    let resident = gauge("process_resident_memory_bytes")
    let anonymous = gauge("process_anonymous_memory_bytes")
    let descriptors = gauge("process_open_fds")
    let threads = gauge("process_threads")
    let virtual = gauge("process_virtual_memory_bytes")
    let limit = gauge("process_max_fds")
    let processor = FloatingPointCounter(label: "process_cpu_seconds_total", factory: registry)
    // What the counter has been given: two callers at once give nothing twice.
    let counted = Mutex(0.0)
    registry.beforeText {
      let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
      if let value = number("VmRSS", in: status) { resident.record(value * 1024) }
      if let value = number("RssAnon", in: status) { anonymous.record(value * 1024) }
      if let value = number("Threads", in: status) { threads.record(value) }
      if let value = number("VmSize", in: status) { virtual.record(value * 1024) }
      if let value = descriptorLimit { limit.record(value) }
      let seconds = processorSeconds
      counted.withLock { counted in
        processor.increment(by: max(0, seconds - counted))
        counted = max(counted, seconds)
      }
      // One of them is the directory itself.
      if let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
        descriptors.record(max(names.count - 1, 0))
      }
    }
  }

  /// Processor time of this process, all threads together.
  static var processorSeconds: Double {
    var time = timespec()
    // The structure is this function's own, and the clock exists on every system.
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// How many descriptors the process may have open.
  private static var descriptorLimit: Int? {
    let limits = (try? String(contentsOfFile: "/proc/self/limits", encoding: .utf8)) ?? ""
    let line = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
    return line?.split(separator: " ").compactMap { Int($0) }.first
  }

  /// The number in the line `NAME:   NUMBER kB`.
  static func number(_ name: String, in status: String) -> Int? {
    for line in status.split(separator: "\n") where line.hasPrefix(name + ":") {
      return line.dropFirst(name.utf8.count + 1).split { $0 == " " || $0 == "\t" }.first.flatMap { Int($0) }
    }
    return nil
  }
}
