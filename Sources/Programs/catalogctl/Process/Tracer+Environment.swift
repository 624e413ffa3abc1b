import Documents
import Essentials
import Logging
import StoreMetrics

extension Tracer {
  /// The tracer that the environment asks for, which logs to standard error; `nil` for none.
  static func ofEnvironment() throws -> Tracer? {
    let variable = Tracer.environmentVariable
    guard let name = ProcessInfo.processInfo.environment[variable], !name.isEmpty else { return nil }
    let logger = Logger(label: "documents") { TerminalLogHandler(label: $0) }
    guard let tracer = Tracer.named(name, logger: logger) else {
      throw Failure(.usage, "\(variable) is \"\(name)\"; it names all, slow, or one of them with ,redacted")
    }
    return tracer
  }
}
