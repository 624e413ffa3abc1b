public import Barcodes
import Bytes
public import LogStore

/// The sets that a series of scans completes, and the components that incomplete sets lack.
public struct SetCompletion: Equatable, Sendable {
  /// The number of scanned pieces, by product id.
  public var products: [ProductID: Int] = [:]
  /// The codes that match no product of the catalogue, in scan order.
  public var unknown: [String] = []
  /// The number of complete sets, by set id. Each set is counted independently: a piece may count for several sets.
  public var complete: [ProductID: Int] = [:]
  /// The number of missing pieces, by set id and component id, for sets with a scanned component of which no set is
  /// complete.
  public var incomplete: [ProductID: [ProductID: Int]] = [:]
  /// The problems of a set in the catalogue, by set id. Components never complete such a set.
  public var faults: [ProductID: [String]] = [:]
  /// The scans that repeat the serial number of an earlier scan.
  public var repeated: [String] = []
}

extension CatalogSnapshot {
  /// Returns the sets that a series of scans completes.
  ///
  /// A code of the table of codes counts as many pieces as its quantity says, if that is whole. A code with a serial
  /// number counts once, however often it was scanned. A plain code counts every time. A scan of a
  /// set's own barcode counts as one complete set. The contents of a logistic unit are not counted.
  ///
  /// - Parameters:
  ///   - codes: The codes as scanned.
  ///   - options: How they are parsed and matched.
  /// - Complexity: One match for each scan; one lookup for each set that has a scanned component, and one for each of
  ///   its components.
  public func complete(
    _ codes: [String], options: MatchingOptions = .standard
  ) throws(StoreError) -> SetCompletion {
    try complete(scans: codes.lazy.map { Scan($0, configuration: options.scan) }, options: options)
  }

  /// Returns the sets that a series of scans completes, like ``complete(_:options:)``.
  ///
  /// - Parameters:
  ///   - scans: The parsed scans.
  ///   - options: How they are matched. How they are parsed was decided when they were created.
  /// - Complexity: The same as of ``complete(_:options:)``.
  public func complete(
    scans: some Sequence<Scan>, options: MatchingOptions = .standard
  ) throws(StoreError) -> SetCompletion {
    var result = SetCompletion()
    var scannedSerials: Set<String> = []
    for scan in scans {
      let code = scan.text
      let match = try match(scan, options: options)
      guard !match.isEmpty, match.kind != .gs1Content else {
        result.unknown.append(code)
        continue
      }
      if match.hasSerial, !scannedSerials.insert(match.reading.payload).inserted {
        result.repeated.append(code)
        continue
      }
      for product in match.products {
        let count = result.products[ProductID(product.id)] ?? 0
        result.products[ProductID(product.id)] = Self.sum(count, match.pieceCount)
      }
    }
    var sets: Set<ProductID> = []
    for id in result.products.keys {
      if try !relations(ofSet: id.text).isEmpty { sets.insert(id) }
      sets.formUnion(try self.sets(with: id.text).map { ProductID($0) })
    }
    for set in sets { try evaluate(set, &result) }
    return result
  }

  /// The sum of two numbers of pieces, or the largest number.
  private static func sum(_ a: Int, _ b: Int) -> Int {
    let (sum, isTooMuch) = a.addingReportingOverflow(b)
    return isTooMuch ? .max : sum
  }

  private func evaluate(_ set: ProductID, _ result: inout SetCompletion) throws(StoreError) {
    var needs: [ProductID: Int] = [:]
    var isSound = true
    if try !isMatchable(set.text) {
      result.faults[set, default: []].append("is not in the catalogue itself, or was deleted")
      isSound = false
    }
    for relation in try relations(ofSet: set.text) {
      if let fault = try fault(relation) {
        result.faults[set, default: []].append(fault.text)
        if fault.invalidatesSet { isSound = false }
      }
      // Saturating: hostile numbers cannot overflow the sum. A number below 1 is a fault and requires no pieces.
      let component = ProductID(relation.subProductId)
      let need = needs[component] ?? 0
      needs[component] = Self.sum(need, max(0, Int(clamping: relation.groupNum)))
    }
    var completeCount = result.products[set] ?? 0
    if isSound {
      completeCount = Self.sum(completeCount, needs.map { (result.products[$0.key] ?? 0) / $0.value }.min() ?? 0)
    }
    if completeCount > 0 { result.complete[set] = completeCount }
    if completeCount > 0 || !isSound { return }
    for (component, need) in needs {
      let missing = need - (result.products[component] ?? 0)
      if missing > 0 { result.incomplete[set, default: [:]][component] = missing }
    }
  }

  /// Returns what is wrong with a relation. A component that the catalogue lacks can still be listed as missing; after
  /// any other fault the set cannot be counted.
  private func fault(_ relation: Relation) throws(StoreError) -> (text: String, invalidatesSet: Bool)? {
    let component = relation.subProductId
    if relation.groupNum <= 0 { return ("needs \(relation.groupNum) pieces of \(component)", true) }
    if component == relation.productId { return ("contains itself", true) }
    if try !relations(ofSet: component).isEmpty { return ("contains the set \(component)", true) }
    if try !isMatchable(component) {
      return ("lacks the component \(component), which is not in the catalogue, or was deleted", false)
    }
    return nil
  }
}

extension Match {
  /// Whether the code identifies a single piece by its serial number, not a kind of product.
  fileprivate var hasSerial: Bool {
    switch kind {
    case .head: reading.kind != .rcn && !(rest ?? "").isEmpty
    case .gs1, .digitalLink: reading.elements?["21"] != nil
    default: false
    }
  }
}
