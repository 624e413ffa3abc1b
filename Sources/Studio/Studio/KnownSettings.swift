import Workspace

/// The settings that the programs of this project read.
enum KnownSettings {
  /// What a setting is for; `nil` if no program of this project reads it.
  static func description(of name: String) -> String? {
    if let name = IndexSettings.Name(rawValue: name) { return description(of: name) }
    if let name = MatchingSettings.Name(rawValue: name) { return description(of: name) }
    return others[name]
  }

  private static func description(of name: IndexSettings.Name) -> String {
    switch name {
    case .search: "on or off: whether full updates and compactions write the index for the search by words"
    case .orders: "the orders of products that full updates and compactions write an index for"
    case .fields: "fields of one's own: their types, and whether they are searched, ordered or codes"
    }
  }

  private static func description(of name: MatchingSettings.Name) -> String {
    switch name {
    case .separators: "what scanners send for FNC1 besides GS"
    case .measures: "layouts of numbers with a weight, a price or a count, and names of presets"
    case .minimumHeadLength: "the shortest barcode that a code may begin with"
    case .minimumHeadDigits: "the shortest barcode of digits that a code may begin with, if the code is a sound GTIN"
    case .areHeadsEnabled: "whether a code may begin with a barcode"
    case .excludedSymbologies: "symbologies whose data begin with no barcode"
    case .suggestionLimit: "the most products that are suggested for a code that matches none"
    case .sku: "off, suggest or match: whether a code that equals the SKU of a product finds it"
    case .ignoredTexts: "texts that scanners send instead of a code, such as NOREAD"
    }
  }

  private static let others = [
    "keepPreviousDays": "how many days the catalogue before a full update is kept; 0 keeps none",
    "sealing.newUsers": "of the default store: true or false, whether the stores of new users are sealed",
    "sync.url": "the address of the server that the catalogue comes from",
    "sync.organisation": "the organisation whose catalogue it is; its users share what is common",
    "sync.caFile": "a PEM file of certificates that the server's certificate is checked against",
    "sync.authorizationFile": "a file that holds the Authorization header for the server",
    "sync.extra": "keys of the server's products, beyond their fields, whose values are kept in extra",
  ]
}
