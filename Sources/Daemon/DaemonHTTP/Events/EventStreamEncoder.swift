import JSONFormat
import ScanDaemon

/// An encoder of events in the format `text/event-stream` (HTML, 9.2).
enum EventStreamEncoder {
  /// Encodes an event. If its data has several lines, each becomes a separate `data` field, so no byte of it can end
  /// the event.
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
    return bytes(id: event.id.description, kind: event.kind.rawValue, data: data)
  }

  static func bytes(id: String, kind: String, data: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.count + 64)
    bytes += "id: \(id)\nevent: \(kind)\ndata: ".utf8
    var isBehindReturn = false
    for byte in data {
      switch byte {
      case UInt8(ascii: "\n") where isBehindReturn: isBehindReturn = false
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        bytes += "\ndata: ".utf8
        isBehindReturn = byte == UInt8(ascii: "\r")
      default:
        bytes.append(byte)
        isBehindReturn = false
      }
    }
    bytes += "\n\n".utf8
    return bytes
  }

  /// Encodes a new resume position for the listener, without an event.
  static func bytes(id: EventID) -> [UInt8] { Array("id: \(id)\n\n".utf8) }

  /// The beginning of a stream: the delay before reconnecting after it breaks.
  static let beginning = Array("retry: 2000\n\n".utf8)

  /// A heartbeat, as a comment.
  static let comment = Array(":\n\n".utf8)
}
