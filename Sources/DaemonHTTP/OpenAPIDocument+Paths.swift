extension OpenAPIDocument {
  /// What can be asked for: state, scans, the catalogue.
  static let paths = #"""
    {
      "/healthz": {
        "get": {
          "operationId": "health",
          "tags": ["state"],
          "summary": "Whether the daemon lives",
          "security": [],
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
          "summary": "Whether scans can be answered",
          "security": [],
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
          "description": "Where the daemon listens on loopback or a Unix domain socket, no token is needed.",
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
      },
      "/v1/events": {
        "get": {
          "operationId": "events",
          "tags": ["state"],
          "summary": "What happens, as it happens",
          "parameters": [
            {
              "name": "Last-Event-ID",
              "in": "header",
              "description": "The last event that the listener had: those behind it follow. Without it only those to come.",
              "schema": {"type": "string"}
            },
            {
              "name": "lastEventId",
              "in": "query",
              "description": "The same, for those who cannot set a header.",
              "schema": {"type": "string"}
            },
            {
              "name": "kinds",
              "in": "query",
              "description": "Only these kinds of event, with commas between them. Gaps always come.",
              "schema": {"type": "string"},
              "example": "scan,sync"
            }
          ],
          "responses": {
            "200": {
              "description": "Server-sent events (HTML, 9.2): id, event (scan, session, sync, user, input or gap) and data, one line of JSON. A gap says that events are gone which the listener did not get. A comment comes when nothing happened for a while.",
              "content": {
                "text/event-stream": {
                  "schema": {"type": "string"},
                  "example": "id: 9f86d081884c7d65-17\nevent: scan\ndata: {\"id\":\"019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b\"}\n\n"
                }
              }
            },
            "400": {"$ref": "#/components/responses/BadRequest"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/scan/{code}": {
        "get": {
          "operationId": "look",
          "tags": ["scans"],
          "summary": "What the catalogue says to a code, without any effect",
          "description": "No event, no upload, no entry in the miss journal.",
          "parameters": [
            {
              "name": "code",
              "in": "path",
              "description": "The code, 1 to 4096 bytes. A slash in it is %2F, GS1's separator %1D.",
              "required": true,
              "schema": {"type": "string"},
              "example": "6901234567892"
            }
          ],
          "responses": {
            "200": {
              "description": "The answer; match is none where nothing was found.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/ScanAnswer"},
                  "example": {
                    "id": "019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b",
                    "time": "2026-02-01T08:00:42.500Z",
                    "input": "http",
                    "tag": null,
                    "code": "6901234567892",
                    "match": "exact",
                    "key": "6901234567892",
                    "gtin": "06901234567892",
                    "rest": null,
                    "products": [
                      {
                        "barcode": "6901234567892",
                        "brand": "GREE",
                        "brandId": "7",
                        "category": "air conditioning",
                        "categoryId": 12,
                        "createBy": "",
                        "createTime": "2026-01-01 00:00:00",
                        "delFlag": 0,
                        "groupNum": 1,
                        "id": "1001",
                        "isGreeProduct": true,
                        "isGroupedProduct": false,
                        "isMarketingProduct": false,
                        "isSaleProduct": true,
                        "length": 0.8,
                        "name": "Indoor unit 35",
                        "orgId": "1",
                        "skuCode": "KFR-35",
                        "tall": 0.3,
                        "unit": "piece",
                        "updateBy": "",
                        "updateTime": "2026-02-01 00:00:00",
                        "volume": 0.05,
                        "weight": 11.5,
                        "wide": 0.2
                      }
                    ],
                    "elements": {},
                    "catalogue": {
                      "user": "ana",
                      "cursor": "2026-02-01 00:00:00",
                      "sequence": 17,
                      "currentAt": "2026-02-01T08:00:00.000Z",
                      "ageSeconds": 42.5
                    },
                    "recorded": true
                  }
                }
              }
            },
            "400": {"$ref": "#/components/responses/BadRequest"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/scans": {
        "post": {
          "operationId": "scan",
          "tags": ["scans"],
          "summary": "Scans one code or many",
          "description": "With all effects of a scan: an event, uploads, an entry in the set session of its input, and in the miss journal where nothing was found. Answered when uploads and sessions are durable; where they cannot be, problem says why. Where input names a scanner, a code that it scans again within its window is a double scan; the input http has no window.",
          "requestBody": {
            "required": true,
            "content": {
              "application/json": {
                "schema": {"$ref": "#/components/schemas/ScanRequest"},
                "example": {"code": "6901234567892", "tag": "17"}
              }
            }
          },
          "responses": {
            "200": {
              "description": "One code has one answer, a list of codes a list of answers.",
              "content": {
                "application/json": {
                  "schema": {
                    "oneOf": [
                      {"$ref": "#/components/schemas/ScanAnswer"},
                      {"$ref": "#/components/schemas/ScanAnswers"}
                    ]
                  },
                  "example": {
                    "id": "019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b",
                    "time": "2026-02-01T08:00:42.500Z",
                    "input": "http",
                    "tag": null,
                    "code": "6901234567892",
                    "match": "exact",
                    "key": "6901234567892",
                    "gtin": "06901234567892",
                    "rest": null,
                    "products": [
                      {
                        "barcode": "6901234567892",
                        "brand": "GREE",
                        "brandId": "7",
                        "category": "air conditioning",
                        "categoryId": 12,
                        "createBy": "",
                        "createTime": "2026-01-01 00:00:00",
                        "delFlag": 0,
                        "groupNum": 1,
                        "id": "1001",
                        "isGreeProduct": true,
                        "isGroupedProduct": false,
                        "isMarketingProduct": false,
                        "isSaleProduct": true,
                        "length": 0.8,
                        "name": "Indoor unit 35",
                        "orgId": "1",
                        "skuCode": "KFR-35",
                        "tall": 0.3,
                        "unit": "piece",
                        "updateBy": "",
                        "updateTime": "2026-02-01 00:00:00",
                        "volume": 0.05,
                        "weight": 11.5,
                        "wide": 0.2
                      }
                    ],
                    "elements": {},
                    "catalogue": {
                      "user": "ana",
                      "cursor": "2026-02-01 00:00:00",
                      "sequence": 17,
                      "currentAt": "2026-02-01T08:00:00.000Z",
                      "ageSeconds": 42.5
                    },
                    "recorded": true
                  }
                }
              }
            },
            "400": {"$ref": "#/components/responses/BadRequest"},
            "413": {"$ref": "#/components/responses/TooLarge"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/products": {
        "get": {
          "operationId": "productsByBarcode",
          "tags": ["catalogue"],
          "summary": "The products with a barcode",
          "parameters": [
            {
              "name": "barcode",
              "in": "query",
              "description": "The barcode, exactly. In a query + is a space, and %2B is +.",
              "schema": {"type": "string"},
              "example": "6901234567892",
              "required": true
            }
          ],
          "responses": {
            "200": {
              "description": "All of them; none is no error.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/Products"},
                  "example": {
                    "products": [
                      {
                        "barcode": "6901234567892",
                        "brand": "GREE",
                        "brandId": "7",
                        "category": "air conditioning",
                        "categoryId": 12,
                        "createBy": "",
                        "createTime": "2026-01-01 00:00:00",
                        "delFlag": 0,
                        "groupNum": 1,
                        "id": "1001",
                        "isGreeProduct": true,
                        "isGroupedProduct": false,
                        "isMarketingProduct": false,
                        "isSaleProduct": true,
                        "length": 0.8,
                        "name": "Indoor unit 35",
                        "orgId": "1",
                        "skuCode": "KFR-35",
                        "tall": 0.3,
                        "unit": "piece",
                        "updateBy": "",
                        "updateTime": "2026-02-01 00:00:00",
                        "volume": 0.05,
                        "weight": 11.5,
                        "wide": 0.2
                      }
                    ]
                  }
                }
              }
            },
            "400": {"$ref": "#/components/responses/BadRequest"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/products/{id}": {
        "get": {
          "operationId": "product",
          "tags": ["catalogue"],
          "summary": "A product",
          "parameters": [
            {
              "name": "id",
              "in": "path",
              "description": "The product's id.",
              "required": true,
              "schema": {"type": "string"},
              "example": "1001"
            }
          ],
          "responses": {
            "200": {
              "description": "It.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/Product"},
                  "example": {
                    "barcode": "6901234567892",
                    "brand": "GREE",
                    "brandId": "7",
                    "category": "air conditioning",
                    "categoryId": 12,
                    "createBy": "",
                    "createTime": "2026-01-01 00:00:00",
                    "delFlag": 0,
                    "groupNum": 1,
                    "id": "1001",
                    "isGreeProduct": true,
                    "isGroupedProduct": false,
                    "isMarketingProduct": false,
                    "isSaleProduct": true,
                    "length": 0.8,
                    "name": "Indoor unit 35",
                    "orgId": "1",
                    "skuCode": "KFR-35",
                    "tall": 0.3,
                    "unit": "piece",
                    "updateBy": "",
                    "updateTime": "2026-02-01 00:00:00",
                    "volume": 0.05,
                    "weight": 11.5,
                    "wide": 0.2
                  }
                }
              }
            },
            "404": {"$ref": "#/components/responses/NotFound"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/products/{id}/components": {
        "get": {
          "operationId": "components",
          "tags": ["catalogue"],
          "summary": "What a set consists of",
          "parameters": [
            {
              "name": "id",
              "in": "path",
              "description": "The set's product id.",
              "required": true,
              "schema": {"type": "string"},
              "example": "1000"
            }
          ],
          "responses": {
            "200": {
              "description": "Its components; none where the product is no set.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/Components"},
                  "example": {
                    "productId": "1000",
                    "components": [
                      {
                        "relationId": "r1",
                        "subProductId": "1001",
                        "groupNum": 1,
                        "product": {
                          "barcode": "6901234567892",
                          "brand": "GREE",
                          "brandId": "7",
                          "category": "air conditioning",
                          "categoryId": 12,
                          "createBy": "",
                          "createTime": "2026-01-01 00:00:00",
                          "delFlag": 0,
                          "groupNum": 1,
                          "id": "1001",
                          "isGreeProduct": true,
                          "isGroupedProduct": false,
                          "isMarketingProduct": false,
                          "isSaleProduct": true,
                          "length": 0.8,
                          "name": "Indoor unit 35",
                          "orgId": "1",
                          "skuCode": "KFR-35",
                          "tall": 0.3,
                          "unit": "piece",
                          "updateBy": "",
                          "updateTime": "2026-02-01 00:00:00",
                          "volume": 0.05,
                          "weight": 11.5,
                          "wide": 0.2
                        }
                      }
                    ]
                  }
                }
              }
            },
            "404": {"$ref": "#/components/responses/NotFound"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/sync": {
        "get": {
          "operationId": "syncState",
          "tags": ["catalogue"],
          "summary": "How current the catalogue is",
          "responses": {
            "200": {
              "description": "When it was last tried, and when it will be next.",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SyncState"}}}
            },
            "default": {"$ref": "#/components/responses/Error"}
          }
        },
        "post": {
          "operationId": "sync",
          "tags": ["catalogue"],
          "summary": "Synchronises now",
          "description": "Answered when it is done. Those who ask while one runs share the next one.",
          "requestBody": {
            "required": false,
            "content": {
              "application/json": {
                "schema": {"$ref": "#/components/schemas/SyncRequest"},
                "example": {"full": false}
              }
            }
          },
          "responses": {
            "200": {
              "description": "What it did.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/SyncReport"},
                  "example": {
                    "mode": "incremental",
                    "sequence": 18,
                    "generation": 2,
                    "products": {"upserted": 3, "deleted": 0},
                    "relations": {"written": 0, "deleted": 0, "ignored": 0},
                    "defaulted": 0,
                    "cursor": "2026-02-01 09:00:00",
                    "bytesIn": 912
                  }
                }
              }
            },
            "400": {"$ref": "#/components/responses/BadRequest"},
            "409": {"$ref": "#/components/responses/Conflict"},
            "502": {"$ref": "#/components/responses/BadGateway"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      },
      "/v1/misses": {
        "get": {
          "operationId": "misses",
          "tags": ["scans"],
          "summary": "Codes that found nothing",
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
              "description": "The last missed first.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/Misses"},
                  "example": {
                    "misses": [
                      {
                        "code": "123",
                        "count": 2,
                        "first": "2026-02-01T08:00:00.000Z",
                        "last": "2026-02-01T08:01:00.000Z",
                        "input": "counter"
                      }
                    ]
                  }
                }
              }
            },
            "400": {"$ref": "#/components/responses/BadRequest"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        },
        "delete": {
          "operationId": "clearMisses",
          "tags": ["scans"],
          "summary": "Empties the miss journal",
          "responses": {
            "200": {
              "description": "How many codes it had.",
              "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Removed"}, "example": {"removed": 1}}
              }
            },
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        }
      }
    }
    """#
}
