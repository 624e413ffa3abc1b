import CatalogSources
import RowFiles
import RowSources
import TextFormat

extension MappingFile {
  /// Reads the mapping in a file.
  ///
  /// - Throws: `Failure` with exit code 66 or 64.
  init(path: String) throws {
    var bytes: [UInt8] = []
    let file = try InputFile(path)
    while let piece = try file.next(), bytes.count <= Self.byteLimit { bytes += piece }
    do throws(Invalid) { try self.init(json: bytes) } catch { throw Failure(.usage, "\(path): \(error.message)") }
    resolveCodes(nextTo: path)
  }

  /// Tells people which fields have no value because no row has the column or key of their rule. It is known at the end
  /// of a file.
  ///
  /// - Parameter isUpsert: Whether such fields stay as they are.
  static func tellAbsent(_ columns: [RowColumnUse], _ name: String, isUpsert: Bool) {
    for column in columns where column.isAbsent {
      Console.say(
        "catalogctl: \(name): no row has \(column.name.shown), so \(column.fields.joined(separator: ", "))"
          + (isUpsert ? " stays as it is" : " is empty"))
    }
  }

  /// Tells people what was recognised, if it is not simply what the file says.
  ///
  /// - Parameters:
  ///   - columns: The columns, and the fields that they fill.
  ///   - guess: The encoding, if it was guessed.
  ///   - name: The file.
  ///   - encodingRemedy: What to do if the guess is wrong.
  func tell(
    _ columns: [RowColumnUse], _ guess: EncodingGuess?, _ name: String,
    encodingRemedy: String = "--encoding names another"
  ) {
    // A guess beside an encoding that was given is a byte order mark, which outweighs it.
    if let guess, guess.name != "UTF-8" || encoding != nil {
      let remedy = encoding.map { "not as \($0)" } ?? encodingRemedy
      Console.say("catalogctl: \(name): read as \(guess.name) (\(guess.reason.rawValue)); \(remedy)")
    }
    let isPlain = columns.allSatisfy { ($0.fields.isEmpty || $0.fields == [$0.name]) && !$0.isCondition }
    if isPlain, mapping.constants.isEmpty { return }
    Console.say("catalogctl: \(name): the columns are taken as follows")
    // Relations need no mapping.
    let ownNames = ["type", "productId", "subProductId"]
    for column in columns.prefix(100) where !column.isAbsent {
      if ownNames.contains(column.name), column.fields == [column.name] { continue }
      var uses = column.fields.isEmpty ? [] : [column.fields.joined(separator: ", ")]
      if column.isAutomatic { uses[0] += " (by its common name)" }
      if column.isCondition { uses.append("the condition of rows") }
      let what = uses.isEmpty ? "not used" : uses.joined(separator: "; ")
      Console.say("  \(column.name.shown) → \(what)")
    }
    if columns.count > 100 { Console.say("  and \(columns.count - 100) more") }
    for (field, value) in mapping.constants.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      Console.say("  always \(value.shown) → \(field.key)")
    }
  }
}
