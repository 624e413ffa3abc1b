package import Platform
package import RowFiles

/// A folder into which another program drops files. Each is a whole catalogue, and the newest one counts.
///
/// The newest is the one that was changed last; of two with the same time, the one whose name is greater byte by byte.
/// Folders do not count, nor do hidden files, files whose name says that they are not complete (`.tmp`, `.part`,
/// `.partial`, `.filepart`, `.crdownload`, `~`), and files with another extension than those of rows.
package struct DropFolder: Sendable {
  /// A file, and what distinguishes its states without reading it.
  package struct File: Sendable, Equatable {
    package var path: String
    package var inode: UInt64
    package var byteCount: Int
    /// The time of the last change, in nanoseconds since 1970.
    package var modified: Int64

    /// Whether a path is that of something that is neither a file nor a folder: a pipe or a device.
    package static func isStream(_ path: String) -> Bool {
      var status = stat()
      // The path is a C string during the call, which fills the structure.
      guard unsafe stat(path, &status) == 0 else { return false }
      return status.st_mode & S_IFMT != S_IFREG && status.st_mode & S_IFMT != S_IFDIR
    }

    /// The state of a regular file, or of the one that a symbolic link names.
    ///
    /// - Throws: ``SourceUnreadable``.
    package init(path: String) throws(SourceUnreadable) {
      var status = stat()
      // The path is a C string during the call, which fills the structure.
      guard unsafe stat(path, &status) == 0 else { throw SourceUnreadable(path: path, code: errno) }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw SourceUnreadable(path: path, reason: "it is no regular file; name a file or a folder")
      }
      self.path = path
      inode = UInt64(status.st_ino)
      byteCount = Int(status.st_size)
      #if canImport(Darwin)
      let time = status.st_mtimespec
      #else
      let time = status.st_mtim
      #endif
      modified = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
  }

  /// The folder's path.
  package let path: String
  /// Whether files with any extension count, because their format is known.
  private let takesAll: Bool

  /// Creates a description of a folder. Nothing is opened.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - format: How the files are written, whatever they are called; `nil` to take it from their names.
  package init(path: String, format: RowFileFormat? = nil) {
    let end = path.lastIndex { $0 != "/" }
    self.path = end.map { String(path[...$0]) } ?? path
    takesAll = format != nil
  }

  /// Whether a path is that of a folder.
  package static func exists(_ path: String) -> Bool {
    var status = stat()
    // The path is a C string during the call, which fills the structure.
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The files that count, the newest first.
  ///
  /// - Throws: ``SourceUnreadable`` if the folder cannot be read, or has no such file.
  /// - Complexity: One system call for each file.
  package func files() throws(SourceUnreadable) -> [File] {
    // The path is a C string during the call.
    guard let folder = unsafe opendir(path) else { throw SourceUnreadable(path: path, code: errno) }
    var files: [File] = []
    // The entry is valid until the next call, and its name is copied.
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      guard counts(name) else { continue }
      // A file may have been removed in the meantime.
      if let file = try? File(path: path + "/" + name) { files.append(file) }
    }
    // No other reference exists.
    unsafe closedir(folder)
    if files.isEmpty {
      throw SourceUnreadable(
        path: path,
        reason: "there is no file with rows in the folder; drop one that ends in .csv, .tsv, .ndjson or .json")
    }
    return files.sorted { ($1.modified, $1.path) < ($0.modified, $0.path) }
  }

  private func counts(_ name: String) -> Bool {
    let name = name.lowercased()
    if name.hasPrefix(".") || name.hasSuffix("~") { return false }
    if [".tmp", ".part", ".partial", ".filepart", ".crdownload"].contains(where: name.hasSuffix) { return false }
    return takesAll || name.contains(".") && RowFileFormat(path: name) != nil
  }
}

/// A file or a folder of rows that cannot be read.
package struct SourceUnreadable: Error, Sendable, Equatable, CustomStringConvertible {
  package var path: String
  package var reason: String

  package init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  init(path: String, code: Int32) {
    self.path = path
    reason =
      switch code {
      case ENOENT: "no such file or folder"
      case EACCES: "permission denied; check who may read it"
      // The text is valid until the next call on this thread.
      default: unsafe String(cString: strerror(code))
      }
  }

  /// What is wrong with which file.
  package var description: String { "\(path): cannot be read: \(reason)" }
}

extension SourceUnreadable: ProgramError {
  package var exitStatus: ExitStatus { .noInput }
}
