/// Standard input, output and error: the three descriptors that a program expects to be open.
package enum StandardStreams {
  /// Opens `/dev/null` for each of the three descriptors that is closed.
  ///
  /// The system gives a new file the lowest free descriptor. Without this, a store's file could become descriptor 2,
  /// and error messages would be written into it. Call this before anything else opens a file.
  ///
  /// - Returns: The descriptors that were closed, in ascending order.
  /// - Throws: `StorageError` if `/dev/null` cannot be opened. The program should then exit.
  package static func openMissing() throws(StorageError) -> [Int32] {
    var closed: [Int32] = []
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
      // All lower descriptors are open, so this is the lowest free one. The path is a C string for the call.
      guard retrying({ unsafe open("/dev/null", O_RDWR) }) == descriptor else {
        throw StorageError(operation: "open", path: "/dev/null", code: errno)
      }
      closed.append(descriptor)
    }
    return closed
  }
}
