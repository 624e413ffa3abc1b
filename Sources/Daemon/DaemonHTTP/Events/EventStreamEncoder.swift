import HTTPSupport
import JSONFormat
import ScanDaemon

/// An encoder of the daemon's events as server-sent events.
enum EventStreamEncoder {
  /// Encodes an event.
  ///
  /// - Parameter showsLatency: Whether the data of a scan gets one more member, `latencySeconds`, if it is known.
  static func bytes(_ event: DaemonEvent, showsLatency: Bool = false) -> [UInt8] {
    var data = event.data
    if showsLatency, let latency = event.latency, data.last == UInt8(ascii: "}") {
      data.removeLast()
      data += ",\"latencySeconds\":".utf8
      data += JSONText.double((latency / .seconds(1) * 1e6).rounded() / 1e6).bytes
      data.append(UInt8(ascii: "}"))
    }
    return ServerSentEvents.bytes(id: event.id.description, kind: event.kind.rawValue, data: data)
  }
}
