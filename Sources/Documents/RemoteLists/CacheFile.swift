import Documents
import Essentials
import LogStore

/// The collections of a cache in a document store: a head, lists and pages. Synchronous and stateless.
struct CacheFile: Sendable {
  let store: DocumentStore
  let heads: DocumentCollection<CacheHead>
  let lists: DocumentCollection<ListDocument>
  let keys: DocumentCollection<PageKey>

  /// Opens a cache without creating anything.
  init(_ location: StoreLocation, options: DocumentStore.Options = DocumentStore.Options()) throws {
    store = try DocumentStore.inspect(location, options: options)
    heads = try store.collection("cache")
    lists = try store.collection("lists")
    keys = try store.collection(Self.pages)
  }

  private static let pages = "pages"

  func pages<Item>(of item: Item.Type) throws -> DocumentCollection<PageDocument<Item>> {
    try store.collection(Self.pages)
  }

  // MARK: Reading

  /// The head; `nil` for an empty cache, or one with another format version.
  func head(_ snapshot: DocumentSnapshot) throws -> CacheHead? {
    try Self.currentHead { try heads.get(CacheHead.name, in: snapshot) }
  }

  static func currentHead(_ read: () throws -> CacheHead?) throws -> CacheHead? {
    let head = try decodable(read)
    return head?.format == CacheHead.currentFormat ? head : nil
  }

  /// The result of `read`; `nil` also if a document cannot be decoded. Damage is still thrown.
  static func decodable<Document>(_ read: () throws -> Document?) throws -> Document? {
    do { return try read() } catch DocumentStoreError.document { return nil }
  }

  func list(_ id: ListID, _ snapshot: DocumentSnapshot) throws -> ListDocument? {
    try head(snapshot) == nil ? nil : lists.get(id, in: snapshot)
  }

  /// All lists, in no particular order.
  func lists(_ snapshot: DocumentSnapshot) throws -> [ListDocument] {
    if try head(snapshot) == nil { return [] }
    return try lists.query().results(in: snapshot).map { try $0.get() }
  }

  /// A page; `nil` if it does not exist, or cannot be decoded with this type of items.
  func page<Item: Codable & Sendable>(
    _ id: PageID, of item: Item.Type, _ snapshot: DocumentSnapshot
  ) throws -> PageDocument<Item>? {
    try Self.decodable { try pages(of: item).get(id, in: snapshot) }
  }

  /// The pages of a list, as input for merging.
  func pages<Item: Codable & Sendable>(
    of list: ListDocument, as item: Item.Type, _ snapshot: DocumentSnapshot
  ) throws -> [MergedList.Page<Item>] {
    try list.pages.compactMap { entry in
      guard let page = try page(PageID(list: list.id, number: entry.number), of: item, snapshot) else { return nil }
      return MergedList.Page(
        number: entry.number, serial: entry.serial, items: page.items, pushed: page.pushed ?? [])
    }
  }

  // MARK: Writing

  /// Changes the cache in one commit.
  func change<Result>(_ body: (CacheChange) throws -> Result) throws -> Result {
    try store.transaction { transaction in
      let change = try CacheChange(self, transaction)
      let result = try body(change)
      try change.finish()
      return result
    }
  }
}
