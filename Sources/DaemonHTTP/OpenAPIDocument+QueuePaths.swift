extension OpenAPIDocument {
  /// What can be asked for: what waits to be sent.
  static let queuePaths = #"""
    {
      "/v1/queue": {
        "get": {
          "operationId": "queue",
          "tags": ["queue"],
          "summary": "What waits to be sent, in numbers",
          "responses": {
            "200": {
              "description": "The numbers.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/Queue"},
                  "example": \#(exampleQueue(paused: #"[]"#))
                }
              }
            },
            "409": {"$ref": "#/components/responses/Conflict"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/queue/pause": {
        "post": {
          "operationId": "pauseQueue",
          "tags": ["queue"],
          "summary": "Lets no upload begin",
          "responses": {
            "200": {
              "description": "The queue, paused.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/Queue"},
                  "example": \#(exampleQueue(paused: #"["byHand"]"#))
                }
              }
            },
            "409": {"$ref": "#/components/responses/Conflict"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/queue/resume": {
        "post": {
          "operationId": "resumeQueue",
          "tags": ["queue"],
          "summary": "Lets uploads begin again",
          "responses": {
            "200": {
              "description": "The queue, going.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/Queue"},
                  "example": \#(exampleQueue(paused: #"[]"#))
                }
              }
            },
            "409": {"$ref": "#/components/responses/Conflict"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/queue/retry": {
        "post": {
          "operationId": "retryUploads",
          "tags": ["queue"],
          "summary": "Lets all uploads go now that failed",
          "description": "Without a body, those that are parked. Webhooks that are left alone because they failed are tried at once.",
          "requestBody": {
            "required": false,
            "content": {
              "application/json": {
                "schema": {"$ref": "#/components/schemas/Retry"},
                "example": {"states": ["parked", "waiting"]}
              }
            }
          },
          "responses": {
            "200": {
              "description": "How many there were.",
              "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Retried"}, "example": {"retried": 3}}
              }
            },
            "400": {"$ref": "#/components/responses/BadRequest"},
            "413": {"$ref": "#/components/responses/TooLarge"},
            "409": {"$ref": "#/components/responses/Conflict"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/queue/uploads": {
        "get": {
          "operationId": "uploads",
          "tags": ["queue"],
          "summary": "What waits to be sent",
          "parameters": [
            {
              "name": "state",
              "in": "query",
              "description": "Only those in this state.",
              "schema": {"type": "string", "enum": ["waiting", "sending", "parked"]}
            },
            {
              "name": "limit",
              "in": "query",
              "description": "The most that are listed.",
              "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
            }
          ],
          "responses": {
            "200": {
              "description": "The first enqueued first.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/Uploads"},
                  "example": {
                    "uploads": [
                      {
                        "id": "019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b",
                        "kind": "scan",
                        "state": "parked",
                        "priority": "normal",
                        "orderKey": "http",
                        "replaceKey": null,
                        "created": "2026-02-01T08:00:42Z",
                        "notBefore": "2026-02-01T08:00:42Z",
                        "expires": null,
                        "attempts": 3,
                        "lastError": {"status": 500, "message": "the server answered 500"},
                        "parked": "2026-01-31T23:59:59Z",
                        "holdsKey": false,
                        "payload": {"code": "6901234567892"}
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
        }
      },
      "/v1/queue/uploads/{id}": {
        "get": {
          "operationId": "upload",
          "tags": ["queue"],
          "summary": "An upload",
          "parameters": [
            \#(pathParameter("id", "The upload's id."))
          ],
          "responses": {
            "200": {
              "description": "It.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/Upload"},
                  "example": {
                    "id": "019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b",
                    "kind": "scan",
                    "state": "parked",
                    "priority": "normal",
                    "orderKey": "http",
                    "replaceKey": null,
                    "created": "2026-02-01T08:00:42Z",
                    "notBefore": "2026-02-01T08:00:42Z",
                    "expires": null,
                    "attempts": 3,
                    "lastError": {"status": 500, "message": "the server answered 500"},
                    "parked": "2026-01-31T23:59:59Z",
                    "holdsKey": false,
                    "payload": {"code": "6901234567892"}
                  }
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
          "operationId": "dropUpload",
          "tags": ["queue"],
          "summary": "Drops an upload",
          "parameters": [
            \#(pathParameter("id", "The upload's id."))
          ],
          "responses": {
            "204": {"description": "It will not be sent."},
            "404": {"$ref": "#/components/responses/NotFound"},
            "409": {"$ref": "#/components/responses/Conflict"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/queue/uploads/{id}/retry": {
        "post": {
          "operationId": "retryUpload",
          "tags": ["queue"],
          "summary": "Lets an upload go now that failed",
          "description": "One that is parked, or waits for its next attempt. Its webhook is tried at once, if it is left alone because it failed. Any other upload stays as it is.",
          "parameters": [
            \#(pathParameter("id", "The upload's id."))
          ],
          "responses": {
            "200": {
              "description": "It, as it is now.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/Upload"},
                  "example": {
                    "id": "019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b",
                    "kind": "scan",
                    "state": "waiting",
                    "priority": "normal",
                    "orderKey": "http",
                    "replaceKey": null,
                    "created": "2026-02-01T08:00:42Z",
                    "notBefore": "2026-02-01T08:00:42Z",
                    "expires": null,
                    "attempts": 3,
                    "lastError": {"status": 500, "message": "the server answered 500"},
                    "parked": null,
                    "holdsKey": false,
                    "payload": {"code": "6901234567892"}
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
