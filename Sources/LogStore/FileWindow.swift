import Bytes
import RecordFormat

/// A read-ahead buffer: bytes of a file that were read together, because they are used one after another.
///
/// It does not read. ``LogWindow``, the salvage of a damaged log and the sealing of a segment fill it, each in its own way.
struct FileWindow {
  private var start: Int
  private var bytes: [UInt8]

  /// - Parameters:
  ///   - bytes: The bytes that were read.
  ///   - start: Their offset in the file.
  init(_ bytes: [UInt8] = [], at start: Int = 0) {
    self.start = start
    self.bytes = bytes
  }

  /// The end of the bytes in the file.
  var end: Int { start + bytes.count }

  /// The `count` bytes at `offset` of the file, if the window holds all of them.
  func bytes(_ count: Int, at offset: Int) -> [UInt8]? {
    guard offset >= start, count <= end - offset else { return nil }
    return bytes.rawSpan.slice(offset - start, count).copied()
  }

  /// The object at `offset` of the file, if the window holds all of it.
  func object(at offset: Int) -> [UInt8]? {
    guard let header = bytes(ObjectHeader.byteCount, at: offset) else { return nil }
    let length = ObjectHeader.length(header.rawSpan.u32(at: 4))
    return length < ObjectHeader.byteCount ? nil : bytes(length, at: offset)
  }
}
