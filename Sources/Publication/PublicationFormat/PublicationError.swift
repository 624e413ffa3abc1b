/// Why something of a publication cannot be used.
package enum PublicationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The bytes break a rule of the format.
  case damaged(String)
  /// A row or a list is longer than the format allows.
  case tooLarge(String)
  /// A newer program wrote it, and says that this one cannot read it.
  case needsNewerReader(version: Int)

  package var description: String {
    switch self {
    case .damaged(let reason), .tooLarge(let reason): reason
    case .needsNewerReader(let version):
      "it needs a program that reads version \(version) of publications; this one reads version "
        + "\(PublicationHead.readerVersion): update Shelfmark on this device"
    }
  }
}
