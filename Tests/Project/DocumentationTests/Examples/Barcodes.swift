// The example of Sources/Catalogue/Barcodes/Barcodes.docc/Barcodes.md
import Barcodes

/// Describes a scanned text.
func describe(_ scanned: String, today: ScanDate) -> String {
  let scan = Scan(scanned)
  guard let gtin = scan.gtin else { return "\(scan.codeKind.rawValue) \(scan.payload)" }
  let content = scan.content(today: today)  // typed: dates, exact decimals, money
  var words = ["GTIN \(gtin.digits)"]
  if let lot = content.data.lot { words.append("lot \(lot)") }
  if let expiry = content.data.expiry { words.append(expiry < today ? "expired \(expiry)" : "good until \(expiry)") }
  if let (weight, unit) = content.data.netWeight { words.append("\(weight) \(unit)") }
  return (words + content.issues.map(\.reason)).joined(separator: ", ")
}
