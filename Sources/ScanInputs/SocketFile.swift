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
/// is no moment at which others could connect to it, and what stood there before is replaced in one step. A name that a killed
/// process left behind is taken over; one at which somebody answers, or which is something else than a socket, is not.
package struct SocketFile: Sendable {
  private let path: String
  /// Where it is bound.
  package let temporaryPath: String
  private let directory: String

  /// The most bytes of a path that SwiftNIO binds a socket to, which is what the smallest system takes.
  private static let boundPathByteLimit = 103
  /// The most bytes of a socket's own path, behind which a dot, a process id of up to seven digits and `/s` stand until it is
  /// published.
  package static let pathByteLimit = boundPathByteLimit - 10

  /// Makes room for a socket.
  ///
  /// - Throws: where another process listens, or something else than a socket is; without the path, which the caller knows.
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
    // One that a dead process with this id left.
    removeTemporary()
    // The path is a C string for the length of the call.
    guard unsafe mkdir(directory, 0o700) == 0 else { throw InputError("cannot make a directory for it", code: errno) }
  }

  /// Gives the bound socket its mode and its name.
  ///
  /// - Returns: what names the file, for ``remove(_:)``.
  package func publish() throws(InputError) -> Identity {
    defer { removeTemporary() }
    // The paths are C strings for the length of the calls.
    guard unsafe chmod(temporaryPath, 0o600) == 0, let status = Self.status(temporaryPath),
      unsafe rename(temporaryPath, path) == 0
    else { throw InputError("cannot give it its name", code: errno) }
    return Identity(device: UInt64(status.st_dev), file: UInt64(status.st_ino))
  }

  /// Removes the file if it still is the one that was published.
  package func remove(_ identity: Identity) {
    guard let status = Self.status(path),
      Identity(device: UInt64(status.st_dev), file: UInt64(status.st_ino)) == identity
    else { return }
    // The path is a C string for the length of the call.
    _ = unsafe unlink(path)
  }

  /// Removes what binding needed.
  package func removeTemporary() {
    // The paths are C strings for the length of the calls.
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
    // The path is a C string, and the status written to, for the length of the call.
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  /// - Throws: where nobody can tell, such as at a socket of somebody else: it stays.
  private static func isListenedTo(_ path: String) async throws(InputError) -> Bool {
    do {
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(unixDomainSocketPath: path).get()
      try? await channel.close().get()
      return true
    } catch let error as IOError {
      switch error.errnoCode {
      case ECONNREFUSED, ENOENT: return false
      // A socket whose queue is full belongs to somebody as well.
      case EAGAIN: return true
      default: throw InputError("cannot tell who has it", code: error.errnoCode)
      }
    } catch {
      throw InputError("cannot tell who has it: \(error)")
    }
  }
}
