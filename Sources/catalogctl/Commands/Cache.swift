import ArgumentParser
import DocumentFormat
import Foundation
import JSONFormat
import LogStore
import PageCache

/// The cached pages of remote lists.
struct Cache: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache", abstract: "Look at the cached pages of remote lists, or remove them.",
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

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let now = Date()
    var table = Table("LIST", ">PAGE SIZE", ">PAGES", ">ITEMS", ">SIZE", ">AGE", "STALE")
    for list in try store.cachedLists() {
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

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var list: CachedListOptions

  func run() throws {
    let (inspector, lists) = try list.find(store)
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
    commandName: "clear", abstract: "Remove a cached list, or all of them.",
    discussion: "Exit code 1 if the list is not cached. Without a list, a damaged cache is set aside.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var list: OptionalCachedListOptions

  func run() throws {
    var removed = (lists: 0, pages: 0, bytes: 0)
    if let location = try store.cacheLocation() {
      var options = PageStore.Options()
      options.lockTimeout = write.lockTimeout
      options.onSetAside = { report in
        Console.say("catalogctl: the cache was damaged and is now \(report.path): \(report.reason)")
      }
      let pages = PageStore(location, options: options)
      let extents = try list.named.map { try $0.find(store).lists.map { try pages.clear($0) } } ?? [pages.clear()]
      for extent in extents {
        removed.lists += extent.lists
        removed.pages += extent.pages
        removed.bytes += extent.bytes
      }
    } else if let list = list.named {
      _ = try list.find(store)
    }
    DurableChange.note("\(Quantity.of(removed.pages, "page")) removed")
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

/// The options that select a cached list.
struct CachedListOptions: ParsableArguments {
  @Argument(help: "The list, as 'cache list' names it.") var list: String
  @Option(help: "Only with pages of this size.") var pageSize: Int?

  /// - Throws: An error if the list is not cached.
  func find(_ store: StoreOptions) throws -> (inspector: CacheInspector?, lists: [CachedList]) {
    try Self.find(list, pageSize, store)
  }

  static func find(
    _ name: String, _ pageSize: Int?, _ store: StoreOptions
  ) throws -> (inspector: CacheInspector?, lists: [CachedList]) {
    let inspector = try store.cacheLocation().map { try CacheInspector($0) }
    let lists = try inspector?.lists() ?? []
    // Byte by byte: a String's `==` treats canonically equivalent Unicode texts as equal.
    let found = lists.filter { $0.name.utf8.elementsEqual(name.utf8) && $0.pageSize == pageSize ?? $0.pageSize }
    if found.isEmpty { throw Failure(.no, "no list \(name) is cached; 'catalogctl cache list' names those that are") }
    return (inspector, found)
  }
}

/// The options that select a cached list, or all of them.
struct OptionalCachedListOptions: ParsableArguments {
  @Argument(help: "The list, as 'cache list' names it; without it, all.") var list: String?
  @Option(help: "Only with pages of this size.") var pageSize: Int?

  func validate() throws {
    if list == nil, pageSize != nil { throw ValidationError("--page-size needs a list") }
  }

  var named: Named? { list.map { Named(list: $0, pageSize: pageSize) } }

  struct Named {
    let list: String
    let pageSize: Int?

    func find(_ store: StoreOptions) throws -> (inspector: CacheInspector?, lists: [CachedList]) {
      try CachedListOptions.find(list, pageSize, store)
    }
  }
}

extension StoreOptions {
  /// The location of the user's cache; `nil` for a user without a directory. Creates nothing.
  func cacheLocation() throws -> StoreLocation? {
    try workspace.store("cache", of: userID())
  }

  /// The user's cached lists. Creates nothing.
  func cachedLists() throws -> [CachedList] { try cacheLocation().map { try CacheInspector($0).lists() } ?? [] }
}
