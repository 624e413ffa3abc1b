/// Why the system refuses a file, and what a person can do about it.
///
/// The answers are for the moment of the question: they look at the file and the directories above it. Nothing is
/// changed.
enum FileObstacle {
  /// A file or directory on the way to a path.
  private struct Entry {
    let path: String
    let owner: UInt32
    let mode: UInt32

    var isDirectory: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFDIR) }
    /// Whether its owner may use it in every way that a program needs.
    var servesOwner: Bool { mode & 0o600 == 0o600 && (!isDirectory || mode & 0o100 != 0) }
  }

  // MARK: Permission

  /// The remedy for a refused permission.
  ///
  /// A file of another user in a directory of this one was left there by a command that ran as that user, mostly as
  /// root: the remedy is to give it back, with all its neighbours. Where no directory on the way belongs to this user,
  /// the program runs as the wrong one.
  static func permission(_ path: String) -> String {
    let user = geteuid()
    let entries = entries(to: absolute(path))
    guard let last = entries.last else { return "check who owns it and its mode" }
    if user == 0 {
      guard let other = entries.last(where: { $0.owner != 0 }) else {
        return "root may not do this here: check its attributes (lsattr), and what the container or the file system"
          + " allows"
      }
      return "root may not do this here (a network file system, or a container without that capability):"
        + " run the program as \(name(other.owner)), to whom \(other.path) belongs"
    }
    guard let own = entries.lastIndex(where: { $0.owner == user && $0.isDirectory }) else {
      let foreign = entries.last { $0.owner != user } ?? last
      let isRoots = foreign.owner == 0 && foreign.isDirectory
      let remedy = "as root: chown \(ownership(user)) \(command(foreign.path))"
      let isOwnBelow = isRoots ? belongs(in: foreign.path, to: user) : false
      if isOwnBelow == true {
        return "\(foreign.path) belongs to \(name(foreign.owner)), and what is in it to \(name(user)); \(remedy)"
      }
      // Only the directory of stores itself is named: what is in /root belongs to nobody else.
      let isItself = foreign.path == "/" + absolute(path).split(separator: "/").joined(separator: "/")
      return "\(foreign.path) belongs to \(name(foreign.owner)): run the program as that user, or as root, whose new"
        + " files get the owner of their directory"
        + (isOwnBelow == nil && isItself ? "; but if the files in it belong to \(name(user)), \(remedy)" : "")
    }
    if let foreign = entries[(own + 1)...].first(where: { $0.owner != user }) {
      // Where only its owner may look, as in the directories of stores, the neighbours are as useless as the file.
      let isShared = entries[own].mode & 0o077 != 0
      let target = foreign.isDirectory || isShared ? foreign.path : entries[own].path
      return "\(foreign.path) belongs to \(name(foreign.owner)); as root:"
        + " chown \(foreign.isDirectory || !isShared ? "-R " : "")\(ownership(user)) \(command(target))"
    }
    if let closed = entries[own...].first(where: { $0.owner == user && !$0.servesOwner }) {
      return "its mode forbids it: chmod -R u+rwX \(command(closed.path))"
    }
    return "check who owns it and its mode, its attributes (lsattr), and what the container or the service's unit"
      + " allows"
  }

  /// Whether everything in a directory belongs to a user; `nil` if this process cannot see it, `false` if it is empty.
  private static func belongs(in path: String, to user: UInt32) -> Bool? {
    // The stream is closed below.
    guard let stream = unsafe opendir(path) else { return nil }
    defer { unsafe closedir(stream) }
    var isAny = false
    // The entry is valid until the next call; its name is copied at once.
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      var status = stat()
      // The path is a C string during the call, which fills in the local structure.
      guard unsafe lstat(path + "/" + name, &status) == 0 else { return nil }
      if status.st_uid != user { return false }
      isAny = true
    }
    return isAny
  }

  /// The files and directories on the way to a path, outermost first, as far as this process can see.
  private static func entries(to path: String) -> [Entry] {
    var entries: [Entry] = []
    var current = ""
    for part in [""] + path.split(separator: "/").map(String.init) {
      current = part.isEmpty ? "/" : (current == "/" ? "" : current) + "/" + part
      var status = stat()
      // The path is a C string during the call, which fills in the local structure.
      guard unsafe stat(current, &status) == 0 else { break }
      entries.append(Entry(path: current, owner: status.st_uid, mode: UInt32(status.st_mode)))
    }
    return entries
  }

  /// The user and group that `chown` takes for a user. A user without a name, as in a container, has numbers.
  private static func ownership(_ user: UInt32) -> String {
    // The name with a colon stands for the user and the group of the same login.
    lookUp(user).map { $0.shellWord + ":" } ?? "\(user):\(getegid())"
  }

  private static func name(_ user: UInt32) -> String { lookUp(user) ?? "user \(user)" }

  /// The name of a user; `nil` if the system does not know it.
  private static func lookUp(_ user: UInt32) -> String? {
    // The call fills in the structure.
    var record = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    // The record's texts are in the buffer, which is alive while the name is copied.
    return unsafe buffer.withUnsafeMutableBufferPointer { buffer in
      guard unsafe getpwuid_r(user, &record, buffer.baseAddress!, buffer.count, &found) == 0, unsafe found != nil,
        let name = unsafe record.pw_name
      else { return nil }
      return unsafe String(cString: name)
    }
  }

  // MARK: Room

  /// The remedy for a full device, quota or file.
  static func room(_ path: String, _ code: Int32) -> String {
    switch code {
    case EFBIG: "raise the limit of the size of files (ulimit -f)"
    case EDQUOT:
      "the quota of \(name(geteuid())) is used up (quota -s shows it): raise it, or remove files, and try again"
    case _ where hasNoInodes(absolute(path)):
      "no inodes are left, though there may be space: 'df -i \(command(directory(of: absolute(path))))' shows it; remove"
        + " files that nobody needs and try again"
    default: "free some space and try again"
    }
  }

  /// Whether the file system of a path has given out all of its inodes. A file system that makes them as needed
  /// reports no number of them.
  private static func hasNoInodes(_ path: String) -> Bool {
    var status = statvfs()
    // The path is a C string during the call, which fills in the local structure.
    guard unsafe statvfs(directory(of: path), &status) == 0 else { return false }
    return status.f_files > 0 && status.f_favail == 0
  }

  /// The nearest directory above a path that exists.
  private static func directory(of path: String) -> String {
    entries(to: path).last { $0.isDirectory }?.path ?? "/"
  }

  // MARK: Paths

  /// A path as a person at another directory has to write it.
  private static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    // The result is a C string that the system allocates, and that is freed here.
    guard let current = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(current) }
    return unsafe String(cString: current) + "/" + path
  }

  /// A path as an argument of a command. A link to a directory gets a slash: without it, `chown -R` changes the link.
  private static func command(_ path: String) -> String {
    var status = stat()
    // The path is a C string during the call, which fills in the local structure.
    let isLink = unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    return (isLink ? path + "/" : path).shellWord
  }
}

extension String {
  /// The text as one word of a shell, in quotation marks if it needs them.
  package var shellWord: String {
    let isPlain =
      !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
          UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: "@"):
          true
        default: false
        }
      }
    return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
  }
}
