import CDaemon
import Platform

/// The termios settings of a serial device.
enum SerialLine {
  /// Opens a device in raw mode, at its speed, exclusively. Its settings are restored when it is closed.
  static func open(_ options: SerialOptions) throws(InputError) -> Descriptor {
    _ = try speed(options)
    // The path is borrowed as a C string for the call.
    let number = unsafe shelfmark_open_device(options.path, O_RDWR)
    guard number >= 0 else { throw InputError("cannot open \(options.path)", code: errno) }
    guard shelfmark_lock_device(number) == 0 || errno != EWOULDBLOCK else {
      close(number)
      throw InputError("another process, or another input, reads \(options.path) and has it locked")
    }
    var before = termios()
    // Both calls use a local structure, for their duration.
    guard unsafe tcgetattr(number, &before) == 0 else {
      let error = InputError("\(options.path) is no serial device", code: errno)
      close(number)
      throw error
    }
    let settings = before
    let device = Descriptor(number) {
      var settings = settings
      // Output that the device does not accept would delay the close.
      tcflush(number, TCOFLUSH)
      unsafe tcsetattr(number, TCSANOW, &settings)
      shelfmark_claim_terminal(number, 0)
    }
    try setUp(device, options)
    // Some drivers do not support the claim. Programs that do not check the lock can then share the device.
    shelfmark_claim_terminal(number, 1)
    return device
  }

  /// Sets an open device to raw mode, at its speed. Bytes that it has already received stay readable.
  static func setUp(_ device: Descriptor, _ options: SerialOptions) throws(InputError) {
    let speed = try speed(options)
    var raw = termios()
    // The calls use a local structure, for their duration.
    guard unsafe tcgetattr(device.number, &raw) == 0 else {
      throw InputError("cannot set up \(options.path)", code: errno)
    }
    unsafe cfmakeraw(&raw)
    raw.c_cflag |= tcflag_t(CLOCAL | CREAD)
    guard unsafe cfsetspeed(&raw, speed) == 0, unsafe tcsetattr(device.number, TCSANOW, &raw) == 0 else {
      throw InputError("cannot set up \(options.path)", code: errno)
    }
  }

  private static func speed(_ options: SerialOptions) throws(InputError) -> speed_t {
    if let speed = speeds[options.baud] { return speed }
    let supported = speeds.keys.sorted().map(String.init).joined(separator: ", ")
    throw InputError("\(options.baud) is not a supported speed; supported are \(supported)")
  }

  #if os(Linux)
  private static let speeds: [Int: speed_t] = [
    1200: speed_t(B1200), 2400: speed_t(B2400), 4800: speed_t(B4800), 9600: speed_t(B9600), 19_200: speed_t(B19200),
    38_400: speed_t(B38400), 57_600: speed_t(B57600), 115_200: speed_t(B115200), 230_400: speed_t(B230400),
    460_800: speed_t(B460800), 500_000: speed_t(B500000), 576_000: speed_t(B576000), 921_600: speed_t(B921600),
  ]
  #else
  private static let speeds: [Int: speed_t] = [
    1200: speed_t(B1200), 2400: speed_t(B2400), 4800: speed_t(B4800), 9600: speed_t(B9600), 19_200: speed_t(B19200),
    38_400: speed_t(B38400), 57_600: speed_t(B57600), 115_200: speed_t(B115200), 230_400: speed_t(B230400),
  ]
  #endif
}
