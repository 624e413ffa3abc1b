import CProcessSupport
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A scanner on a serial line, which is a pty: unplugged when nobody holds it.
final class SerialScanner: Sendable {
  /// The scanner's side.
  let line: TestSocket
  /// The path of the device.
  let path: String
  /// The device, which has to stay open as one does that is plugged in.
  private let device: Int32

  init() throws {
    var path = [CChar](repeating: 0, count: 128)
    // The call fills the buffer with a path and a zero.
    let pty = unsafe process_open_pty(&path, path.count)
    if pty < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    line = TestSocket(descriptor: pty)
    self.path = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // The path is a C string for the call.
    device = unsafe open(self.path, O_RDWR | O_NOCTTY)
    var settings = termios()
    // The calls fill and read the local structure.
    unsafe tcgetattr(device, &settings)
    unsafe cfmakeraw(&settings)
    unsafe tcsetattr(device, TCSANOW, &settings)
  }

  deinit { close(device) }
}
