// The example of Documentation/Embedding.md
import DocumentFormat
import Documents
import Foundation
import RemoteLists
import Workspace

struct Cart: Codable, Identifiable, Sendable {
  struct Customer: Codable, Sendable { var name: String }
  let id: UUID
  var customer: Customer
  var barcodes: [String]
}

struct Message: Codable, Identifiable, Sendable {
  let id: Int
  var text: String
}

extension Setting where Value == Bool {
  static var guideShown: Setting { Setting("guideShown", default: false) }
}

/// Keeps a cart for who is signed in now, finds those with a barcode, and reads the messages for that user.
func visit(
  _ root: String, _ cart: Cart, looking barcode: String, fetch: @escaping PageCache<String, Message>.Fetch
) async throws -> (customers: [String], messages: [Message]) {
  let workspace = try Workspace.open(root)
  defer { workspace.close() }
  try workspace.signIn("ana")  // one commit, whatever the size of the stores
  let ana = try workspace.stores()
  try ana.settings.set(.guideShown, to: true)

  let carts = try ana.documents().collection(
    "carts", of: Cart.self, indexes: [Index(\.barcodes), Index(\.customer.name)])
  try carts.insert(cart)  // durable
  let found = try carts.query(.contains(\.barcodes, barcode)).order(by: \.customer.name).limit(10).fetch()

  let inbox = PageCache("inbox", in: try ana.pages(), pageSize: 20, lifetime: .seconds(300), fetch: fetch)
  return (found.map(\.customer.name), try await inbox.load(page: 1).items)  // from the file, or fetched and kept
}
