import Storage
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Why a daemon does not start.
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

/// The lock that keeps a second daemon away from a root directory.
///
/// The file `daemon.lock` carries it. Its first 256 bytes name the process that holds the lock, its next 256 bytes the last process
/// that was refused. The system drops the lock when the process ends, however it does: the file alone keeps nobody away. Daemons
/// of one process share the lock, as one takes another's place when a configuration is read again.
final class RootLock: Sendable {
  static let name = "daemon.lock"
  /// Bytes of a line of the file, with its line feed.
  static let lineByteCount = 256

  private struct Held {
    var lock: any StorageLock
    /// `nil` where the file cannot be opened again.
    var file: (any StorageFile)?
    var count: Int
    /// The last process that was refused, as far as this one has read.
    var refused: String?
  }

  /// The locks that this process holds, by the directory.
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

  /// Takes the lock of a root directory, which is made where it is missing.
  ///
  /// - Throws: ``DaemonError/rootInUse(path:holder:)``; `StorageError` where the directory cannot be made or written.
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
      // What cannot be read or noted changes nothing: the other one has the lock.
      let file = (try? directory.open(name, .write)) ?? nil
      let holder = file.flatMap { line(of: $0, 0) } ?? "another process"
      if let file { try? write("\(me) at \(Date().precise)", to: file, 1) }
      throw DaemonError.rootInUse(path: directory.path, holder: holder)
    }
    let file = (try? directory.open(name, .write)) ?? nil
    if let file {
      // A full disk must not keep the daemon from answering: then nobody is named.
      try? file.truncate(to: 0)
      try? write(me, to: file, 0)
      try? write("", to: file, 1)
    }
    return Held(lock: lock, file: file, count: count, refused: nil)
  }

  /// What became of the root directory, in a sentence, where its path leads to another directory or to none; `nil` where it is as it
  /// was.
  ///
  /// - Complexity: Three system calls.
  func replacement() -> String? {
    let found = (try? PosixDirectory.open(directory.path)).flatMap(\.self)
    guard let found else { return "\(directory.path) is not there any more: somebody removed, moved or unmounted it" }
    guard let identity = try? found.identity(), identity != key else { return nil }
    return "\(directory.path) is another directory than the one that the daemon started with, and is used from now on"
  }

  /// What another daemon has done to this one's root directory since the last call: it was refused, or it has a lock of its own
  /// because the file was removed. In a sentence; `nil` for nothing.
  ///
  /// - Complexity: two system calls, and some more where the file was removed.
  func rival() -> String? {
    Self.held.withLock { held -> String? in
      guard let own = held[key] else { return nil }
      do {
        guard let identity = own.file?.identity, try directory.identity(of: Self.name) != identity else {
          return refused(&held)
        }
        // Somebody removed the file: its name is taken anew, unless another daemon has done so.
        let new = try Self.hold(directory, count: own.count)
        held[key] = new
        own.lock.release()
        return nil
      } catch DaemonError.rootInUse(_, let holder) {
        return "\(holder) runs a daemon on \(directory.path) as well: somebody removed \(Self.name)"
      } catch {
        // A directory that cannot be read is told by all that uses it.
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

  /// This process, for people.
  private static var me: String {
    let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "a program"
    return "process \(getpid()) (\(program.prefix(100)))"
  }

  private static func line(of file: any StorageFile, _ number: Int) -> String? {
    guard let bytes = try? file.read(lineByteCount, at: number * lineByteCount) else { return nil }
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
