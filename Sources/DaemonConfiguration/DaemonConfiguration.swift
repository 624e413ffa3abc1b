public import Configuration
public import DaemonHTTP
public import ScanDaemon
public import ScanInputs

/// Everything that `catalogd` is told.
public struct DaemonConfiguration: Sendable {
  public var daemon: DaemonOptions
  public var inputs: [InputOptions]
  /// `nil`: no HTTP interface.
  public var server: DaemonServer.Options?

  /// - Throws: ``ConfigurationFault`` for the first value that cannot be, with the key and where it comes from.
  public init(_ reader: ConfigReader) throws { fatalError("being built") }
}
