import CStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Two files that look like one: `range` of it are the bytes that another file has there, which several files may share.
///
///     offset    0            range.lowerBound           range.upperBound
///               ├─ own file ─┼─ shared file, its own ───┼─ own file, from range.lowerBound on ─ …
///                              offsets
///
/// Invariants: the shared file is only read. What lies before `range` stands in the own file at the same offset, what lies
/// behind it `range.count` bytes earlier. Both ends of `range` are multiples of 4096.
package final class JoinedFile: StorageFile {
  private let own: any StorageFile
  /// `nil` for one that is not there: its bytes cannot be read, and the others can.
  package let shared: (any StorageFile)?
  private let sharedPath: String
  private let range: Range<Int>
  private let hidesCut: Bool

  /// - Parameters:
  ///   - sharedPath: what messages call the shared file.
  ///   - hidesCut: whether what a shared file lacks reads as zeros, instead of ending the whole there.
  package init(
    _ own: any StorageFile, sharing shared: (any StorageFile)?, at sharedPath: String, in range: Range<Int>,
    hidesCut: Bool = false
  ) {
    precondition(range.lowerBound % Self.granularity == 0 && range.upperBound % Self.granularity == 0)
    self.own = own
    self.shared = shared
    self.sharedPath = sharedPath
    self.range = range
    self.hidesCut = hidesCut
  }

  /// What the ends of a range are multiples of.
  private static let granularity = 4096

  /// Whether such a file can be mapped here: the pages of the system are no larger than what it is joined at.
  package static var isSupported: Bool { sysconf(Int32(_SC_PAGESIZE)) <= granularity }

  package var path: String { own.path }
  package var identity: FileIdentity { own.identity }
  package var named: any StorageFile { own }

  package func isNamed(_ path: String) { own.isNamed(path) }

  package func place(of offset: Int) -> (path: String, offset: Int) {
    if range.contains(offset) { return (sharedPath, offset) }
    return (path, offset < range.lowerBound ? offset : offset - range.count)
  }

  package func linkCount() throws(StorageError) -> Int { try own.linkCount() }

  /// Where the shared file was cut, the whole ends there, unless that is hidden.
  package func size() throws(StorageError) -> Int {
    let size = try own.size()
    if size < range.lowerBound { return size }
    if let shared, !hidesCut {
      let end = try shared.size()
      if end < range.upperBound { return end }
    }
    return size + range.count
  }

  package func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8] {
    var bytes: [UInt8] = []
    for piece in pieces(offset..<offset + count) {
      let file = piece.isShared ? shared : own
      if file == nil, !hidesCut { throw StorageError(operation: "read", path: sharedPath, code: ENOENT) }
      var found = try file?.read(piece.range.count, at: piece.range.lowerBound) ?? []
      if piece.isShared, hidesCut { found += [UInt8](repeating: 0, count: piece.range.count - found.count) }
      if bytes.isEmpty { bytes = found } else { bytes += found }
      if found.count < piece.range.count { break }
    }
    return bytes
  }

  package func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) {
    var done = 0
    for piece in pieces(offset..<offset + bytes.byteCount) {
      precondition(!piece.isShared, "what several share is never written")
      try own.write(bytes.extracting(done..<done + piece.range.count), at: piece.range.lowerBound)
      done += piece.range.count
    }
  }

  package func truncate(to byteCount: Int) throws(StorageError) {
    precondition(byteCount >= range.upperBound, "what several share is never cut")
    try own.truncate(to: byteCount - range.count)
  }

  package func sync() throws(StorageError) { try own.sync() }

  /// One reserved piece of the address space, in which each part shows its file. It is guarded as a whole.
  package func map(_ byteCount: Int) throws(StorageError) -> Mapping {
    guard let shared, Self.isSupported else {
      let code = shared == nil ? ENOENT : ENOTSUP
      throw StorageError(
        operation: "map (pages are larger than 4096 bytes, or the file is not there)", path: sharedPath, code: code)
    }
    let flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE
    // Addresses only, which belong to nobody else until they are given back.
    let reserved = unsafe mmap(nil, byteCount, PROT_NONE, flags, -1, 0)
    guard let base = unsafe reserved, unsafe base != MAP_FAILED else {
      throw StorageError(operation: "map", path: path, code: errno)
    }
    do throws(StorageError) {
      var done = 0
      for piece in pieces(0..<byteCount) {
        let file = piece.isShared ? shared : own
        // The pieces fill the reserved bytes one behind the other.
        try unsafe file.map(piece.range, at: base + done)
        done += piece.range.count
      }
    } catch {
      unsafe munmap(base, byteCount)
      throw error
    }
    // They are mapped from files now, all of them.
    guard let guarded = unsafe shelfmark_guard(base, byteCount) else {
      unsafe munmap(base, byteCount)
      throw StorageError(operation: "map", path: path, code: ENOMEM)
    }
    return unsafe Mapping(base: UnsafeRawPointer(base), byteCount: byteCount, range: guarded) { base, count in
      unsafe munmap(UnsafeMutableRawPointer(mutating: base), count)
    }
  }

  /// A joined file is one part of nothing else.
  package func map(_ range: Range<Int>, at address: UnsafeMutableRawPointer) throws(StorageError) {
    throw StorageError(operation: "map", path: path, code: ENOTSUP)
  }

  /// What of `wanted` stands where, in order.
  private func pieces(_ wanted: Range<Int>) -> [(isShared: Bool, range: Range<Int>)] {
    let before = wanted.clamped(to: 0..<range.lowerBound)
    let inside = wanted.clamped(to: range)
    let behind = wanted.clamped(to: range.upperBound..<Int.max)
    let moved = behind.lowerBound - range.count..<behind.upperBound - range.count
    return [(false, before), (true, inside), (false, moved)].filter { !$0.range.isEmpty }
  }
}
