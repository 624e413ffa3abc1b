import ScanDaemon

/// Events as `text/event-stream` writes them (HTML, 9.2).
enum EventStreamEncoder {
  /// One event. Its data is one line; should it be more, each becomes one of the stream, and no byte of it can end the event.
  static func bytes(_ event: DaemonEvent) -> [UInt8] {
    bytes(id: event.id.description, kind: event.kind.rawValue, data: event.data)
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

  /// Moves the place from which a listener resumes, and gives it no event.
  static func bytes(id: EventID) -> [UInt8] { Array("id: \(id)\n\n".utf8) }

  /// What begins a stream: after how long to come back when it breaks.
  static let beginning = Array("retry: 2000\n\n".utf8)

  /// A comment, which says no more than that the stream lives.
  static let comment = Array(":\n\n".utf8)
}
