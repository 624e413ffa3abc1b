public import Documents
public import Logging
import TextFormat

/// Tracers that write the operations of a document store to a log, through swift-log.
///
///     options.trace = .slow(over: .milliseconds(50))
///
/// A line names the operation, the collection and the query; its metadata are the store, the plan, the numbers of
/// documents read and found, and the duration in milliseconds. Failed operations are always logged.
extension Tracer {
  /// Logs every operation.
  ///
  /// - Parameters:
  ///   - logger: The logger; by default one with the label `documents`.
  ///   - redactsValues: Whether the values of conditions are replaced by `?`, and the texts of errors, which may quote
  ///     values, are left out.
  public static func all(logger: Logger = Logger(label: "documents"), redactsValues: Bool = false) -> Tracer {
    slow(over: .zero, logger: logger, redactsValues: redactsValues)
  }

  /// Logs operations that take at least as long as `threshold`; see `all(logger:redactsValues:)`.
  public static func slow(
    over threshold: Duration, logger: Logger = Logger(label: "documents"), redactsValues: Bool = false
  ) -> Tracer {
    Tracer(over: threshold) { trace in
      var message = "\(trace.operation) \(trace.collection)"
      let query = trace.queryText(redactsValues: redactsValues)
      if !query.isEmpty { message += " " + query }
      var metadata: Logger.Metadata = [
        "store": .string(trace.store), "read": .stringConvertible(trace.documentsRead),
        "found": .stringConvertible(trace.documentsAffected),
        "milliseconds": .string(trace.duration.millisecondsText),
      ]
      if let plan = trace.plan { metadata["plan"] = .string(plan.description) }
      if let error = trace.error { metadata["error"] = .string(redactsValues ? "withheld" : error) }
      logger.log(level: trace.error == nil ? .notice : .warning, "\(message)", metadata: metadata)
    }
  }

  /// The environment variable in which both programs look for the name of a tracer; see `named(_:logger:)`.
  public static let environmentVariable = "CATALOG_TRACE"

  /// The tracer with this name: `all`, or `slow` for operations of 50 ms and more; `,redacted` after it leaves out
  /// values.
  ///
  /// - Returns: `nil` for any other name.
  public static func named(_ name: String, logger: Logger = Logger(label: "documents")) -> Tracer? {
    switch name {
    case "all": all(logger: logger)
    case "all,redacted": all(logger: logger, redactsValues: true)
    case "slow": slow(over: .milliseconds(50), logger: logger)
    case "slow,redacted": slow(over: .milliseconds(50), logger: logger, redactsValues: true)
    default: nil
    }
  }
}

extension Duration {
  /// The duration in milliseconds with three digits after the point.
  fileprivate var millisecondsText: String {
    let microseconds = nanoseconds / 1000
    let fraction = String(microseconds % 1000)
    return "\(microseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
  }
}
