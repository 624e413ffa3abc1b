import Catalog
import Hummingbird
import JSONFormat
import ScanDaemon

extension DaemonAPI {
  func addCatalogueRoutes(to routes: RouterGroup<DaemonContext>) {
    routes.get("v1/products/{id}", use: product)
    routes.get("v1/products", use: products)
    routes.get("v1/products/{id}/components", use: components)
  }

  @Sendable private func product(_ request: Request, _ context: DaemonContext) throws -> Answer {
    guard let product = try daemon.catalogue().product(id: context.parameter) else {
      throw Self.unknown(context.parameter)
    }
    return Answer(.product(product))
  }

  @Sendable private func products(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    guard let barcode = context.query["barcode"], !barcode.isEmpty else {
      throw Refusal.badRequest("barcode: the barcode to look for, as in /v1/products?barcode=6901234567892")
    }
    return try await aside {
      let products = try daemon.catalogue().products(barcode: barcode)
      return Answer(.object([("products", .array(products.map(JSONText.product)))]))
    }
  }

  @Sendable private func components(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    let id = context.parameter
    return try await aside {
      let catalogue = try daemon.catalogue()
      let components = try catalogue.components(of: id)
      if components.isEmpty, try !catalogue.containsProduct(id: id) { throw Self.unknown(id) }
      return Answer(components.json(ofSet: id))
    }
  }

  private static func unknown(_ id: String) -> Refusal {
    .notFound("no product has the id \(id.debugDescription); GET /v1/products?barcode= finds products by barcode")
  }
}
