import Workspace

/// The settings that the programs of this project read.
enum KnownSettings {
  static let names: Set<String> = Set(
    IndexSettings.Name.allCases.map(\.rawValue) + MatchingSettings.Name.allCases.map(\.rawValue)
      + ["keepPreviousDays", "sync.url", "sync.organisation", "sync.caFile", "sync.authorizationFile"])
}
