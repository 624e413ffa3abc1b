import Barcodes
import Catalog
import LogStore
import ScanInputs

extension Reading {
  /// The symbology that the sender named; `nil` if it named none, or one that is not known.
  var symbologyIdentifier: SymbologyIdentifier? { symbology.flatMap { SymbologyIdentifier(named: $0) } }
}

extension CatalogSnapshot {
  /// Matches a reading by the options of its input. A code that could not be decoded matches nothing and states nothing,
  /// even if its beginning is a valid code.
  func match(_ reading: Reading, _ table: MatchingTable) throws(StoreError) -> Match {
    if reading.undecodedBytes != nil { return try CatalogSnapshot.empty.match("") }
    return try match(
      reading.code, symbology: reading.symbologyIdentifier, options: table.options(for: reading.input))
  }
}
