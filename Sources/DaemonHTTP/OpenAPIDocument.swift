/// The interface, as OpenAPI 3.1 describes it.
///
/// It stands in the source, and not in a file beside it, so that the executable can be copied alone. A test holds it against
/// the routes, and against what they answer.
enum OpenAPIDocument {
  /// Where a token is asked for; the document demands it there, and only there.
  struct Security: Sendable, Equatable {
    let ofCallers: Bool
    let ofMachine: Bool

    /// As a gate does it.
    init(_ gate: Gate) {
      ofCallers = gate.asksToken(for: .caller)
      ofMachine = gate.asksToken(for: .machine)
    }

    /// The member of an operation that asks for no token: where nobody is asked there is nothing to take back.
    func exception(isAsked: Bool) -> String { ofCallers && !isAsked ? #""security": [],"# : "" }
  }

  /// The whole document.
  static func bytes(_ security: Security) -> [UInt8] {
    Array(
      """
      {
      \(members(of: head)),
      \(security.ofCallers ? members(of: demand) + "," : "")
      "paths": {
      \(members(of: statePaths(security))),
      \(members(of: scanPaths)),
      \(members(of: cataloguePaths)),
      \(members(of: queuePaths)),
      \(members(of: setPaths)),
      \(members(of: userPaths))
      },
      \(members(of: webhooks(security))),
      "components": {
      \(security.ofCallers ? members(of: schemes) + "," : "")
      \(members(of: components)),
      "schemas": {
      \(members(of: stateSchemas)),
      \(members(of: scanSchemas)),
      \(members(of: catalogueSchemas)),
      \(members(of: queueSchemas)),
      \(members(of: setSchemas)),
      \(members(of: userSchemas)),
      \(members(of: webhookSchemas))
      }
      }
      }

      """.utf8)
  }

  /// An object without its braces.
  private static func members(of object: String) -> Substring { object.dropFirst().dropLast() }

  /// A part of a path that names something.
  static func pathParameter(_ name: String, _ description: String) -> String {
    #"{"name": "\#(name)", "in": "path", "description": "\#(description)", "required": true, "schema": {"type": "string"}}"#
  }

  /// Everything but paths and schemas.
  private static let head = #"""
    {
      "openapi": "3.1.0",
      "info": {
        "title": "catalogd",
        "version": "1",
        "summary": "A product catalogue beside a scanner.",
        "description": "Answers are JSON, and so are requests: UTF-8, unknown members ignored, and a member twice in one object refused (400). Each path that GET knows HEAD knows as well, and OPTIONS says what a path knows.",
        "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"}
      },
      "servers": [{"url": "/", "description": "The daemon that gave this document."}],
      "tags": [
        {"name": "scans", "description": "Codes and what they are."},
        {"name": "catalogue", "description": "Products, sets, and how current they are."},
        {"name": "sets", "description": "Sets that are being put together."},
        {"name": "queue", "description": "What waits to be sent."},
        {"name": "users", "description": "Who is signed in."},
        {"name": "state", "description": "How the daemon is."}
      ]
    }
    """#

  /// What each operation asks for that says nothing else.
  private static let demand = #"{"security": [{"token": []}]}"#

  /// How that is shown.
  private static let schemes = #"""
    {
      "securitySchemes": {
        "token": {"type": "http", "scheme": "bearer", "description": "The token of the daemon's configuration."}
      }
    }
    """#

  /// What is not a schema.
  private static let components = #"""
    {
      "responses": {
        "Error": {
          "description": "Refused, and why. 400 an invalid request · 401 no token, or the wrong one · 403 a page of an origin that is not allowed, or another host's name · 404 not there · 405 a method that the path does not know (Allow) · 408 a head that is slow to arrive · 413 a body that is too large · 414 a path and query that are too long · 415 not JSON, or packed · 429 too many requests (Retry-After) · 431 fields that are too large · 500 a fault of the daemon · 501 an unknown transfer coding · 503 not now: also where there are too many connections (Retry-After) · 505 another version of HTTP.",
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        },
        "BadRequest": {
          "description": "The request is none, or says what cannot be.",
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        },
        "NotFound": {
          "description": "It is not there.",
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        },
        "Conflict": {
          "description": "Not as things stand: the message says what to do first.",
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        },
        "TooLarge": {
          "description": "The body is larger than the daemon takes.",
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        },
        "BadGateway": {
          "description": "The company's server failed, or its answer was refused. The catalogue is as it was.",
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        },
        "Unavailable": {
          "description": "Not now: the message says why.",
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        }
      }
    }
    """#
}
