import Catalog
import Workspace

/// How the scans of each input are matched.
///
/// A class, so that a scan copies one reference.
final class MatchingTable: Sendable {
  private let common: MatchingOptions
  /// The options of inputs with their own separators, by name.
  private let own: [String: MatchingOptions]

  /// - Parameters:
  ///   - settings: The settings of the configuration and of the stores.
  ///   - separators: The texts that replace FNC1, for each input that has its own.
  init(_ settings: MatchingSettings, separators: [String: [String]]) {
    let common = settings.options
    self.common = common
    own = separators.mapValues { separators in
      var options = common
      options.scan.separators = separators
      return options
    }
  }

  /// The table without any settings.
  static let standard = MatchingTable(MatchingSettings(), separators: [:])

  /// The options for the scans of an input.
  func options(for input: String) -> MatchingOptions { own.isEmpty ? common : own[input] ?? common }
}
