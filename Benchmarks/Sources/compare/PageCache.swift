import BenchmarkSupport
import CPeers

/// The operating system's cache of file pages.
enum PageCache {
  /// Forgets the pages of every file in a directory.
  ///
  /// - Returns: the share of the bytes that stayed in memory nevertheless, 0 … 1.
  static func drop(_ directory: String) throws -> Double {
    var byteCount = 0
    var residentCount = 0
    // The text lives as long as the call; so below.
    guard unsafe page_cache_drop(directory, &byteCount, &residentCount) == 0 else {
      throw SystemError("posix_fadvise", directory)
    }
    return byteCount == 0 ? 0 : Double(residentCount) / Double(byteCount)
  }

  /// Reads every file in a directory.
  static func fill(_ directory: String) throws {
    guard unsafe page_cache_fill(directory) == 0 else { throw SystemError("read", directory) }
  }
}
