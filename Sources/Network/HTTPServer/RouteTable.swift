package import HTTPTypes

/// A table that finds the routes of a path.
///
/// A path is written as in OpenAPI: `/v1/products/{id}`. A part in braces matches any part that is not empty, and `**`
/// at the end matches one or more parts. Where several match, a literal part is preferred to one in braces, and that to
/// `**`; what was preferred is not reconsidered if the rest of the path does not match.
package final class RouteTable: Sendable {
  private let root: Node

  private final class Node: Sendable {
    let children: [String: Node]
    let parameter: Node?
    let tail: Node?
    let routes: [HTTPRequest.Method: Int]
    let allowed: String
    let path: String

    init(_ routes: [(rest: ArraySlice<Substring>, path: String, method: HTTPRequest.Method, index: Int)]) {
      let here = routes.filter { $0.rest.isEmpty }
      path = here.first?.path ?? ""
      self.routes = Dictionary(here.map { ($0.method, $0.index) }, uniquingKeysWith: { first, _ in first })
      var names = here.map(\.method.rawValue)
      if names.contains("GET") { names.append("HEAD") }
      allowed = (names + ["OPTIONS"]).sorted().joined(separator: ", ")
      var children: [String: Node] = [:]
      var parameter: Node?
      var tail: Node?
      for (name, group) in Dictionary(grouping: routes.filter { !$0.rest.isEmpty }, by: { $0.rest.first ?? "" }) {
        let node = Node(group.map { ($0.rest.dropFirst(), $0.path, $0.method, $0.index) })
        if name == "**" {
          tail = node
        } else if name.hasPrefix("{") {
          parameter = node
        } else {
          children[String(name)] = node
        }
      }
      self.children = children
      self.parameter = parameter
      self.tail = tail
    }
  }

  /// The routes of one path.
  package struct Match: Sendable {
    /// The parts that match those in braces, in order, and the parts of the tail.
    package let parameters: [String]
    /// The path as it was given.
    package let path: String
    /// The allowed methods, in the format of the field `Allow`.
    package let allowed: String
    private let routes: [HTTPRequest.Method: Int]

    fileprivate init(
      parameters: [String], path: String, allowed: String, routes: [HTTPRequest.Method: Int]
    ) {
      self.parameters = parameters
      self.path = path
      self.allowed = allowed
      self.routes = routes
    }

    /// The index of the route for a method; `nil` if the path has none. `HEAD` uses the route of `GET`.
    package subscript(method: HTTPRequest.Method) -> Int? { routes[method == .head ? .get : method] }
  }

  /// - Parameter routes: The routes, whose indices are found. Paths that differ only in the names of their parameters
  ///   count as one. If a method occurs twice with one path, the first one counts.
  package init(_ routes: [(method: HTTPRequest.Method, path: String)]) {
    root = Node(
      routes.enumerated().map { index, route in
        let parts = route.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        return (parts[...], route.path, route.method, index)
      })
  }

  /// Finds the routes of a path.
  ///
  /// - Parameter parts: The parts of the path between its slashes.
  /// - Returns: `nil` if no route has this path.
  /// - Complexity: O(*n*) in the number of parts.
  package func match(_ parts: [String]) -> Match? {
    var node = root
    var parameters: [String] = []
    for (index, part) in parts.enumerated() {
      if let child = node.children[part] {
        node = child
      } else if let child = node.parameter, !part.isEmpty {
        parameters.append(part)
        node = child
      } else if let child = node.tail {
        parameters += parts[index...]
        node = child
        break
      } else {
        return nil
      }
    }
    if node.routes.isEmpty { return nil }
    return Match(parameters: parameters, path: node.path, allowed: node.allowed, routes: node.routes)
  }
}
