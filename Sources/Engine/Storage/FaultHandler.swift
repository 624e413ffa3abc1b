import CStorage
package import Platform

/// The SIGBUS handler for pages of a ``Mapping`` that cannot be read.
package enum FaultHandler {
  /// Installs a handler that replaces an unreadable page with zeros, in the whole process. Later calls have no effect.
  package static func install() throws(StorageError) {
    if shelfmark_install_guard() != 0 {
      throw StorageError(operation: "install a handler of SIGBUS for", path: "mapped files", code: errno)
    }
  }
}
