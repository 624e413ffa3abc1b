import Shelfmark

/// Looks up codes in the catalogue of the signed-in user: `look-up ROOT CODE…`
///
/// ROOT is the root directory of the stores, as used by `catalogctl` and the daemon.
@main
struct LookUp {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let root = arguments.first, arguments.count > 1 else {
      print("usage: look-up ROOT CODE…")
      return
    }
    let catalogue = try Workspace.open(root).catalogue()
    for code in arguments.dropFirst() {
      // Looking up the exact text of a barcode costs one lookup, and reads only the fields that are used.
      if let name = try catalogue.withProduct(barcode: code, { $0.name }) {
        print("\(code): \(name)")
        continue
      }
      // Other codes from a scanner: GTINs in other spellings, GS1 data, Digital Links, models with a serial number.
      let match = try catalogue.match(code)
      let names = match.products.map(\.name).joined(separator: ", ")
      print("\(code): \(match.products.isEmpty ? "not found" : "\(names) (\(match.kind.rawValue))")")
    }
  }
}
