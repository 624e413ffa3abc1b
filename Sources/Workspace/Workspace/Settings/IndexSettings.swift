public import Catalog
public import DocumentFormat
import LogStore
import TextFormat

/// The settings for the indexes that a catalogue has in addition to those by id and barcode.
///
/// Each value comes from the user's settings or, if not set there, from the default store. A change takes effect with
/// the next full update or compaction of the catalogue.
public struct IndexSettings: Sendable, Equatable {
  /// Whether products can be found by words; `nil` if not set.
  public private(set) var hasSearch: Bool?
  /// The orders in which products can be read; `nil` if not set.
  public private(set) var orders: Set<CatalogIndexes.Order>?
  /// The declared fields of one's own; `nil` if not set.
  public private(set) var fields: DeclaredFields?

  /// Creates settings without any value.
  public init() {}

  /// The names of the settings.
  public enum Name: String, CaseIterable, Sendable {
    case search = "search.index"
    case orders = "ordered.indexes"
    case fields = "fields"

    /// What names start with, so that a mistyped one can be reported.
    public static let prefixes = ["search.", "ordered."]
  }

  /// Sets a value: of ``Name/search`` `on` or `off`, of ``Name/orders`` a list of field names, of ``Name/fields`` an
  /// object of declarations; see `DeclaredFields`.
  ///
  /// - Throws: `SettingsError.value` if the value is invalid. Nothing changed then.
  public mutating func set(_ name: Name, to value: DocumentValue) throws(SettingsError) {
    do throws(ValueFault) {
      switch name {
      case .search: hasSearch = try Self.flag(value)
      case .orders: orders = try Self.orders(value)
      case .fields:
        do throws(FieldError) { fields = try DeclaredFields(value) } catch { throw ValueFault(error.description) }
      }
    } catch { throw .value(name: name.rawValue, reason: error) }
  }

  /// The indexes: the values that are set, and those of `CatalogIndexes.standard` for all others.
  public var indexes: CatalogIndexes {
    var indexes = CatalogIndexes(
      hasSearch: hasSearch ?? CatalogIndexes.standard.hasSearch, orders: orders ?? CatalogIndexes.standard.orders)
    indexes.fields = fields ?? DeclaredFields()
    return indexes
  }

  /// Takes the values that a store has and that are not set yet.
  ///
  /// - Throws: `SettingsError.unreadable` for a stored value that cannot be used; `StoreError`.
  mutating func fill(from snapshot: SettingsSnapshot) throws {
    for name in Name.allCases {
      switch name {
      case .search where hasSearch != nil: continue
      case .orders where orders != nil: continue
      case .fields where fields != nil: continue
      default: break
      }
      guard let value = try snapshot.value(named: name.rawValue) else { continue }
      do { try set(name, to: value) } catch SettingsError.value(_, let reason) {
        throw SettingsError.unreadable(name: name.rawValue, path: snapshot.path, reason: reason)
      }
    }
  }

  /// What is wrong with the declared fields of a store, and what to do; `nil` if nothing is. Who reads a catalogue with
  /// declarations that cannot be used reads it without any.
  package static func fieldsFault(in snapshot: SettingsSnapshot) -> String? {
    do {
      if let value = try snapshot.value(named: Name.fields.rawValue) { _ = try DeclaredFields(value) }
      return nil
    } catch {
      return "fields in \(TerminalText.shown(snapshot.path)) cannot be used: \(error); set it anew, or unset it with"
        + " 'catalogctl config unset fields'"
    }
  }

  private static func flag(_ value: DocumentValue) throws(ValueFault) -> Bool {
    switch value {
    case .text("on"): return true
    case .text("off"): return false
    default: throw ValueFault("write on or off, not \(value.words)")
    }
  }

  private static func orders(_ value: DocumentValue) throws(ValueFault) -> Set<CatalogIndexes.Order> {
    let names = CatalogIndexes.Order.allCases.map(\.rawValue)
    var orders: Set<CatalogIndexes.Order> = []
    for element in try value.list(of: "fields, such as [\"category\", \"brand\"]") {
      guard case .text(let name) = element, let order = CatalogIndexes.Order(rawValue: name) else {
        var hint: String?
        if case .text(let name) = element { hint = NearestName.of(name, among: names).map { "did you mean '\($0)'?" } }
        throw ValueFault(
          "no index has the order \(element.words); \(hint ?? "write a list of \(names.joined(separator: ", "))"), or [] for"
            + " none")
      }
      orders.insert(order)
    }
    return orders
  }
}

extension WorkspaceDirectory {
  /// The indexes that the next full update or compaction of a user's catalogue writes, according to the settings.
  /// Damaged settings are ignored, so that the catalogue can still be written; `verify` reports them.
  ///
  /// - Parameter id: The user's ID; `nil` for the default store.
  /// - Throws: `SettingsError.unreadable` for a value that cannot be used; `WorkspaceError`, `StoreError`.
  public func indexes(of id: String?) throws -> CatalogIndexes {
    var indexes = IndexSettings()
    for owner in id == nil ? [nil] : [id, nil] {
      do { try indexes.fill(from: settings(of: owner).snapshot()) } catch let error as StoreError {
        guard error.isDamage else { throw error }
      }
    }
    return indexes.indexes
  }

  /// The declared fields of one's own, according to the settings: those of the user or, if there are none, of the default
  /// store. Damaged settings are ignored; `verify` reports them.
  ///
  /// - Parameter id: The user's ID; `nil` for the default store.
  /// - Throws: `SettingsError.unreadable` for a value that cannot be used; `WorkspaceError`, `StoreError`.
  public func fields(of id: String?) throws -> DeclaredFields { try indexes(of: id).fields }
}
