// The example of Sources/Barcodes/Barcodes.docc/Barcodes.md
import Barcodes

/// Describes a scanned text.
func describe(_ scanned: String) -> String {
  let scan = Scan(scanned)
  guard let gtin = scan.gtin else { return "text \(scan.payload)" }
  guard let serial = scan.elements?["21"] else { return "GTIN \(gtin.digits)" }
  return "GTIN \(gtin.digits), serial number \(serial)"
}
