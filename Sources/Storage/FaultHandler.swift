import CStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What happens when a page of a ``Mapping`` cannot be read.
package enum FaultHandler {
  /// Makes the page one of zeros from now on, in the whole process. Once; later calls change nothing.
  package static func install() throws(StorageError) {
    if shelfmark_install_guard() != 0 {
      throw StorageError(operation: "install a handler of SIGBUS for", path: "mapped files", code: errno)
    }
  }
}
