extension OpenAPIDocument {
  /// What can be asked for: sets that are being put together.
  static let setPaths = #"""
    {
      "/v1/sessions": {
        "get": {
          "operationId": "setSessions",
          "tags": ["sets"],
          "summary": "The set sessions of who is signed in",
          "parameters": [
            {
              "name": "limit",
              "in": "query",
              "description": "The most that are listed.",
              "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
            }
          ],
          "responses": {
            "200": {
              "description": "The youngest first.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/SetSessions"},
                  "example": {
                    "sessions": [
                      {
                        "id": "019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5c",
                        "name": "order 17",
                        "input": null,
                        "created": "2026-02-01T08:00:00.000Z",
                        "closed": false,
                        "codes": ["6901234567892"],
                        "completion": {
                          "products": {"1001": 1},
                          "unknown": [],
                          "complete": {},
                          "incomplete": {"1000": {"1002": 1}}
                        }
                      }
                    ],
                    "truncated": false
                  }
                }
              }
            },
            "400": {"$ref": "#/components/responses/BadRequest"},
            "409": {"$ref": "#/components/responses/Conflict"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        },
        "post": {
          "operationId": "openSetSession",
          "tags": ["sets"],
          "summary": "Begins a set session",
          "requestBody": {
            "required": false,
            "content": {
              "application/json": {
                "schema": {"$ref": "#/components/schemas/OpenSession"},
                "example": {"name": "order 17"}
              }
            }
          },
          "responses": {
            "201": {
              "description": "The session.",
              "headers": {"Location": {"description": "The session's path.", "schema": {"type": "string"}}},
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/SetSession"},
                  "example": {
                    "id": "019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5c",
                    "name": "order 17",
                    "input": null,
                    "created": "2026-02-01T08:00:00.000Z",
                    "closed": false,
                    "codes": [],
                    "completion": {"products": {}, "unknown": [], "complete": {}, "incomplete": {}}
                  }
                }
              }
            },
            "400": {"$ref": "#/components/responses/BadRequest"},
            "409": {"$ref": "#/components/responses/Conflict"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/sessions/{id}": {
        "get": {
          "operationId": "setSession",
          "tags": ["sets"],
          "summary": "A set session, judged by the catalogue as it is now",
          "parameters": [
            \#(pathParameter("id", "The session's id."))
          ],
          "responses": {
            "200": {
              "description": "It.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/SetSession"},
                  "example": \#(exampleSetSession)
                }
              }
            },
            "404": {"$ref": "#/components/responses/NotFound"},
            "409": {"$ref": "#/components/responses/Conflict"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        },
        "delete": {
          "operationId": "removeSetSession",
          "tags": ["sets"],
          "summary": "Removes a set session",
          "parameters": [
            \#(pathParameter("id", "The session's id."))
          ],
          "responses": {
            "204": {"description": "It is gone."},
            "404": {"$ref": "#/components/responses/NotFound"},
            "409": {"$ref": "#/components/responses/Conflict"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/sessions/{id}/scans": {
        "post": {
          "operationId": "addScans",
          "tags": ["sets"],
          "summary": "Adds scans to a set session",
          "parameters": [
            \#(pathParameter("id", "The session's id."))
          ],
          "requestBody": {
            "required": true,
            "content": {
              "application/json": {
                "schema": {"$ref": "#/components/schemas/AddScans"},
                "example": {"code": "6901234567892"}
              }
            }
          },
          "responses": {
            "200": {
              "description": "The session with them.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/SetSession"},
                  "example": \#(exampleSetSession)
                }
              }
            },
            "400": {"$ref": "#/components/responses/BadRequest"},
            "404": {"$ref": "#/components/responses/NotFound"},
            "409": {"$ref": "#/components/responses/Conflict"},
            "413": {"$ref": "#/components/responses/TooLarge"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/sessions/{id}/close": {
        "post": {
          "operationId": "closeSetSession",
          "tags": ["sets"],
          "summary": "Ends a set session, which stays until it is removed",
          "parameters": [
            \#(pathParameter("id", "The session's id."))
          ],
          "responses": {
            "200": {
              "description": "The session, closed.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/SetSession"},
                  "example": {
                    "id": "019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5c",
                    "name": "order 17",
                    "input": null,
                    "created": "2026-02-01T08:00:00.000Z",
                    "closed": true,
                    "codes": ["6901234567892"],
                    "completion": {
                      "products": {"1001": 1},
                      "unknown": [],
                      "complete": {},
                      "incomplete": {"1000": {"1002": 1}}
                    }
                  }
                }
              }
            },
            "404": {"$ref": "#/components/responses/NotFound"},
            "409": {"$ref": "#/components/responses/Conflict"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      }
    }
    """#
}
