import DaemonProcess

/// The scanning daemon.
///
/// Its entry is not asynchronous, because the compiler gives the entries of all asynchronous programs functions with
/// the same names, and the package links this program and `catalogctl` into one.
@main struct Catalogd {
  static func main() { DaemonProgram.main() }
}
