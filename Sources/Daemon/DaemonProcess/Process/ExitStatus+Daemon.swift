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
      case let error as StoreError: .init(store: error)
      case let error as StorageError: .init(error)
      case CatalogError.store(let cause): .init(store: cause)
      case is CatalogError: .data
      case let error as WorkspaceError: .init(workspace: error)
      case SettingsError.unreadable, SettingsError.type: .data
      case DaemonError.rootInUse: .temporary
      case let error as DaemonServerError: .init(server: error)
      case TransportError.certificateFile: .noInput
      case is TransportError, is UploadHTTPError: .usage
      default: .software
      }
  }

  private init(store error: StoreError) {
    self =
      switch error {
      case .unusable, .damaged, .schema, .tooLarge: .data
      case .locked, .replaced, .closed: .temporary
      case .io(let cause): .init(cause)
      case .unreadable, .poisoned, .full, .noRoom: .io
      case .forked: .software
      }
  }

  private init(workspace error: WorkspaceError) {
    self =
      switch error {
      case .store(let cause): .init(store: cause)
      case .settings(let cause): .init(store: cause)
      case .closed: .temporary
      default: .usage
      }
  }

  private init(server error: DaemonServerError) {
    self =
      switch error {
      case .cannotListen: .unavailable
      default: .usage
      }
  }
}
