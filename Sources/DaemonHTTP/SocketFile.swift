import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file of a Unix domain socket: nobody but its owner may use it, at no moment.
///
/// A socket is bound in a directory that only its owner can enter, gets its mode, and takes its name by being renamed: there
/// is no moment at which others could connect to it, and what stood there before is replaced in one step.
struct SocketFile: Sendable {
  let path: String
  /// Where it is bound.
  let temporaryPath: String
  private let directory: String

  /// The most bytes of a path that the system binds a socket to.
  static let pathByteLimit = 107

  /// Makes room for a socket.
  ///
  /// - Throws: `DaemonServerError.cannotListen` where another process listens, or something else than a socket is.
  init(path: String) async throws {
    self.path = path
    directory = "\(path).\(getpid())"
    temporaryPath = "\(directory)/s"
    if path.isEmpty || temporaryPath.utf8.count > Self.pathByteLimit {
      throw refusal("a path has 1 to \(Self.pathByteLimit - temporaryPath.utf8.count + path.utf8.count) bytes")
    }
    if let status = Self.status(path) {
      guard status.st_mode & S_IFMT == S_IFSOCK else { throw refusal("a file that is no socket has this name") }
      if await Self.isListenedTo(path) { throw refusal("another process listens there") }
    }
    // One that a dead process with this id left.
    removeTemporary()
    // The path is a C string for the length of the call.
    if unsafe mkdir(directory, 0o700) != 0 { throw refusal(Self.reason()) }
  }

  /// Gives the bound socket its mode and its name.
  ///
  /// - Returns: what names the file, for ``remove(_:)``.
  func publish() throws -> Identity {
    defer { removeTemporary() }
    // The paths are C strings for the length of the calls.
    guard unsafe chmod(temporaryPath, 0o600) == 0, let status = Self.status(temporaryPath),
      unsafe rename(temporaryPath, path) == 0
    else { throw refusal(Self.reason()) }
    return Identity(device: UInt64(status.st_dev), file: UInt64(status.st_ino))
  }

  /// Removes the file if it still is the one that was published.
  func remove(_ identity: Identity) {
    guard let status = Self.status(path),
      Identity(device: UInt64(status.st_dev), file: UInt64(status.st_ino)) == identity
    else { return }
    // The path is a C string for the length of the call.
    _ = unsafe unlink(path)
  }

  /// Removes what binding needed.
  func removeTemporary() {
    // The paths are C strings for the length of the calls.
    _ = unsafe unlink(temporaryPath)
    _ = unsafe rmdir(directory)
  }

  struct Identity: Sendable, Equatable {
    let device: UInt64
    let file: UInt64
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    // The path is a C string, and the status written to, for the length of the call.
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  private static func isListenedTo(_ path: String) async -> Bool {
    guard
      let channel = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(unixDomainSocketPath: path).get()
    else { return false }
    try? await channel.close().get()
    return true
  }

  private func refusal(_ reason: String) -> DaemonServerError { .cannotListen(path, reason: reason) }

  /// The words for the last error of the system.
  static func reason(_ number: CInt = errno) -> String {
    // The text of an error number is a C string that is copied at once.
    unsafe String(cString: strerror(number))
  }
}
