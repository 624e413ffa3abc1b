import Catalog
import CatalogHTTP
import DaemonHTTP
import LogStore
import Platform
import ScanDaemon
import UploadHTTP
import Workspace

extension ExitStatus {
  /// The exit code for an error of the daemon, the same as for `catalogctl`.
  ///
  /// - Parameter error: The error that stopped the daemon before or while it ran.
  init(_ error: any Error) {
    self =
      switch error {
      case let error as ConfigurationFaults: ExitStatus(rawValue: error.exitCode) ?? .usage
      case DaemonError.rootInUse: .temporary
      case DaemonServerError.cannotListen: .unavailable
      case TransportError.certificateFile: .noInput
      // Before the daemon runs, these are errors of its settings.
      case WorkspaceError.noSuchUser, is TransportError, is UploadHTTPError, is DaemonServerError: .usage
      case let error as any ProgramError: error.exitStatus
      default: .software
      }
  }
}
