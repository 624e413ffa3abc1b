import Catalog
import CatalogHTTP
import DaemonProcess
import DaemonHTTP
import LogStore
import ScanDaemon
import Storage
import UploadHTTP
import Workspace

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How the daemon ends, as in `sysexits.h`; the same as those of `catalogctl`.
enum ExitCode {
  static let usage: Int32 = 64
  static let data: Int32 = 65
  static let noInput: Int32 = 66
  static let unavailable: Int32 = 69
  static let software: Int32 = 70
  static let cannotCreate: Int32 = 73
  static let io: Int32 = 74
  static let temporary: Int32 = 75
  static let permission: Int32 = 77

  /// For what stops the daemon before it runs, or while it does.
  static func code(for error: any Error) -> Int32 {
    switch error {
    case let error as ConfigurationFaults: error.exitCode
    case let error as StoreError: code(store: error)
    case let error as StorageError: code(storage: error)
    case CatalogError.store(let cause): code(store: cause)
    case is CatalogError: data
    case let error as WorkspaceError: code(workspace: error)
    case SettingsError.unreadable, SettingsError.type: data
    case DaemonError.rootInUse: temporary
    case let error as DaemonServerError: code(server: error)
    case TransportError.certificateFile: noInput
    case is TransportError, is UploadHTTPError: usage
    default: software
    }
  }

  private static func code(store error: StoreError) -> Int32 {
    switch error {
    case .unusable, .damaged, .schema, .tooLarge: data
    case .locked, .replaced, .closed: temporary
    case .io(let cause): code(storage: cause)
    case .unreadable, .poisoned, .full, .noRoom: io
    case .forked: software
    }
  }

  private static func code(storage error: StorageError) -> Int32 {
    switch error.kind {
    case .permission: permission
    case .noSpace: io
    // Where a file stands in the place of a directory, no store can be.
    default: error.operation.hasPrefix("create") || error.code == ENOTDIR ? cannotCreate : io
    }
  }

  private static func code(workspace error: WorkspaceError) -> Int32 {
    switch error {
    case .store(let cause): code(store: cause)
    case .settings(let cause): code(for: cause)
    case .closed: temporary
    default: usage
    }
  }

  private static func code(server error: DaemonServerError) -> Int32 {
    switch error {
    case .cannotListen: unavailable
    default: usage
    }
  }
}
