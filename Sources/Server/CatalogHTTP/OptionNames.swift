/// The names of a program's options that may help after a failed fetch, for its messages.
///
/// If a name is `nil`, messages describe the remedy without naming an option.
public struct OptionNames: Sendable, Equatable {
  /// The option that sets ``TransportOptions/idleTimeout``.
  public var idleTimeout: String?
  /// The option that sets ``TransportOptions/minimumRate``.
  public var minimumRate: String?
  /// The option that sets ``TransportOptions/certificateAuthorityFile``.
  public var certificateAuthorityFile: String?

  /// Creates a list of names. An option without a name is described instead of named.
  public init(idleTimeout: String? = nil, minimumRate: String? = nil, certificateAuthorityFile: String? = nil) {
    self.idleTimeout = idleTimeout
    self.minimumRate = minimumRate
    self.certificateAuthorityFile = certificateAuthorityFile
  }
}
