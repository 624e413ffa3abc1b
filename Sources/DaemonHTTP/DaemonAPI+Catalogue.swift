import Catalog
import JSONFormat
import ScanDaemon

extension DaemonAPI {
  var catalogueRoutes: [Route] {
    [
      Route(method: .get, path: "/v1/products/{id}", work: .immediate(product)),
      Route(method: .get, path: "/v1/products", work: .answer(products)),
      Route(method: .get, path: "/v1/products/{id}/components", work: .answer(components)),
    ]
  }

  @Sendable private func product(_ call: Call) throws -> Answer {
    guard let product = try daemon.catalogue().product(id: call.parameter) else { throw Self.unknown(call.parameter) }
    return Answer(.product(product))
  }

  @Sendable private func products(_ call: Call) async throws -> Answer {
    guard let barcode = call.query["barcode"], !barcode.isEmpty else {
      throw ErrorResponse.badRequest("barcode: the barcode to look for, as in /v1/products?barcode=6901234567892")
    }
    return try await aside {
      let products = try daemon.catalogue().products(barcode: barcode)
      return Answer(.object([("products", .array(products.map(JSONText.product)))]))
    }
  }

  @Sendable private func components(_ call: Call) async throws -> Answer {
    let id = call.parameter
    return try await aside {
      let catalogue = try daemon.catalogue()
      let components = try catalogue.components(of: id)
      if components.isEmpty, try !catalogue.containsProduct(id: id) { throw Self.unknown(id) }
      return Answer(components.json(ofSet: id))
    }
  }

  private static func unknown(_ id: String) -> ErrorResponse {
    .notFound("no product has the id \(id.debugDescription); GET /v1/products?barcode= finds products by barcode")
  }
}
