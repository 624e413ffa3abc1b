import ArgumentParser
import DocumentFormat
import JSONFormat
import ScanInputs
import TextFormat
import Workspace

/// The command group for the application's settings.
struct Config: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Read and change settings.",
    discussion: """
      Settings belong to the selected user, or with --default to nobody. Programs use a changed setting the next time \
      they read it, and settings that they change are shown here. The signed-in user is not a setting: see login and \
      whoami.
      """,
    subcommands: [ConfigGet.self, ConfigSet.self, ConfigUnset.self, ConfigList.self])
}

/// The options that select the settings.
struct ConfigOptions: ParsableArguments {
  @OptionGroup var owner: OwnerOptions

  /// - Throws: `WorkspaceError.notSignedIn`.
  func settings(lockTimeout: Duration = .zero) throws -> Settings {
    var workspace = owner.store.workspace
    workspace.lockTimeout = lockTimeout
    return try workspace.settings(of: owner.userID())
  }
}

/// The name of a setting, as an argument.
struct SettingArgument: ParsableArguments {
  @Argument(help: "The setting's name.") var name: String

  /// The name of a setting that may be changed.
  ///
  /// - Throws: `Failure` for an internal value of the stores, which is not a setting.
  func changeable() throws -> String {
    switch name {
    case "currentUser":
      throw Failure(
        .usage, "currentUser is no setting; 'catalogctl login ID' and 'catalogctl logout' change who is signed in")
    case "origin":
      throw Failure(
        .usage, "origin is no setting; 'catalogctl sync --organisation ID' notes where a catalogue comes from")
    default: return name
    }
  }
}

struct ConfigGet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print the value of a setting.",
    discussion: "A text is printed as it is, anything else as JSON. Exit code 1 if the setting is not set.")

  @OptionGroup var config: ConfigOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var setting: SettingArgument

  func run() throws {
    guard let value = try config.settings().value(named: setting.name) else {
      throw Failure(.no, "\(setting.name) is not set; the program that uses it takes its default")
    }
    if output.json {
      StoredSetting(name: setting.name, value: value).json.print()
    } else {
      Console.print(value.words)
    }
  }
}

struct ConfigSet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Set a setting, durably.",
    discussion: """
      The value is taken as JSON if it is JSON (true, 5, "text", ["a", "b"]), else as text; with --string it is a text \
      whatever it looks like. JSON with a key twice in one object is refused. A value that begins with - follows --, \
      as in: set offset -- -5

      Settings of 'sync', which are texts but for one: sync.url, the server's address; sync.organisation; sync.caFile, a PEM file \
      of the authorities to trust; sync.authorizationFile, a file with the value of the Authorization header, which \
      nobody else may read (chmod 600). A secret itself is no setting. sync.extra, a list of keys of the server's \
      products, such as ["price", "color"], whose values are kept in extra; others beyond the fields are not.

      Settings for reading codes, which 'scan', 'explain', 'complete' and the daemon use: matching.separators, what a \
      scanner sends for FNC1, each character and each of <GS>, {GS}, ^], ~d029, <FNC1>; matching.measures, a list of \
      layouts of numbers that contain a weight, a price or a count, as names of presets and rules, such as ["de", \
      {"name": "cheese", "prefix": "21", "pattern": "PPIIIIIVVVVVC", "measure": "weight", "decimals": 3, "unit": \
      "kg"}]; matching.heads.minimum [4], the shortest barcode that a code may begin with; matching.heads.digits [7], \
      the same for barcodes of digits, if the code is a sound GTIN; matching.heads.enabled [true]; \
      matching.heads.excluded, a list of symbologies without heads, such as ["CODE128", "]A0"]; matching.suggestions \
      [0], the number of products, up to 20, that are suggested where nothing matched and a code is one edit away; \
      matching.sku [suggest], whether a code that equals an SKU finds its product: off, suggest, match; \
      matching.ignore, a list of texts that scanners send instead of a code, such as ["NOREAD", "ERROR"]. Those of a user count more than those of the default store.

      Settings of the catalogue's indexes: search.index [on], whether 'search' finds products by words, on or off; \
      ordered.indexes ["id", "barcode", "category", "brand", "updateTime"], the fields in whose order products can be \
      read, among these and name; fields, the declared fields of one's own, which 'catalogctl fields' changes. A change takes effect with the next full update or 'catalogctl compact'.

      Settings of catalogd's inputs are in its own configuration; 'catalogd --help' lists them. A wrong value of \
      inputs.NAME.keys, such as {"F8": "GS"}, is refused here too.
      """)

  @OptionGroup var config: ConfigOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var setting: SettingArgument
  @Flag(help: "Take the value as text.") var string = false
  @Argument(help: "The value.") var value: String

  func run() throws {
    let name = try setting.changeable()
    var value = DocumentValue.text(value)
    if !string {
      do { value = try DocumentValue(json: self.value) } catch JSONError.repeatedKey(let key, let offset) {
        // As a text it would be accepted, and what was meant would be lost.
        throw Failure(.usage, "the value is JSON, but \(JSONError.repeatedKey(key, offset: offset))")
      } catch {}  // Anything that is not JSON is a text.
    }
    if name == Setting<Double?>.keepPreviousDays.name {
      guard let days = Double(self.value), days >= 0, days.isFinite, !string else {
        throw Failure(.usage, "keepPreviousDays is a number of days, 0 or more, not \"\(self.value)\"")
      }
    }
    if name == Setting<Bool?>.sealsNewUsers.name {
      guard case .bool = value else {
        throw Failure(.usage, "\(name) is true or false, not \"\(self.value)\"")
      }
      guard config.owner.isDefault else {
        throw Failure(.usage, "\(name) is a setting of the default store, as it is about new users; add --default")
      }
    }
    if name == SyncSettings.Name.extra.rawValue {
      var settings = SyncSettings()
      try settings.set(.extra, to: value)
      value = .array(settings.extraKeys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { .text($0) })
    } else if let name = SyncSettings.Name(rawValue: name) {
      // An organisation may look like a number.
      var text = self.value
      if !string, case .text(let quoted) = value { text = quoted }
      value = .text(try name.checked(text))
    } else if let name = MatchingSettings.Name(rawValue: name) {
      if !string { value = name.value(of: self.value) }
      var settings = MatchingSettings()
      // The same check as of a value that is read.
      try settings.set(name, to: value)
    } else if let name = IndexSettings.Name(rawValue: name) {
      var settings = IndexSettings()
      try settings.set(name, to: value)
    } else if KeyAssignments.isSetting(name) {
      do throws(KeyAssignments.Problem) { _ = try KeyAssignments(json: self.value) } catch {
        throw Failure(.usage, "\(name.shown) \(error)")
      }
      Console.say(
        "catalogctl: warning: catalogd reads \(name.shown) from its own configuration ('catalogd --config FILE')")
    } else if IndexSettings.Name.prefixes.contains(where: name.hasPrefix) {
      let known = [IndexSettings.Name.search, .orders].map(\.rawValue).joined(separator: " and ")
      Console.say("catalogctl: warning: \(name.shown) is no setting of indexes; those are \(known)")
    } else if name.hasPrefix(MatchingSettings.Name.prefix) {
      let known = MatchingSettings.Name.allCases.map(\.rawValue)
      let hint = NearestName.of(name, among: known).map { "did you mean \($0)?" }
      Console.say(
        "catalogctl: warning: \(name.shown) is no setting that matching reads; \(hint ?? "those are \(known.joined(separator: ", "))")"
      )
    } else if name.hasPrefix("sync.") {
      let known = SyncSettings.Name.allCases.map(\.rawValue).joined(separator: ", ")
      Console.say("catalogctl: warning: \(name) is no setting that 'sync' reads; those are \(known)")
    }
    try config.settings(lockTimeout: write.lockTimeout).change { try $0.set(named: name, to: value) }
    DurableChange.report("\(name) is set")
    if output.json { StoredSetting(name: name, value: value).json.print() }
  }
}

struct ConfigUnset: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unset", abstract: "Remove a setting: the program's default applies again.",
    discussion: "Does nothing where nothing is set.")

  @OptionGroup var config: ConfigOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var setting: SettingArgument

  func run() throws {
    let name = try setting.changeable()
    try config.settings(lockTimeout: write.lockTimeout).change { try $0.unset(named: name) }
    DurableChange.report("\(name) is no longer set")
    if output.json { StoredSetting(name: name, value: .null).json.print() }
  }
}

struct ConfigList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List what is set, by name.", discussion: "Settings with their defaults are not set."
  )

  @OptionGroup var config: ConfigOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let settings = try config.settings().list()
    if output.json {
      for setting in settings { setting.json.print() }
      return
    }
    var table = Table("SETTING", "VALUE")
    for setting in settings { table.add(Table.cell(setting.name), Table.cell(setting.value.json)) }
    table.print()
  }
}

extension StoredSetting {
  fileprivate var json: JSONText { .object([("name", .text(name)), ("value", .document(value))]) }
}

extension DocumentValue {
  /// A string without quotes, any other value as JSON; on one line and safe for a terminal.
  fileprivate var words: String {
    if case .text(let text) = self { return text.shown }
    return json.shown
  }
}
