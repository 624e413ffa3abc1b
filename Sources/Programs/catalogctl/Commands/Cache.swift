import ArgumentParser
import DocumentFormat
import Documents
import Essentials
import JSONFormat
import LogStore
import RemoteLists

/// The cached pages of remote lists.
struct Cache: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache", abstract: "Look at the cached pages of remote lists, or remove them.",
    discussion: "The lists are those of a user, or with --default those of the default store, which belongs to nobody.",
    subcommands: [CacheList.self, CacheShow.self, CacheClear.self])
}

struct CacheList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the cached lists.",
    discussion: """
      The age is that of the oldest page, in seconds with --json. stale says that a page has expired: by the lifetime \
      of its list or, if it has no items, after 30 seconds. A program may use another limit for empty pages, which the \
      cache does not contain.
      """)

  @OptionGroup var owner: OwnerOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let now = Date()
    var table = Table("LIST", ">PAGE SIZE", ">PAGES", ">ITEMS", ">SIZE", ">AGE", "STALE")
    for list in try owner.cachedLists() {
      let age = max(0, now.timeIntervalSince(list.fetched))
      if output.json {
        JSONText.object([
          ("id", .text(list.name)), ("pageSize", .int(list.pageSize)), ("pages", .int(list.pages.count)),
          ("items", .int(list.itemCount)), ("bytes", .int(list.byteCount)), ("age", .double(age)),
          ("stale", .bool(list.isStale(at: now))),
        ]).print()
      }
      table.add(
        Table.cell(list.name), Quantity.count(list.pageSize), Quantity.count(list.pages.count),
        Quantity.count(list.itemCount), Quantity.bytes(list.byteCount), Self.text(age),
        list.isStale(at: now) ? "yes" : "")
    }
    if !output.json { table.print() }
  }

  /// A duration in the largest unit of which it has at least two.
  private static func text(_ seconds: Double) -> String {
    for (unit, length) in [("d", 86_400.0), ("h", 3600), ("min", 60)] where seconds >= 2 * length {
      return "\(Int(seconds / length)) \(unit)"
    }
    return "\(Int(seconds)) s"
  }
}

struct CacheShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print the items of a cached list, merged, a line each.",
    discussion: "Exit code 1 if the list is not cached.")

  @OptionGroup var owner: OwnerOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var list: CachedListOptions

  func run() throws {
    let inspector = try owner.cacheInspector()
    let lists = try list.found(in: inspector?.lists() ?? [])
    if lists.isEmpty { throw Failure(.no, CacheText.notCached([list.name], list.size)) }
    for list in lists {
      for item in try inspector?.items(of: list) ?? [] {
        if output.json {
          Console.print(item.json)
        } else {
          Console.print(Table.cell(Self.text(item), limit: 200))
        }
      }
    }
  }

  /// The item as text: its id first, then the other fields.
  private static func text(_ item: DocumentValue) -> String {
    guard case .object(let fields) = item else { return item.json }
    let rest = fields.filter { $0.name != "id" }.map { "\($0.name): \(text($0.value, $0.value.json))" }
    let id = item["id"].map { [text($0, $0.json)] } ?? []
    return (id + rest).joined(separator: "  ")
  }

  private static func text(_ value: DocumentValue, _ json: String) -> String {
    if case .text(let text) = value { text } else { json }
  }
}

struct CacheClear: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Remove cached lists, or all of them, in one commit.",
    discussion: """
      Exit code 1 if a list is not cached; the others are removed all the same, and the message names those that are \
      not cached. Without a list, all are removed, and a damaged cache is set aside.
      """)

  @OptionGroup var owner: OwnerOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var selection: ClearedListOptions

  func run() throws {
    if selection.names.isEmpty {
      report(try pages()?.clear() ?? CacheSize([]))
      return
    }
    let found = try selection.found(in: owner.cachedLists())
    let removed = try found.isEmpty ? [] : pages()?.clear(found) ?? []
    if !removed.isEmpty { report(CacheSize(removed)) }
    let missing = selection.missing(from: removed)
    if !missing.isEmpty { throw Failure(.no, CacheText.notCached(missing, selection.size)) }
  }

  /// The cache for writing; `nil` for a user without a directory. Creates nothing.
  private func pages() throws -> PageStore? {
    guard let location = try owner.cacheLocation() else { return nil }
    var options = PageStore.Options()
    options.lockTimeout = write.lockTimeout
    options.trace = try Tracer.ofEnvironment()
    options.onSetAside = { report in
      Console.say("catalogctl: the cache was damaged and is now \(report.path): \(report.reason)")
    }
    return PageStore(location, options: options)
  }

  private func report(_ removed: CacheSize) {
    DurableChange.report("\(Quantity.of(removed.pages, "page")) removed")
    if output.json {
      JSONText.object([
        ("lists", .int(removed.lists)), ("pages", .int(removed.pages)), ("bytes", .int(removed.bytes)),
      ]).print()
    } else {
      Console.say(
        "removed \(Quantity.of(removed.pages, "page")) of \(Quantity.of(removed.lists, "list")),"
          + " \(Quantity.bytes(removed.bytes))")
    }
  }
}

/// The option that selects lists by their page size.
struct PageSizeOptions: ParsableArguments {
  @Option(
    parsing: .unconditional, help: "Only with pages of this size.", transform: { try WholeNumber.parse($0, from: 1) })
  var pageSize: Int?

  /// The lists with this name and the selected page size.
  func lists(named name: String, in lists: [CachedList]) -> [CachedList] {
    lists.filter { $0.isNamed(name) && $0.pageSize == pageSize ?? $0.pageSize }
  }
}

/// The options that select a cached list.
struct CachedListOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The list, as 'cache list' names it.", valueName: "list")) var name: String
  @OptionGroup var size: PageSizeOptions

  /// The selected lists: more than one if the list is cached with several page sizes.
  func found(in lists: [CachedList]) -> [CachedList] { size.lists(named: name, in: lists) }
}

/// The options that select the lists to remove.
struct ClearedListOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The lists, as 'cache list' names them; without any, all.", valueName: "list"))
  var names: [String] = []
  @OptionGroup var size: PageSizeOptions

  func validate() throws {
    if names.isEmpty, size.pageSize != nil { throw ValidationError("--page-size needs a list") }
  }

  /// The selected lists. A list whose name was given twice may occur twice.
  func found(in lists: [CachedList]) -> [CachedList] { names.flatMap { size.lists(named: $0, in: lists) } }

  /// The given names that none of these lists has, each once.
  func missing(from lists: [CachedList]) -> [String] {
    var reported: Set<[UInt8]> = []
    return names.filter { name in
      size.lists(named: name, in: lists).isEmpty && reported.insert(Array(name.utf8)).inserted
    }
  }
}

private enum CacheText {
  /// The message about lists that are not cached.
  static func notCached(_ names: [String], _ size: PageSizeOptions) -> String {
    let quoted = names.map { "\"\($0)\"" }.joined(separator: ", ")
    let pages = size.pageSize.map { " with a page size of \($0)" } ?? ""
    let what = names.count == 1 ? "no list \(quoted) is cached" : "these lists are not cached: \(quoted)"
    return what + pages + "; 'catalogctl cache list' names those that are"
  }
}

extension CachedList {
  /// Compares byte by byte: a `String`'s `==` treats canonically equivalent Unicode texts as equal.
  fileprivate func isNamed(_ text: String) -> Bool { name.utf8.elementsEqual(text.utf8) }
}

extension OwnerOptions {
  /// The location of the cache; `nil` if the user, or the default store, has no directory. Creates nothing.
  fileprivate func cacheLocation() throws -> StoreLocation? { try store.workspace.store("cache", of: userID()) }

  /// A view of the cache; `nil` as for ``cacheLocation()``.
  fileprivate func cacheInspector() throws -> CacheInspector? {
    let trace = try Tracer.ofEnvironment()
    return try cacheLocation().map { try CacheInspector($0, trace: trace) }
  }

  /// The cached lists. Creates nothing.
  fileprivate func cachedLists() throws -> [CachedList] { try cacheInspector()?.lists() ?? [] }
}
