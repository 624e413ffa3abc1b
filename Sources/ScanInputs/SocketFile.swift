#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A Unix domain socket that listens, and its name among the files.
struct SocketFile: Sendable {
  /// Belongs to whom it is given.
  let descriptor: CInt
  private let path: String
  /// Which file it is: another may have its name later.
  private let device: dev_t
  private let inode: ino_t

  /// Makes the socket; nobody but the user may connect. A name that a daemon left behind when it was killed is taken over; one
  /// at which somebody answers, or which is something else than a socket, is not.
  init(_ path: String) throws(Obstacle) {
    let address = try SocketPath(path)
    try Self.removeStale(address)
    let descriptor = try Self.makeSocket()
    do throws(Obstacle) {
      // The mode goes to the file with the name, so there is no moment at which others may connect.
      guard fchmod(descriptor, 0o600) == 0 else { throw Obstacle("cannot set the mode of a socket", code: errno) }
      guard address.bind(descriptor) == 0, listen(descriptor, 128) == 0 else {
        throw Obstacle("cannot listen at \(path)", code: errno)
      }
      #if !os(Linux)
      // The path is lent as a C string for the call.
      _ = unsafe chmod(path, 0o600)
      #endif
      guard let file = Self.file(path) else { throw Obstacle("\(path) went away") }
      device = file.st_dev
      inode = file.st_ino
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.path = path
  }

  /// Removes the name, if it is still that of this socket.
  func remove() {
    guard let file = Self.file(path), file.st_dev == device, file.st_ino == inode else { return }
    // The path is lent as a C string for the call.
    _ = unsafe unlink(path)
  }

  private static func removeStale(_ address: SocketPath) throws(Obstacle) {
    guard let file = file(address.path) else { return }
    guard file.st_mode & S_IFMT == S_IFSOCK else { throw Obstacle("\(address.path) is there, and is no socket") }
    let probe = try makeSocket()
    defer { close(probe) }
    let result = address.connect(probe)
    let code = errno
    // A socket whose queue is full belongs to somebody as well.
    if result == 0 || code == EAGAIN || code == EINPROGRESS {
      throw Obstacle("somebody answers at \(address.path) already")
    }
    guard code == ECONNREFUSED else {
      if code == ENOENT { return }
      throw Obstacle("cannot tell who has \(address.path)", code: code)
    }
    // The path is lent as a C string for the call.
    guard unsafe unlink(address.path) == 0 || errno == ENOENT else {
      throw Obstacle("cannot remove \(address.path)", code: errno)
    }
  }

  private static func makeSocket() throws(Obstacle) -> CInt {
    #if os(Linux)
    let number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    #else
    let number = socket(AF_UNIX, SOCK_STREAM, 0)
    #endif
    guard number >= 0 else { throw Obstacle("cannot make a socket", code: errno) }
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    _ = fcntl(number, F_SETFL, O_NONBLOCK)
    return number
  }

  private static func file(_ path: String) -> stat? {
    var status = stat()
    // The path is lent as a C string for the call, and the structure is ours.
    return unsafe lstat(path, &status) == 0 ? status : nil
  }
}

/// A path as the address of a socket.
private struct SocketPath {
  let path: String
  private var address = sockaddr_un()

  init(_ path: String) throws(Obstacle) {
    self.path = path
    let bytes = Array(path.utf8)
    // One byte is for the zero at the end.
    let room = MemoryLayout.size(ofValue: address.sun_path) - 1
    guard !bytes.isEmpty, bytes.count <= room, !bytes.contains(0) else {
      throw Obstacle("a socket's path has 1 to \(room) bytes, and this one has \(bytes.count): \(path)")
    }
    address.sun_family = sa_family_t(AF_UNIX)
    // There is room for all of them, as was checked.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
  }

  // An address of any family begins like the general one, and the calls are told how long it is.

  func bind(_ descriptor: CInt) -> CInt { unsafe withAddress { unsafe systemBind(descriptor, $0, $1) } }

  func connect(_ descriptor: CInt) -> CInt { unsafe withAddress { unsafe systemConnect(descriptor, $0, $1) } }

  private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    return unsafe withUnsafePointer(to: address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
    }
  }
}

// The type has methods of these names.

private func systemBind(_ number: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
  unsafe bind(number, address, length)
}

private func systemConnect(_ number: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
  unsafe connect(number, address, length)
}
