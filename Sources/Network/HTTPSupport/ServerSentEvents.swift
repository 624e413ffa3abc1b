/// An encoder of the format `text/event-stream` (HTML, 9.2).
package enum ServerSentEvents {
  /// Encodes an event. If its data has several lines, each becomes a `data` field of its own, so that no byte of the data
  /// can end the event.
  ///
  /// - Parameter id: The position from which a client resumes; `nil` for an event without one.
  package static func bytes(id: String? = nil, kind: String, data: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.count + 64)
    if let id { bytes += "id: \(id)\n".utf8 }
    bytes += "event: \(kind)\ndata: ".utf8
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

  /// Encodes a position from which a client resumes, without an event.
  package static func bytes(id: String) -> [UInt8] { Array("id: \(id)\n\n".utf8) }

  /// The beginning of a stream: a client connects again two seconds after it breaks.
  package static let beginning = Array("retry: 2000\n\n".utf8)

  /// A heartbeat, as a comment.
  package static let comment = Array(":\n\n".utf8)
}
