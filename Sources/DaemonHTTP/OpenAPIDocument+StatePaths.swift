extension OpenAPIDocument {
  /// What can be asked for: state and metrics.
  static func statePaths(_ security: Security) -> String {
    #"""
    {
      "/healthz": {
        "get": {
          "operationId": "health",
          "tags": ["state"],
          "summary": "Whether the daemon lives",
          \#(security.exception(isAsked: false))
          "responses": {
            "200": {
              "description": "It does.",
              "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Health"}, "example": {"status": "ok"}}
              }
            },
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/readyz": {
        "get": {
          "operationId": "readiness",
          "tags": ["state"],
          "summary": "Whether scans can be answered: there is a catalogue, and it can be read",
          \#(security.exception(isAsked: false))
          "responses": {
            "200": {
              "description": "They can.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/Readiness"},
                  "example": {"status": "ready"}
                }
              }
            },
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/metrics": {
        "get": {
          "operationId": "metrics",
          "tags": ["state"],
          "summary": "All metrics, for Prometheus",
          \#(security.exception(isAsked: security.ofMachine))
          "responses": {
            "200": {
              "description": "The text form, version 0.0.4.",
              "content": {"text/plain": {"schema": {"type": "string"}}}
            },
            "404": {"$ref": "#/components/responses/NotFound"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/openapi.json": {
        "get": {
          "operationId": "document",
          "tags": ["state"],
          "summary": "This document",
          "responses": {
            "200": {"description": "OpenAPI 3.1.", "content": {"application/json": {"schema": {"type": "object"}}}},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/status": {
        "get": {
          "operationId": "status",
          "tags": ["state"],
          "summary": "Everything about the daemon",
          "responses": {
            "200": {
              "description": "What it is and how it is.",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Status"}}}
            },
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      }
    }
    """#
  }
}
