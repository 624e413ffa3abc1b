/// What a program calls those of its options that may help where a fetch failed, for its messages.
///
/// `nil`: The option has no name, and messages only say what helps.
public struct OptionNames: Sendable, Equatable {
  /// What sets ``TransportOptions/idleTimeout``.
  public var idleTimeout: String?
  /// What sets ``TransportOptions/minimumRate``.
  public var minimumRate: String?
  /// What sets ``TransportOptions/certificateAuthorityFile``.
  public var certificateAuthorityFile: String?

  /// Creates a list of names. An option without a name is described instead of named.
  public init(idleTimeout: String? = nil, minimumRate: String? = nil, certificateAuthorityFile: String? = nil) {
    self.idleTimeout = idleTimeout
    self.minimumRate = minimumRate
    self.certificateAuthorityFile = certificateAuthorityFile
  }
}
