import Bytes
import RecordFormat

/// A read-ahead buffer: consecutive bytes of a file that were read together because they are used one after another.
///
/// The buffer does not read. ``LogWindow``, the salvage of a damaged log and the sealing of a segment each fill it in
/// their own way.
struct FileWindow {
  private var start: Int
  private var bytes: [UInt8]

  /// Creates a window over bytes that were read.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that were read.
  ///   - start: The offset of `bytes` in the file.
  init(_ bytes: [UInt8] = [], at start: Int = 0) {
    self.start = start
    self.bytes = bytes
  }

  /// The offset in the file after the last byte.
  var end: Int { start + bytes.count }

  /// Returns the `count` bytes at `offset` of the file; `nil` if the window does not contain all of them.
  func bytes(_ count: Int, at offset: Int) -> [UInt8]? {
    guard offset >= start, count <= end - offset else { return nil }
    return bytes.rawSpan.slice(offset - start, count).copied()
  }

  /// Returns the object at `offset` of the file; `nil` if the window does not contain all of it.
  func object(at offset: Int) -> [UInt8]? {
    guard let header = bytes(ObjectHeader.byteCount, at: offset) else { return nil }
    let length = ObjectHeader.length(header.rawSpan.u32(at: 4))
    return length < ObjectHeader.byteCount ? nil : bytes(length, at: offset)
  }
}
