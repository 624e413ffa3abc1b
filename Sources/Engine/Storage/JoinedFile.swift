import CStorage
package import Platform

/// A file composed of two files: the bytes in `range` are read from a second file, which several joined files may
/// share.
///
///     offset    0            range.lowerBound           range.upperBound
///               ├─ own file ─┼─ shared file, its own ───┼─ own file, from range.lowerBound on ─ …
///                              offsets
///
/// Invariants: the shared file is only read. The bytes before `range` have the same offsets in the own file; the bytes
/// after it are `range.count` bytes earlier there. Both ends of `range` are multiples of 4096.
package final class JoinedFile: StorageFile {
  private let own: any StorageFile
  /// The shared file; `nil` if it is missing. Its bytes can then not be read, but all others can.
  package let shared: (any StorageFile)?
  private let sharedPath: String
  private let range: Range<Int>
  private let hidesTruncation: Bool

  /// Joins two files.
  ///
  /// - Parameters:
  ///   - sharedPath: The path of the shared file, for messages.
  ///   - hidesTruncation: Whether missing bytes of a truncated shared file read as zeros. Otherwise the joined file ends
  ///     there.
  package init(
    _ own: any StorageFile, sharing shared: (any StorageFile)?, at sharedPath: String, in range: Range<Int>,
    hidesTruncation: Bool = false
  ) {
    precondition(range.lowerBound % Self.granularity == 0 && range.upperBound % Self.granularity == 0)
    self.own = own
    self.shared = shared
    self.sharedPath = sharedPath
    self.range = range
    self.hidesTruncation = hidesTruncation
  }

  /// Both ends of a range are multiples of this.
  private static let granularity = 4096

  /// Whether joined files can be mapped on this system: its pages must be no larger than the granularity.
  package static var isSupported: Bool { sysconf(Int32(_SC_PAGESIZE)) <= granularity }

  package var path: String { own.path }
  package var identity: FileIdentity { own.identity }
  package var named: any StorageFile { own }

  package func wasRenamed(to path: String) { own.wasRenamed(to: path) }

  package func location(of offset: Int) -> (path: String, offset: Int) {
    if range.contains(offset) { return (sharedPath, offset) }
    return (path, offset < range.lowerBound ? offset : offset - range.count)
  }

  /// The shared file is never written, so it is never copied.
  package var isCopiedOnWrite: Bool { own.isCopiedOnWrite }

  package func linkCount() throws(StorageError) -> Int { try own.linkCount() }

  /// Returns the size of the joined file. If the shared file was truncated, the joined file ends there, unless that is
  /// hidden.
  package func size() throws(StorageError) -> Int {
    let size = try own.size()
    if size < range.lowerBound { return size }
    if let shared, !hidesTruncation {
      let end = try shared.size()
      if end < range.upperBound { return end }
    }
    return size + range.count
  }

  package func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8] {
    var bytes: [UInt8] = []
    for piece in pieces(offset..<offset + count) {
      let file = piece.isShared ? shared : own
      if file == nil, !hidesTruncation { throw StorageError(operation: "read", path: sharedPath, code: ENOENT) }
      var found = try file?.read(piece.range.count, at: piece.range.lowerBound) ?? []
      if piece.isShared, hidesTruncation { found += [UInt8](repeating: 0, count: piece.range.count - found.count) }
      if bytes.isEmpty { bytes = found } else { bytes += found }
      if found.count < piece.range.count { break }
    }
    return bytes
  }

  package func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) {
    var done = 0
    for piece in pieces(offset..<offset + bytes.byteCount) {
      precondition(!piece.isShared, "the shared file is never written")
      try own.write(bytes.extracting(done..<done + piece.range.count), at: piece.range.lowerBound)
      done += piece.range.count
    }
  }

  package func truncate(to byteCount: Int) throws(StorageError) {
    precondition(byteCount >= range.upperBound, "the shared file is never truncated")
    try own.truncate(to: byteCount - range.count)
  }

  package func sync() throws(StorageError) { try own.sync() }

  /// Reserves one range of the address space and maps each part into it. The range is guarded by one entry.
  package func map(_ byteCount: Int) throws(StorageError) -> Mapping {
    guard let shared, Self.isSupported else {
      let code = shared == nil ? ENOENT : ENOTSUP
      throw StorageError(
        operation: "map (pages are larger than 4096 bytes, or the file is not there)", path: sharedPath, code: code)
    }
    let flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE
    // This only reserves addresses, which nothing else uses until they are unmapped.
    let reserved = unsafe mmap(nil, byteCount, PROT_NONE, flags, -1, 0)
    guard let base = unsafe reserved, unsafe base != MAP_FAILED else {
      throw StorageError(operation: "map", path: path, code: errno)
    }
    do throws(StorageError) {
      var done = 0
      for piece in pieces(0..<byteCount) {
        let file = piece.isShared ? shared : own
        // The pieces fill the reserved bytes consecutively.
        try unsafe file.map(piece.range, at: base + done)
        done += piece.range.count
      }
    } catch {
      unsafe munmap(base, byteCount)
      throw error
    }
    // All reserved bytes are now mapped from files.
    guard let guarded = unsafe shelfmark_guard(base, byteCount) else {
      unsafe munmap(base, byteCount)
      throw StorageError(operation: "map", path: path, code: ENOMEM)
    }
    return unsafe Mapping(base: UnsafeRawPointer(base), byteCount: byteCount, range: guarded) { base, count in
      unsafe munmap(UnsafeMutableRawPointer(mutating: base), count)
    }
  }

  /// Always fails: a joined file cannot be part of another one.
  package func map(_ range: Range<Int>, at address: UnsafeMutableRawPointer) throws(StorageError) {
    throw StorageError(operation: "map", path: path, code: ENOTSUP)
  }

  /// Returns the pieces of `requested` in order, each with the file that contains it.
  private func pieces(_ requested: Range<Int>) -> [(isShared: Bool, range: Range<Int>)] {
    let before = requested.clamped(to: 0..<range.lowerBound)
    let inside = requested.clamped(to: range)
    let after = requested.clamped(to: range.upperBound..<Int.max)
    let moved = after.lowerBound - range.count..<after.upperBound - range.count
    return [(false, before), (true, inside), (false, moved)].filter { !$0.range.isEmpty }
  }
}
