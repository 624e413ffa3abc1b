import ArgumentParser
import Barcodes
import Catalog
import DocumentFormat
import JSONFormat
import TextFormat
import Workspace

/// The command group for fields of one's own.
struct Fields: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fields", abstract: "Declare fields of one's own: prices, colours, further codes.",
    discussion: """
      What a product has beyond the 25 fields is kept, and shown as it is. A field that is declared has a type, and can \
      be more: 'search' finds the words of one with --search, products are read in the order of one with --order \
      without sorting all, and a scan finds the codes in one with --role code. Conditions, columns, orders and groups \
      name it extra.NAME.

      Declarations are the setting 'fields' of the selected user, or with --default of nobody; those of a user count \
      instead of those of the default store. Indexes that they need are written by the next full update or 'catalogctl \
      compact'.
      """,
    subcommands: [FieldsList.self, FieldsSet.self, FieldsUnset.self])
}

extension ConfigOptions {
  /// The declared fields of the selected owner; where it has none, those of the default store, which count for it then.
  fileprivate func fields() throws -> DeclaredFields {
    try owner.store.workspace.fields(of: owner.userID())
  }

  /// The catalogue of the selected owner, read with declarations; `nil` if there is none. That of `--default` is none:
  /// its settings count for the catalogues of users.
  fileprivate func catalogue(declaring fields: DeclaredFields) throws -> CatalogSnapshot? {
    let workspace = owner.store.workspace
    let location = try owner.userID().flatMap { try workspace.catalogue(of: $0) }
    return try location.flatMap { try CatalogReader.open($0)?.snapshot() }?.declaring(fields)
  }

  /// Stores declarations, durably.
  fileprivate func store(_ fields: DeclaredFields, lockTimeout: Duration) throws {
    try settings(lockTimeout: lockTimeout).change {
      try $0.set(named: IndexSettings.Name.fields.rawValue, to: fields.value)
    }
  }
}

struct FieldsList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the declared fields, and how many products have them.",
    discussion: """
      A value that does not fit the declared type counts as missing where products are ordered and compared; the list \
      says how many products have such a value. A list of texts fits a field that is a code, or is searched.
      """)

  @OptionGroup var config: ConfigOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let fields = try config.fields()
    let snapshot = try config.catalogue(declaring: fields)
    let catalogue = snapshot ?? .empty.declaring(fields)
    let missing = Set(catalogue.fieldsWithoutIndex)
    var table = Table("FIELD", "TYPE", "USE", ">PRODUCTS", ">UNFIT")
    for count in try catalogue.fieldCounts() {
      guard let declaration = fields[count.name] else { continue }
      if output.json {
        JSONText.object(
          declaration.members(count.name) + [
            ("indexed", .bool(!missing.contains(count.name))), ("products", .int(count.products)),
            ("unfit", .int(count.misfits)),
          ]
        ).print()
      } else {
        table.add(
          Table.cell(count.name), Table.cell(declaration.type.rawValue), Table.cell(declaration.uses),
          Table.cell(Quantity.count(count.products)), Table.cell(Quantity.count(count.misfits)))
      }
    }
    if !output.json { table.print() }
    if snapshot != nil, !missing.isEmpty { Console.say(Self.advice(missing.sorted())) }
  }

  /// What to do for fields whose index is not there yet.
  static func advice(_ names: [String]) -> String {
    "\(names.map(\.shown).joined(separator: ", ")): the next full update or 'catalogctl compact' writes what the catalogue"
      + " lacks for \(names.count == 1 ? "it" : "them")"
  }
}

struct FieldsSet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Declare a field, durably.",
    discussion: """
      The declaration takes the place of an earlier one of the same name as a whole: an option that is not given has its \
      default again, and the command says what was declared before. The first declaration of a user begins with those \
      of the default store. Types: text, decimal (exact; up to 300 digits, and less than 10^300), int (up to 18 digits), \
      bool (also yes and no, 1 and 0), date (a text that begins with yyyy-MM-dd). A text may contain a number.

      With --role code, a scan finds the product by the values of the field, after barcodes and the table of codes: \
      fields set carton_ean --role code --quantity 12 --unit case
      """)

  @OptionGroup var config: ConfigOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Argument(help: "The name of the field, without 'extra.'.") var name: String
  @Option(help: "The type: text, decimal, int, bool or date.") var type = "text"
  @Option(help: "What the values are: code, further codes of the product.") var role: String?
  @Option(help: "How many pieces a code stands for.") var quantity: String?
  @Option(help: "What a code is on, such as case.") var unit: String?
  @Flag(help: "Find the words of the field in 'search'.") var search = false
  @Flag(help: "Keep an index in the order of the field.") var order = false

  func run() throws {
    var members = [DocumentValue.Field("type", .text(type))]
    if let role { members.append(DocumentValue.Field("role", .text(role))) }
    if let quantity { members.append(DocumentValue.Field("quantity", .text(quantity))) }
    if let unit { members.append(DocumentValue.Field("unit", .text(unit))) }
    if search { members.append(DocumentValue.Field("search", .bool(true))) }
    if order { members.append(DocumentValue.Field("order", .bool(true))) }
    var fields = try config.fields()
    let former = fields[name]
    let lacking = try config.catalogue(declaring: fields)?.fieldsWithoutIndex ?? []
    let declaration: FieldDeclaration
    do throws(FieldError) {
      declaration = try FieldDeclaration(.object(members), of: name)
      try fields.set(name, declaration)
    } catch { throw Failure(.usage, error.description) }
    if former == declaration {
      Console.say("catalogctl: \(name.shown) is declared like this already; nothing changed")
    } else {
      try config.store(fields, lockTimeout: write.lockTimeout)
      DurableChange.report("\(name.shown) is declared")
      if let former {
        Console.say("catalogctl: \(name.shown) is declared as \(declaration.words); before it was \(former.words)")
      }
    }
    if let advice = try advice(declaration, fields, lacking) { Console.say("catalogctl: \(advice)") }
    if output.json {
      JSONText.object(
        declaration.members(name) + (former.map { [("former", .object($0.members(name)))] } ?? [])
      ).print()
    }
  }

  /// What is still to be written for the declaration; `nil` if nothing is.
  ///
  /// - Parameter lacking: The fields whose index the catalogue lacked before.
  private func advice(
    _ declaration: FieldDeclaration, _ fields: DeclaredFields, _ lacking: [String]
  ) throws -> String? {
    let needsIndex = declaration.isCode || declaration.isSearched || declaration.isOrdered
    guard let catalogue = try config.catalogue(declaring: fields) else {
      return needsIndex ? "\(name.shown): the next full update or 'catalogctl compact' writes its index" : nil
    }
    // The words of all searched fields are in one index, which a change of one of them makes another.
    let missing = catalogue.fieldsWithoutIndex.filter { $0 == name || !lacking.contains($0) }
    if !missing.isEmpty { return FieldsList.advice(missing) }
    return needsIndex ? "\(name.shown): the catalogue has its index already" : nil
  }
}

struct FieldsUnset: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unset", abstract: "Remove the declaration of a field. Its values stay as they are.",
    discussion: "Exit code 1 if the field is not declared.")

  @OptionGroup var config: ConfigOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Argument(help: "The name of the field, without 'extra.'.") var name: String

  func run() throws {
    var fields = try config.fields()
    guard fields.unset(name) else {
      let guess = NearestName.of(name, among: fields.names).map { "; did you mean \($0.shown)?" } ?? ""
      throw Failure(.no, "\(name.shown) is not declared\(guess)")
    }
    try config.store(fields, lockTimeout: write.lockTimeout)
    DurableChange.report("\(name.shown) is no longer declared")
    if output.json { JSONText.object([("name", .text(name)), ("type", .null)]).print() }
  }
}

extension FieldDeclaration {
  /// The name and all members, for programs.
  fileprivate func members(_ name: String) -> [(String, JSONText)] {
    [
      ("name", .text(name)), ("type", .text(type.rawValue)), ("role", .optional(isCode ? "code" : nil)),
      ("quantity", isCode ? .raw(Array(quantity.description.utf8)) : .null),
      ("unit", .optional(isCode ? unit : nil)), ("search", .bool(isSearched)), ("order", .bool(isOrdered)),
    ]
  }

  /// The type and the uses, for people.
  fileprivate var words: String { ([type.rawValue] + (uses.isEmpty ? [] : [uses])).joined(separator: ", ") }

  /// What the field is used for, for people.
  fileprivate var uses: String {
    var uses: [String] = []
    if isCode { uses.append("code of \(quantity)" + (unit.isEmpty ? "" : " (\(unit))")) }
    if isSearched { uses.append("searched") }
    if isOrdered { uses.append("ordered") }
    return uses.joined(separator: ", ")
  }
}
