import NIOCore
import Synchronization

/// Bytes that are taken once, as a body for tests.
final class TestBody: Sendable {
  private let bytes: Mutex<ByteBuffer>

  init(_ bytes: [UInt8]) { self.bytes = Mutex(ByteBuffer(bytes: bytes)) }

  /// Takes all bytes; `nil` if there are none.
  func take() -> ByteBuffer? {
    bytes.withLock { bytes in bytes.readableBytes > 0 ? bytes.readSlice(length: bytes.readableBytes) : nil }
  }
}
