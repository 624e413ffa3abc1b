#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What the numbers were measured on.
package struct Machine {
  package let processor: String
  package let coreCount: Int
  package let kernel: String
  package let load: String

  package init() {
    let lines = (try? Files.read("/proc/cpuinfo")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let model = lines.split(separator: "\n").first { $0.hasPrefix("model name") }
    processor = model?.split(separator: ":").last.map { String($0.drop { $0 == " " }) } ?? "unknown processor"
    coreCount = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    kernel = Self.line("/proc/sys/kernel/osrelease")
    load = Self.line("/proc/loadavg").split(separator: " ").prefix(2).joined(separator: " ")
  }

  /// The compiler that built this program, as far as it can tell.
  package var swift: String {
    #if compiler(>=6.4)
    "Swift 6.4 or later"
    #elseif compiler(>=6.3)
    "Swift 6.3"
    #else
    "Swift 6.2 or earlier"
    #endif
  }

  package var description: String {
    "\(processor), \(coreCount) cores, Linux \(kernel), \(swift), load at the start \(load)"
  }

  private static func line(_ path: String) -> String {
    let bytes = (try? Files.read(path)) ?? []
    return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
  }

  /// A line of `/proc/self/status` in KiB.
  package static func status(_ key: String) -> Int {
    let text = String(decoding: (try? Files.read("/proc/self/status")) ?? [], as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix(key + ":") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }
}
