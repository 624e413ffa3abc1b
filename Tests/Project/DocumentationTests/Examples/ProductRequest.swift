// The example of Sources/Daemon/DaemonHTTP/DaemonHTTP.docc/DaemonHTTP.md
import Foundation

/// The target of a request for a page of the products that meet a condition, such as `weight > 10 && isSaleProduct`.
func productPage(where condition: String, offset: Int) -> String {
  func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
  return "/v1/products?where=\(escaped(condition))&order=name&columns=id,name&limit=50&offset=\(offset)"
}
