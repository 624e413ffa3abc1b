import Shelfmark

/// Looks codes up in the catalogue of the user who is signed in: `look-up ROOT CODE…`
///
/// ROOT is the directory that `catalogctl` or the daemon keeps its stores in.
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
      // The exact text of a barcode costs one lookup, and reads only the fields that are used.
      if let name = try catalogue.withProduct(barcode: code, { $0.name }) {
        print("\(code): \(name)")
        continue
      }
      // Anything else that a scanner sends: GTINs in other spellings, GS1 data, Digital Links, models with a serial number.
      let match = try catalogue.match(code)
      let names = match.products.map(\.name).joined(separator: ", ")
      print("\(code): \(match.products.isEmpty ? "not found" : "\(names) (\(match.kind.rawValue))")")
    }
  }
}
