import Platform
import Sealing

/// Where the key of sealed stores comes from. It is read when a sealed store is first used, and not for clear ones.
public enum KeySource: Sendable, Hashable {
  /// A file of exactly 32 random bytes: a regular file that belongs to this user or root, for its owner alone.
  case keyFile(String)
  /// A command of the shell that prints the key: 32 bytes, or 64 hexadecimal digits, or 32 bytes in base64. A line
  /// `days N` after it is a lease: a process that runs on forgets the key after that time, and asks again.
  case command(String)
  /// A file whose first line is the passphrase, with the same owner and mode as a key file.
  case passphraseFile(String)
  /// A credential of systemd: like a key file, and a group may have been given access by its mode.
  case credential(String)

  /// The name of the credential in `$CREDENTIALS_DIRECTORY`.
  public static let credentialName = "shelfmark.key"

  /// The credential of a service; `nil` if `directory`, the value of `$CREDENTIALS_DIRECTORY`, has none.
  public static func credential(in directory: String?) -> KeySource? {
    guard let directory, !directory.isEmpty else { return nil }
    let path = directory + "/" + credentialName
    var status = stat()
    // The path is a C string during the call, which fills in the local structure.
    return unsafe lstat(path, &status) == 0 ? .credential(path) : nil
  }

  /// Reads the key or passphrase. Blocks: a command has 30 seconds.
  ///
  /// - Throws: `KeyError.unreadable`, `.exposed`, `.noKeyInside`, `.command`, `.system`.
  package func read() throws(KeyError) -> KeyMaterial { try answer().material }

  /// Reads the key or passphrase, and for how long it may be used. Blocks as ``read()``.
  ///
  /// - Throws: As ``read()``.
  func answer() throws(KeyError) -> KeyAnswer {
    switch self {
    case .keyFile(let path): KeyAnswer(material: try Self.key(in: SecretFileReader(path)))
    case .credential(let path): KeyAnswer(material: try Self.key(in: SecretFileReader(path, allowsGroup: true)))
    case .passphraseFile(let path): KeyAnswer(material: try Self.passphrase(in: SecretFileReader(path)))
    case .command(let command): try SecretCommand.answer(of: command)
    }
  }

  private static func key(in file: SecretFileReader) throws(KeyError) -> KeyMaterial {
    var bytes = try file.read(limit: AuthenticatedCipher.keyByteCount + 1)
    defer { SecretBytes.wipe(&bytes) }
    guard bytes.count == AuthenticatedCipher.keyByteCount else {
      let count = bytes.count > AuthenticatedCipher.keyByteCount ? "more" : "\(bytes.count)"
      throw .noKeyInside(
        name: file.path,
        reason: "a key file has exactly 32 random bytes, this one has \(count);"
          + " 'head -c 32 /dev/urandom' makes them")
    }
    let copy = bytes
    return .raw(try sealing { () throws(SealingError) in try SecretBytes(copying: copy) })
  }

  /// The longest passphrase in bytes.
  private static let passphraseLimit = 4096

  private static func passphrase(in file: SecretFileReader) throws(KeyError) -> KeyMaterial {
    var bytes = try file.read(limit: passphraseLimit + 1)
    defer { SecretBytes.wipe(&bytes) }
    let count = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    guard count > 0 else {
      throw .noKeyInside(name: file.path, reason: "its first line is empty, and it is the passphrase")
    }
    guard count <= passphraseLimit else {
      throw .noKeyInside(name: file.path, reason: "its first line has more than \(passphraseLimit) bytes")
    }
    do throws(SealingError) {
      // The prefix is copied into memory of its own, and nowhere else.
      return .passphrase(
        unsafe try SecretBytes(count: count) { memory in
          for index in 0..<count { unsafe memory[index] = bytes[index] }
        })
    } catch { throw KeyError(error) }
  }
}

/// What a source gives.
struct KeyAnswer: Sendable {
  let material: KeyMaterial
  /// For how long a process may use it without asking again; `nil` for as long as it runs.
  var lease: Duration?
}

/// A file with a secret: opened, and checked to be for its owner alone.
final class SecretFileReader {
  let path: String
  private let descriptor: Int32

  /// Opens a file. Its last component is no symbolic link.
  ///
  /// - Parameter allowsGroup: Whether a group may read it: systemd gives a service access to its credential so, and all
  ///   files in its directory have that.
  /// - Throws: `KeyError.unreadable`, `.exposed`.
  init(_ path: String, allowsGroup: Bool = false) throws(KeyError) {
    self.path = path
    // The path is a C string during the call. A pipe that nobody writes to must not block.
    let descriptor = retrying { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) }
    if descriptor < 0 {
      throw errno == ELOOP
        ? .exposed(name: path, reason: "it is a symbolic link, which is not followed for a key: name the file itself")
        : .unreadable(name: path, reason: Self.reason(errno))
    }
    self.descriptor = descriptor
    try check(allowsGroup: allowsGroup || Self.isCredential(path))
  }

  /// Whether a path is in the directory in which systemd passes files to this process.
  private static func isCredential(_ path: String) -> Bool {
    // The text is copied before the environment can change; nothing here changes it.
    let value = unsafe getenv("CREDENTIALS_DIRECTORY")
    guard let directory = unsafe value.map({ unsafe String(cString: $0) }) else { return false }
    return !directory.isEmpty && path.hasPrefix(directory + "/")
  }

  deinit { close(descriptor) }

  private func check(allowsGroup: Bool) throws(KeyError) {
    var status = stat()
    // The call fills in the local structure.
    guard retrying({ unsafe fstat(descriptor, &status) }) == 0 else {
      throw .unreadable(name: path, reason: Self.reason(errno))
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .unreadable(name: path, reason: "it is not a regular file; --key-command takes a key from elsewhere")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw .exposed(
        name: path,
        reason: "it belongs to user \(status.st_uid), and a key must belong to the user of this program (\(geteuid()))"
          + " or to root")
    }
    let mode = status.st_mode & 0o777
    guard mode & (allowsGroup ? 0o037 : 0o077) == 0 else {
      throw .exposed(
        name: path,
        reason: "others may read or change it (mode \(String(mode, radix: 8))), and it holds a secret;"
          + " run 'chmod 600 \(path.shellWord)'")
    }
  }

  /// Reads up to `limit` bytes, at least 1. Wipe them: nobody else has a copy.
  ///
  /// - Throws: `KeyError.unreadable`.
  func read(limit: Int) throws(KeyError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit)
    var count = 0
    while count < limit {
      // The buffer has `limit - count` bytes from `count` on.
      let result = unsafe bytes.withUnsafeMutableBytes { buffer in
        retrying { unsafe pread(descriptor, buffer.baseAddress! + count, limit - count, off_t(count)) }
      }
      if result < 0 {
        let code = errno
        SecretBytes.wipe(&bytes)
        throw .unreadable(name: path, reason: Self.reason(code))
      }
      if result == 0 { break }
      count += result
    }
    // What is cut off was not read from the file.
    bytes.removeLast(limit - count)
    return bytes
  }

  private static func reason(_ code: Int32) -> String {
    // The text is valid until the next call on this thread.
    unsafe code == ENOENT ? "no such file" : "cannot be read: " + String(cString: strerror(code))
  }
}
