import Essentials
import Platform
import Storage
import Synchronization

/// An error that prevents a daemon from starting.
public enum DaemonError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Another process runs a daemon on this root directory.
  case rootInUse(path: String, holder: String)

  /// Why the daemon does not start and what to do, for people.
  public var description: String {
    switch self {
    case .rootInUse(let path, let holder):
      "\(path) is in use by \(holder): one daemon at a time; stop that one, or use another root directory"
    }
  }
}

/// An exclusive lock on a root directory, which prevents a second daemon from using it.
///
/// The lock is a system lock on the file `daemon.lock`. The first 256 bytes of the file name the process that holds the
/// lock, the next 256 bytes the last process that was refused. The system releases the lock when the process ends in
/// any way; the mere existence of the file locks nothing. The daemons of one process share the lock, because one
/// replaces another when a configuration is reloaded.
final class RootLock: Sendable {
  static let name = "daemon.lock"
  /// The size of a line in the file, including its line feed.
  static let lineByteCount = 256

  private struct Held {
    var lock: any StorageLock
    /// The open file; `nil` if it could not be opened a second time.
    var file: (any StorageFile)?
    var count: Int
    /// The last refused process that this process has read from the file.
    var refused: String?
  }

  /// The locks that this process holds, by directory.
  private static let held = Mutex<[FileIdentity: Held]>([:])

  private let directory: PosixDirectory
  private let key: FileIdentity

  private init(_ directory: PosixDirectory, _ key: FileIdentity) {
    self.directory = directory
    self.key = key
  }

  deinit {
    Self.held.withLock { held in
      held[key]?.count -= 1
      if held[key]?.count == 0 { held.removeValue(forKey: key)?.lock.release() }
    }
  }

  /// Locks a root directory, and creates it if it is missing.
  ///
  /// - Throws: ``DaemonError/rootInUse(path:holder:)``; `StorageError` if the directory cannot be created or written.
  static func take(_ root: String) throws -> RootLock {
    let directory = try PosixDirectory.create(root)
    let key = try directory.identity()
    try held.withLock { held in
      if held[key] != nil {
        held[key]?.count += 1
      } else {
        held[key] = try hold(directory, count: 1)
      }
    }
    return RootLock(directory, key)
  }

  private static func hold(_ directory: PosixDirectory, count: Int) throws -> Held {
    guard let lock = try directory.lock(name) else {
      // Read and write errors do not matter here: the other process has the lock.
      let file = (try? directory.open(name, .read)) ?? nil
      let holder = file.flatMap { line(of: $0, 0) } ?? "another process"
      if let file = writable(directory) { try? write("\(me) at \(Date().precise)", to: file, 1) }
      throw DaemonError.rootInUse(path: directory.path, holder: holder)
    }
    if let file = writable(directory) {
      // A full disk must not keep the daemon from answering. In that case the file names no process.
      try? file.truncate(to: 0)
      try? write(me, to: file, 0)
      try? write("", to: file, 1)
    }
    return Held(lock: lock, file: (try? directory.open(name, .read)) ?? nil, count: count, refused: nil)
  }

  /// A sentence that describes the change if the path of the root directory now leads to another directory or to none,
  /// or to one that this process may not open; `nil` if it is unchanged.
  ///
  /// - Complexity: Three system calls.
  func replacement() -> String? {
    let found: PosixDirectory?
    do throws(StorageError) { found = try PosixDirectory.open(directory.path) } catch {
      // A part of the path is not a directory any more.
      if error.kind != .missing { return "\(error)" }
      found = nil
    }
    guard let found else { return "\(directory.path) is not there any more: somebody removed, moved or unmounted it" }
    guard let identity = try? found.identity(), identity != key else { return nil }
    return "\(directory.path) is another directory than the one that the daemon started with, and is used from now on"
  }

  /// A sentence that describes what another daemon has done to this root directory since the last call: it was refused,
  /// or it holds another lock because the file was removed. `nil` if nothing happened.
  ///
  /// - Complexity: Two system calls, and a few more if the file was removed.
  func rival() -> String? {
    Self.held.withLock { held -> String? in
      guard let own = held[key] else { return nil }
      do {
        guard let identity = own.file?.identity, try directory.identity(of: Self.name) != identity else {
          return refused(&held)
        }
        // The file was removed. Create it again, unless another daemon has already done so.
        let new = try Self.hold(directory, count: own.count)
        held[key] = new
        own.lock.release()
        return nil
      } catch DaemonError.rootInUse(_, let holder) {
        return "\(holder) runs a daemon on \(directory.path) as well: somebody removed \(Self.name)"
      } catch {
        // All code that uses the directory reports that it cannot be read.
        return nil
      }
    }
  }

  private func refused(_ held: inout [FileIdentity: Held]) -> String? {
    guard let file = held[key]?.file, let line = Self.line(of: file, 1), line != held[key]?.refused else { return nil }
    held[key]?.refused = line
    return "a second daemon tried to start on \(directory.path): \(line)"
  }

  // MARK: The file

  /// What each line begins with.
  private static let prefix = "process "

  /// A description of this process, for people.
  private static var me: String { "\(LockHolder.current)" }

  /// The file of the lock if it may be written: it has one name, and is empty or has such lines and nothing else.
  /// Whoever may write in the directory may have linked any other file to the name.
  private static func writable(_ directory: PosixDirectory) -> (any StorageFile)? {
    guard let file = (try? directory.openSole(name)) ?? nil,
      let bytes = try? file.read(2 * lineByteCount + 1, at: 0), bytes.count <= 2 * lineByteCount
    else { return nil }
    let lines = [bytes.prefix(lineByteCount), bytes.dropFirst(lineByteCount)]
    let areLines = lines.allSatisfy { line in
      // A line that a process has not written yet has zeros or spaces.
      let text = line.prefix(lineByteCount - 1)
      return line.dropFirst(lineByteCount - 1).allSatisfy { $0 == UInt8(ascii: "\n") || $0 == 0 }
        && (text.starts(with: prefix.utf8) ? text.allSatisfy { $0 >= 0x20 } : text.allSatisfy { $0 == 0x20 || $0 == 0 })
    }
    return areLines ? file : nil
  }

  private static func line(of file: any StorageFile, _ number: Int) -> String? {
    guard let bytes = try? file.read(lineByteCount, at: number * lineByteCount), bytes.starts(with: prefix.utf8) else {
      return nil
    }
    let text = String(decoding: bytes.prefix { $0 >= 0x20 }, as: UTF8.self)
    let line = String(text.reversed().drop { $0 == " " }.reversed())
    return line.isEmpty ? nil : line
  }

  private static func write(_ text: String, to file: any StorageFile, _ number: Int) throws {
    var bytes = Array(text.utf8.prefix(lineByteCount - 1))
    bytes += repeatElement(UInt8(ascii: " "), count: lineByteCount - 1 - bytes.count)
    bytes.append(UInt8(ascii: "\n"))
    try file.write(bytes, at: number * lineByteCount)
  }
}
