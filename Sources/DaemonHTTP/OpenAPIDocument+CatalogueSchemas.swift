extension OpenAPIDocument {
  /// What is taken and answered: products, sets and their synchronisation.
  static let catalogueSchemas = #"""
    {
      "Product": {
        "type": "object",
        "description": "A product, under the names that the company's server gives its fields.",
        "properties": {
          "barcode": {"type": "string"},
          "brand": {"type": "string"},
          "brandId": {"type": "string"},
          "category": {"type": "string"},
          "categoryId": {"type": "integer"},
          "createBy": {"type": "string"},
          "createTime": {"type": "string"},
          "delFlag": {"type": "integer", "description": "Not 0: the server deleted the product."},
          "groupNum": {"type": "integer", "description": "Pieces a package."},
          "id": {"type": "string"},
          "isGreeProduct": {"type": "boolean"},
          "isGroupedProduct": {"type": "boolean"},
          "isMarketingProduct": {"type": "boolean"},
          "isSaleProduct": {"type": "boolean"},
          "length": {"type": "number"},
          "name": {"type": "string"},
          "orgId": {"type": "string"},
          "skuCode": {"type": "string"},
          "tall": {"type": "number"},
          "unit": {"type": "string"},
          "updateBy": {"type": "string"},
          "updateTime": {"type": "string"},
          "volume": {"type": "number"},
          "weight": {"type": "number"},
          "wide": {"type": "number"}
        },
        "required": [
          "barcode",
          "brand",
          "brandId",
          "category",
          "categoryId",
          "createBy",
          "createTime",
          "delFlag",
          "groupNum",
          "id",
          "isGreeProduct",
          "isGroupedProduct",
          "isMarketingProduct",
          "isSaleProduct",
          "length",
          "name",
          "orgId",
          "skuCode",
          "tall",
          "unit",
          "updateBy",
          "updateTime",
          "volume",
          "weight",
          "wide"
        ],
        "additionalProperties": false
      },
      "Products": {
        "type": "object",
        "properties": {"products": {"type": "array", "items": {"$ref": "#/components/schemas/Product"}}},
        "required": ["products"],
        "additionalProperties": false
      },
      "Component": {
        "type": "object",
        "properties": {
          "relationId": {"type": "string"},
          "subProductId": {"type": "string", "description": "The component's product id."},
          "groupNum": {"type": "integer", "description": "Pieces of it in the set."},
          "product": {
            "description": "Null where it is missing: the catalogue lacks it, or the server sent it as deleted.",
            "oneOf": [{"$ref": "#/components/schemas/Product"}, {"type": "null"}]
          }
        },
        "required": ["relationId", "subProductId", "groupNum", "product"],
        "additionalProperties": false
      },
      "Components": {
        "type": "object",
        "properties": {
          "productId": {"type": "string", "description": "The set's."},
          "components": {"type": "array", "items": {"$ref": "#/components/schemas/Component"}}
        },
        "required": ["productId", "components"],
        "additionalProperties": false
      },
      "SyncRequest": {
        "type": "object",
        "properties": {"full": {"type": ["boolean", "null"], "description": "Asks for everything again.", "default": false}}
      },
      "SyncReport": {
        "type": "object",
        "description": "What a synchronisation did.",
        "properties": {
          "mode": {"type": "string", "enum": ["full", "incremental", "rollback", "repair"]},
          "sequence": {"type": "integer", "description": "The commit."},
          "generation": {"type": "integer"},
          "products": {
            "type": "object",
            "properties": {"upserted": {"type": "integer"}, "deleted": {"type": "integer"}},
            "required": ["upserted", "deleted"],
            "additionalProperties": false
          },
          "relations": {
            "type": "object",
            "properties": {
              "written": {"type": "integer"},
              "deleted": {"type": "integer"},
              "ignored": {"type": "integer"}
            },
            "required": ["written", "deleted", "ignored"],
            "additionalProperties": false
          },
          "defaulted": {"type": "integer", "description": "Fields that took their default for the wrong type."},
          "cursor": {"type": "string"},
          "bytesIn": {"type": "integer"},
          "collapsed": {
            "type": "integer",
            "description": "Products that vanished into another one with the same id, or without an id."
          },
          "skipped": {"type": "integer", "description": "Rows that exceed a limit of the format."},
          "skippedRows": {
            "type": "array",
            "description": "The first 20 of them.",
            "items": {
              "type": "object",
              "properties": {
                "type": {"type": "string", "enum": ["product", "relation"]},
                "index": {"type": "integer", "description": "In its list, from 0."},
                "id": {"type": "string"},
                "message": {"type": "string"}
              },
              "required": ["type", "index", "id", "message"],
              "additionalProperties": false
            }
          },
          "brokenSets": {
            "type": "array",
            "description": "Sets that lack a component since this increment deleted it.",
            "items": {
              "type": "object",
              "properties": {
                "id": {"type": "string"},
                "missing": {"type": "array", "items": {"type": "string"}}
              },
              "required": ["id", "missing"],
              "additionalProperties": false
            }
          }
        },
        "required": ["mode", "sequence", "generation", "products", "relations", "defaulted", "cursor", "bytesIn"],
        "additionalProperties": false
      },
      "SyncState": {
        "type": "object",
        "description": "How current the catalogue is, and when it is synchronised next.",
        "properties": {
          "configured": {"type": "boolean", "description": "Whether there is a server to synchronise with."},
          "running": {"type": "boolean"},
          "lastSuccess": {"type": ["string", "null"], "description": "Such as 2026-01-31T23:59:59.123Z."},
          "lastAttempt": {"type": ["string", "null"], "description": "Such as 2026-01-31T23:59:59.123Z."},
          "lastError": {
            "type": ["string", "null"],
            "description": "Why the last attempt failed; null where it did not."
          },
          "failures": {"type": "integer", "description": "Since the last success."},
          "next": {
            "type": ["string", "null"],
            "description": "When the schedule comes to it. Such as 2026-01-31T23:59:59.123Z."
          },
          "oldSince": {
            "type": ["string", "null"],
            "description": "Where the last attempt failed: since when the catalogue is old. Such as 2026-01-31T23:59:59.123Z."
          }
        },
        "required": [
          "configured",
          "running",
          "lastSuccess",
          "lastAttempt",
          "lastError",
          "failures",
          "next",
          "oldSince"
        ],
        "additionalProperties": false
      }
    }
    """#
}
