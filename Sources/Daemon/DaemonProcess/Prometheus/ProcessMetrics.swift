import CoreMetrics
import Essentials
import Platform
import Synchronization

/// The resource use of this process, under the names that Prometheus' own clients use, measured for each scrape. Linux
/// only, because other systems have no `/proc`.
///
/// | name | kind | meaning |
/// |---|---|---|
/// | `process_resident_memory_bytes` | gauge | memory in use, including pages of mapped files |
/// | `process_anonymous_memory_bytes` | gauge | the part of it that is not backed by a file; a leak makes it grow |
/// | `process_virtual_memory_bytes` | gauge | address space, most of which needs no memory |
/// | `process_cpu_seconds_total` | counter | processor time of all threads, in user and system mode |
/// | `process_open_fds` | gauge | open file descriptors |
/// | `process_max_fds` | gauge | the limit of open file descriptors |
/// | `process_threads` | gauge | threads |
/// | `process_start_time_seconds` | gauge | when the process started, in seconds since 1970 |
package enum ProcessMetrics {
  /// Adds the metrics to a registry.
  package static func add(to registry: PrometheusRegistry) {
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
    // The amount already added to the counter, so that two concurrent scrapes add nothing twice.
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

  /// The processor time of all threads of this process.
  static var processorSeconds: Double {
    var time = timespec()
    // The structure is local to this function, and the clock exists on every system.
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The maximum number of open file descriptors of the process.
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
