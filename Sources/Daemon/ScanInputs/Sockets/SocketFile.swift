import NIOCore
import NIOPosix
import Platform

/// The file of a Unix domain socket. Only its owner may use it, at any time.
///
/// The socket is bound in a directory that only its owner can enter, gets its mode, and is then renamed. So other users
/// can never connect to it, and an existing file is replaced atomically. A socket file that a killed process left is
/// replaced; a file on which a process answers, or which is not a socket, is not.
package struct SocketFile: Sendable {
  private let path: String
  /// The path at which the socket is bound.
  package let temporaryPath: String
  private let directory: String

  /// The maximum length of a path to which SwiftNIO binds a socket, in bytes: the limit of the smallest system.
  private static let boundPathByteLimit = 103
  /// The maximum length of a socket's path, in bytes. Until the socket is published, a dot, a process ID of up to seven
  /// digits and `/s` are appended.
  package static let pathByteLimit = boundPathByteLimit - 10

  /// Prepares a path for a socket.
  ///
  /// - Throws: An error if another process listens at the path, or if the file is not a socket. It does not contain the
  ///   path, which the caller knows.
  package init(path: String) async throws(InputError) {
    self.path = path
    directory = "\(path).\(getpid())"
    temporaryPath = "\(directory)/s"
    if !(1...Self.pathByteLimit).contains(path.utf8.count) || path.utf8.contains(0) {
      let rule = "a socket's path has 1 to \(Self.pathByteLimit) bytes, none of them zero"
      throw InputError("\(rule); this one has \(path.utf8.count)")
    }
    if let status = Self.status(path) {
      guard status.st_mode & S_IFMT == S_IFSOCK else { throw InputError("a file that is no socket has this name") }
      if try await Self.isListenedTo(path) { throw InputError("another process listens there") }
    }
    // A crashed process with the same ID may have left it.
    removeTemporary()
    // The path is a C string for the duration of the call.
    guard unsafe mkdir(directory, 0o700) == 0 else { throw InputError("cannot make a directory for it", code: errno) }
  }

  /// Sets the mode of the bound socket and renames it to its path.
  ///
  /// - Parameter mode: The permissions of the socket, which decide who can connect. By default only the owner of the
  ///   process can.
  /// - Returns: The identity of the file, for ``remove(_:)``.
  package func publish(mode: UInt16 = 0o600) throws(InputError) -> Identity {
    defer { removeTemporary() }
    // The paths are C strings for the duration of the calls.
    guard unsafe chmod(temporaryPath, mode_t(mode)) == 0, let status = Self.status(temporaryPath),
      unsafe rename(temporaryPath, path) == 0
    else { throw InputError("cannot give it its name", code: errno) }
    return Identity(device: UInt64(status.st_dev), file: UInt64(status.st_ino))
  }

  /// Removes the file if it is still the one that was published.
  package func remove(_ identity: Identity) {
    guard let status = Self.status(path),
      Identity(device: UInt64(status.st_dev), file: UInt64(status.st_ino)) == identity
    else { return }
    // The path is a C string for the duration of the call.
    _ = unsafe unlink(path)
  }

  /// Removes the temporary file and directory.
  package func removeTemporary() {
    // The paths are C strings for the duration of the calls.
    _ = unsafe unlink(temporaryPath)
    _ = unsafe rmdir(directory)
  }

  package struct Identity: Sendable, Equatable {
    private let device: UInt64
    private let file: UInt64

    fileprivate init(device: UInt64, file: UInt64) {
      self.device = device
      self.file = file
    }
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    // The path is a C string, and the structure is local, for the duration of the call.
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  /// Whether a process listens on the socket.
  ///
  /// - Throws: An error if this cannot be determined, for example because another user owns the socket. It is then left
  ///   alone.
  private static func isListenedTo(_ path: String) async throws(InputError) -> Bool {
    do {
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(unixDomainSocketPath: path).get()
      try? await channel.close().get()
      return true
    } catch let error as IOError {
      switch error.errnoCode {
      case ECONNREFUSED, ENOENT: return false
      // A socket with a full queue has a listener as well.
      case EAGAIN: return true
      default: throw InputError("cannot determine whether another process uses it", code: error.errnoCode)
      }
    } catch {
      throw InputError("cannot determine whether another process uses it: \(error)")
    }
  }
}
