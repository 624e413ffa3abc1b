import ArgumentParser
import CatalogSources
import RowFiles

/// The options that say which irregularities a person's own file may have.
struct RowRuleOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Of products with one id, fail, or take the last.", valueName: "fail|last"))
  var onDuplicate: RowRules.Duplicates?
  @Option(
    help: ArgumentHelp(
      "On keys or columns that no row has, fail, ignore them, or keep them as extra.", valueName: "fail|ignore|keep"))
  var unknown: RowRules.UnknownKeys?
  @Option(help: ArgumentHelp("On products without an id, fail, or leave them out.", valueName: "fail|ignore"))
  var withoutId: RowRules.MissingIDs?
  @Flag(help: "Read a cell like =\"007\" of a table as 007, as 'export --excel' writes it.") var excel = false
  @Flag(help: "Take rows of a table that lack fields at the end, or have empty ones more than there are columns.")
  var unevenRows = false

  /// The options as words of a command line.
  var arguments: [String] {
    var words: [String] = []
    if let onDuplicate { words += ["--on-duplicate", onDuplicate.rawValue] }
    if let unknown { words += ["--unknown", unknown.rawValue] }
    if let withoutId { words += ["--without-id", withoutId.rawValue] }
    if excel { words.append("--excel") }
    if unevenRows { words.append("--uneven-rows") }
    return words
  }

  /// Whether an option about tables is given.
  var areOfTables: Bool { excel || unevenRows }

  /// Puts the options that are given into a mapping, in place of what it says.
  func apply(to file: inout MappingFile) {
    file.duplicates = onDuplicate ?? file.duplicates
    file.unknown = unknown ?? file.unknown
    file.withoutID = withoutId ?? file.withoutID
    if excel { file.isExcel = true }
    if unevenRows { file.isUneven = true }
  }
}

extension RowRules.Duplicates: ExpressibleByArgument {}
extension RowRules.UnknownKeys: ExpressibleByArgument {}
extension RowRules.MissingIDs: ExpressibleByArgument {}
