extension OpenAPIDocument {
  /// What can be asked for of who is signed in: the queue, users, set sessions.
  static let userPaths = #"""
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
                  "example": {
                    "waiting": 2,
                    "sending": 1,
                    "parked": 0,
                    "bytes": 2048,
                    "enqueued": 120,
                    "delivered": 117,
                    "superseded": 0,
                    "dropped": 0,
                    "refused": 0,
                    "expired": 0,
                    "removed": 0,
                    "paused": []
                  }
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
                  "example": {
                    "waiting": 2,
                    "sending": 1,
                    "parked": 0,
                    "bytes": 2048,
                    "enqueued": 120,
                    "delivered": 117,
                    "superseded": 0,
                    "dropped": 0,
                    "refused": 0,
                    "expired": 0,
                    "removed": 0,
                    "paused": ["byHand"]
                  }
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
                  "example": {
                    "waiting": 2,
                    "sending": 1,
                    "parked": 0,
                    "bytes": 2048,
                    "enqueued": 120,
                    "delivered": 117,
                    "superseded": 0,
                    "dropped": 0,
                    "refused": 0,
                    "expired": 0,
                    "removed": 0,
                    "paused": []
                  }
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
          "operationId": "retryParked",
          "tags": ["queue"],
          "summary": "Lets all parked uploads go again",
          "responses": {
            "200": {
              "description": "How many were parked.",
              "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Retried"}, "example": {"retried": 3}}
              }
            },
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
            {
              "name": "id",
              "in": "path",
              "description": "The upload's id.",
              "required": true,
              "schema": {"type": "string"}
            }
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
            {
              "name": "id",
              "in": "path",
              "description": "The upload's id.",
              "required": true,
              "schema": {"type": "string"}
            }
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
          "summary": "Lets a parked upload go again",
          "parameters": [
            {
              "name": "id",
              "in": "path",
              "description": "The upload's id.",
              "required": true,
              "schema": {"type": "string"}
            }
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
      },
      "/v1/session": {
        "get": {
          "operationId": "user",
          "tags": ["users"],
          "summary": "Who is signed in",
          "responses": {
            "200": {
              "description": "Who.",
              "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/User"}, "example": {"user": "ana"}}
              }
            },
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        },
        "post": {
          "operationId": "signIn",
          "tags": ["users"],
          "summary": "Signs a user in, in the place of whoever is",
          "requestBody": {
            "required": true,
            "content": {
              "application/json": {"schema": {"$ref": "#/components/schemas/SignIn"}, "example": {"user": "ana"}}
            }
          },
          "responses": {
            "200": {
              "description": "Who is signed in now.",
              "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/User"}, "example": {"user": "ana"}}
              }
            },
            "400": {"$ref": "#/components/responses/BadRequest"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        },
        "delete": {
          "operationId": "signOut",
          "tags": ["users"],
          "summary": "Signs out who is signed in",
          "responses": {
            "200": {
              "description": "Nobody is signed in.",
              "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/User"}, "example": {"user": null}}
              }
            },
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
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
            {
              "name": "id",
              "in": "path",
              "description": "The session's id.",
              "required": true,
              "schema": {"type": "string"}
            }
          ],
          "responses": {
            "200": {
              "description": "It.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/SetSession"},
                  "example": {
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
            {
              "name": "id",
              "in": "path",
              "description": "The session's id.",
              "required": true,
              "schema": {"type": "string"}
            }
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
            {
              "name": "id",
              "in": "path",
              "description": "The session's id.",
              "required": true,
              "schema": {"type": "string"}
            }
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
                  "example": {
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
            {
              "name": "id",
              "in": "path",
              "description": "The session's id.",
              "required": true,
              "schema": {"type": "string"}
            }
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
