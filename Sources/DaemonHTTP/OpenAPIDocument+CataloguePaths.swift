extension OpenAPIDocument {
  /// What can be asked for: products, sets and their synchronisation.
  static let cataloguePaths = #"""
    {
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
              "schema": {"type": "string", "minLength": 1},
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
                      \#(exampleProduct)
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
                  "example": \#(exampleProduct)
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
                        "product": \#(exampleProduct)
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
      }
    }
    """#
}
