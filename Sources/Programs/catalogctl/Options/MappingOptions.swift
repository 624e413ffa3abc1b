import ArgumentParser
import CatalogRows
import CatalogSources
import Essentials
import RowFiles
import RowSources
import TextFormat

/// The options that say what the columns of a person's own file mean.
struct MappingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("A file with a mapping, as --save-map writes it.", valueName: "file"), completion: .file())
  var map: String?
  @Option(
    help: ArgumentHelp(
      "Take a field from a column; given again for the field, the next column to try.", valueName: "field=column"))
  var column: [String] = []
  @Option(help: ArgumentHelp("Give every row the same value.", valueName: "field=value")) var constant: [String] = []
  @Option(
    help: ArgumentHelp(
      "What separates columns, in place of what the first lines show; 'tab' for a tab.", valueName: "character"))
  var delimiter: String?
  @Option(
    help: ArgumentHelp(
      "Do not read so many lines before the one with the names of the columns.", valueName: "number"))
  var skipLines: Int?
  @Flag(help: "Take quotes as characters: the file never puts a field in quotes.") var noQuotes = false
  @Option(help: ArgumentHelp("The file's encoding, in place of a guess, such as GB18030.", valueName: "name"))
  var encoding: String?
  @Option(help: ArgumentHelp("What separates decimals: . or a comma.", valueName: "character")) var decimal: String?
  @Option(name: .customLong("true"), help: ArgumentHelp("The words for true, such as t,yes,1.", valueName: "list"))
  var trueWords: String?
  @Option(
    name: .customLong("null"), parsing: .unconditional,
    help: ArgumentHelp("The texts that count as empty, such as N/A,NULL,-.", valueName: "list"))
  var nullWords: String?
  @Option(help: ArgumentHelp("How dates are written, such as %d.%m.%Y or dd.MM.yyyy.", valueName: "form"))
  var date: String?
  @Option(help: ArgumentHelp("Write the mapping into a file, for --map.", valueName: "file"), completion: .file())
  var saveMap: String?

  /// The options as words of a command line, without --save-map.
  var arguments: [String] {
    var words: [String] = []
    for (name, value) in [
      ("--map", map), ("--delimiter", delimiter), ("--encoding", encoding), ("--decimal", decimal),
      ("--true", trueWords), ("--null", nullWords), ("--date", date), ("--skip-lines", skipLines.map(String.init)),
    ] {
      if let value { words += [name, value] }
    }
    if noQuotes { words.append("--no-quotes") }
    for value in column { words += ["--column", value] }
    for value in constant { words += ["--constant", value] }
    return words
  }

  /// Whether an option but that of the file to write is given.
  var areGiven: Bool { !arguments.isEmpty }

  func validate() throws { _ = try applied(to: MappingFile()) }

  /// The mapping of the file and of the other options, which override it.
  ///
  /// - Throws: `Failure` with exit code 66 for a file that cannot be read, and 64 for one that is no mapping.
  func file() throws -> MappingFile { try applied(to: map.map(MappingFile.init(path:)) ?? MappingFile()) }

  private func applied(to file: MappingFile) throws -> MappingFile {
    var file = file
    var columns: [ProductField: [String]] = [:]
    for text in column {
      let (field, name) = try Self.pair(text, "--column")
      columns[field, default: []].append(name)
    }
    for (field, names) in columns {
      file.mapping.rules[field] = RowMapping.Rule(columns: names)
      file.mapping.constants[field] = nil
    }
    for text in constant {
      let (field, value) = try Self.pair(text, "--constant")
      if columns[field] != nil {
        throw ValidationError("\(field.key) has a --column and a --constant; give one of them")
      }
      file.mapping.constants[field] = value
      file.mapping.rules[field] = nil
    }
    do {
      if let delimiter { file.mapping.delimiter = try MappingFile.delimiter(delimiter) }
      if let decimal { file.mapping.decimal = try MappingFile.decimal(decimal) }
      if let skipLines { file.mapping.skippedLines = try MappingFile.skippedLines(skipLines) }
      if let date { file.mapping.dateFormat = try MappingFile.date(date) }
    } catch { throw ValidationError(error.message) }
    if let trueWords { file.mapping.trueWords = trueWords.split(separator: ",").map(String.init) }
    if let nullWords { file.mapping.nullWords = nullWords.split(separator: ",").map(String.init) }
    if noQuotes { file.mapping.hasQuotes = false }
    if let encoding { file.encoding = encoding }
    return file
  }

  private static func pair(_ text: String, _ option: String) throws -> (ProductField, String) {
    guard let sign = text.firstIndex(of: "=") else {
      throw ValidationError("\(option) \(text): write the field, = and the rest, such as barcode=ean")
    }
    do { return (try MappingFile.field(String(text[..<sign])), String(text[text.index(after: sign)...])) } catch {
      throw ValidationError("\(option): \(error.message)")
    }
  }

  /// Finds out whether the file of --save-map can be written, before anything happens.
  ///
  /// - Throws: `Failure` with exit code 73.
  func checkSaving() throws {
    if let saveMap { try OutputFile(saveMap).discard() }
  }

  /// Writes the mapping that an import used, if that is wished.
  ///
  /// - Throws: `Failure` with exit code 73; the errors of writing.
  func save(_ file: MappingFile, _ columns: [RowColumnUse]) throws {
    guard let saveMap else { return }
    let output = try OutputFile(saveMap)
    do {
      try output.write(file.text(columns))
      try output.publish()
    } catch {
      output.discard()
      throw error
    }
  }
}
