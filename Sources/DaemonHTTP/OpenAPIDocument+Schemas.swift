extension OpenAPIDocument {
  /// What requests and answers consist of.
  static let schemas = #"""
    {
      "Error": {
        "type": "object",
        "description": "Why a request was refused.",
        "properties": {
          "error": {
            "type": "object",
            "properties": {
              "code": {"type": "string", "description": "For programs."},
              "message": {"type": "string", "description": "For people: what is wrong, and what to do."}
            },
            "required": ["code", "message"],
            "additionalProperties": false
          }
        },
        "required": ["error"],
        "additionalProperties": false,
        "example": {
          "error": {
            "code": "notFound",
            "message": "no product has the id \"4711\"; GET /v1/products?barcode= finds products by barcode"
          }
        }
      },
      "Health": {
        "type": "object",
        "properties": {"status": {"type": "string", "enum": ["ok"]}},
        "required": ["status"],
        "additionalProperties": false
      },
      "Readiness": {
        "type": "object",
        "properties": {"status": {"type": "string", "enum": ["ready"]}},
        "required": ["status"],
        "additionalProperties": false
      },
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
            "description": "Null where the catalogue lacks it.",
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
      "CatalogueAge": {
        "type": "object",
        "description": "Which catalogue an answer comes from.",
        "properties": {
          "user": {
            "type": ["string", "null"],
            "description": "Whose catalogue; null for the one that belongs to nobody."
          },
          "cursor": {"type": "string", "description": "The server's updateTime; empty before the first update."},
          "sequence": {"type": "integer", "description": "The commit; 0 for an empty catalogue."},
          "currentAt": {
            "type": ["string", "null"],
            "description": "When the server was last known to have nothing newer. Such as 2026-01-31T23:59:59.123Z."
          },
          "ageSeconds": {"type": ["number", "null"], "description": "Seconds since then."}
        },
        "required": ["user", "cursor", "sequence", "currentAt", "ageSeconds"],
        "additionalProperties": false
      },
      "ScanAnswer": {
        "type": "object",
        "properties": {
          "id": {"type": "string", "description": "Names the scan for ever: a UUID of version 7."},
          "time": {"type": "string", "description": "Such as 2026-01-31T23:59:59.123Z."},
          "input": {"type": "string", "description": "What read the code."},
          "tag": {"type": ["string", "null"], "description": "What the sender called it."},
          "code": {"type": "string", "description": "The code as it was scanned."},
          "match": {
            "type": "string",
            "description": "How the code was matched.",
            "enum": ["exact", "gtin", "gs1", "gs1-content", "digital-link", "head", "none"]
          },
          "key": {"type": ["string", "null"], "description": "The barcode of the catalogue that matched."},
          "gtin": {"type": ["string", "null"], "description": "14 digits."},
          "rest": {"type": ["string", "null"], "description": "What follows the head."},
          "products": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/Product"},
            "description": "All candidates; empty where nothing matched."
          },
          "elements": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "The other elements of GS1, by their application identifier."
          },
          "catalogue": {"$ref": "#/components/schemas/CatalogueAge"},
          "repeats": {
            "type": "string",
            "description": "The id of the scan that this one repeats; nothing was recorded then."
          },
          "recorded": {
            "type": "boolean",
            "description": "Whether its uploads, and its entry in a set session, are durable. False also where there were none to record: then there is no problem."
          },
          "problem": {
            "type": "string",
            "description": "Why it could not be recorded: nobody but the one who asked knows of this scan."
          }
        },
        "required": [
          "id",
          "time",
          "input",
          "tag",
          "code",
          "match",
          "key",
          "gtin",
          "rest",
          "products",
          "elements",
          "catalogue",
          "recorded"
        ],
        "additionalProperties": false
      },
      "Scan": {
        "type": "object",
        "properties": {
          "code": {"type": "string", "description": "1 to 4096 bytes.", "minLength": 1},
          "input": {
            "type": ["string", "null"],
            "description": "Instead of the request's. 1 to 64 letters, digits, -, _ and .",
            "default": "http",
            "pattern": "^[A-Za-z0-9_.-]{1,64}$"
          },
          "tag": {"type": ["string", "null"], "description": "Comes back with the answer. At most 4096 bytes."}
        },
        "required": ["code"]
      },
      "ScanRequest": {
        "description": "One code, or up to 1000. input and tag hold for all that name none of their own.",
        "oneOf": [
          {
            "type": "object",
            "properties": {
              "code": {"type": "string", "minLength": 1},
              "codes": {"type": "null"},
              "scans": {"type": "null"},
              "input": {"type": ["string", "null"], "pattern": "^[A-Za-z0-9_.-]{1,64}$"},
              "tag": {"type": ["string", "null"]}
            },
            "required": ["code"]
          },
          {
            "type": "object",
            "properties": {
              "code": {"type": "null"},
              "scans": {"type": "null"},
              "codes": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
                "maxItems": 1000
              },
              "input": {"type": ["string", "null"], "pattern": "^[A-Za-z0-9_.-]{1,64}$"},
              "tag": {"type": ["string", "null"]}
            },
            "required": ["codes"]
          },
          {
            "type": "object",
            "properties": {
              "code": {"type": "null"},
              "codes": {"type": "null"},
              "scans": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/Scan"},
                "minItems": 1,
                "maxItems": 1000
              },
              "input": {"type": ["string", "null"], "pattern": "^[A-Za-z0-9_.-]{1,64}$"},
              "tag": {"type": ["string", "null"]}
            },
            "required": ["scans"]
          }
        ]
      },
      "ScanAnswers": {
        "type": "object",
        "properties": {
          "answers": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/ScanAnswer"},
            "description": "In the order of the request."
          }
        },
        "required": ["answers"],
        "additionalProperties": false
      },
      "SyncRequest": {
        "type": "object",
        "properties": {"full": {"type": "boolean", "description": "Asks for everything again."}}
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
          "bytesIn": {"type": "integer"}
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
      },
      "Input": {
        "type": "object",
        "description": "Where scans come from.",
        "properties": {
          "name": {"type": "string"},
          "state": {"type": "string", "enum": ["unknown", "open", "reopening", "closed"]},
          "message": {"type": "string", "description": "For people: from what it reads, or why it does not."},
          "since": {"type": ["string", "null"], "description": "Such as 2026-01-31T23:59:59.123Z."},
          "scans": {"type": "integer"},
          "misses": {"type": "integer"},
          "repeats": {"type": "integer", "description": "Double scans."},
          "faults": {
            "type": "object",
            "additionalProperties": {"type": "integer"},
            "description": "Lines that were refused, by the kind of fault."
          },
          "lastScan": {"type": ["string", "null"], "description": "Such as 2026-01-31T23:59:59.123Z."}
        },
        "required": ["name", "state", "message", "since", "scans", "misses", "repeats", "faults", "lastScan"],
        "additionalProperties": false
      },
      "Problem": {
        "type": "object",
        "description": "What does not work now.",
        "properties": {
          "name": {"type": "string"},
          "since": {"type": "string", "description": "Such as 2026-01-31T23:59:59.123Z."},
          "count": {"type": "integer", "description": "How often it came up."},
          "message": {"type": "string"}
        },
        "required": ["name", "since", "count", "message"],
        "additionalProperties": false
      },
      "CatalogueState": {
        "type": "object",
        "description": "The catalogue that scans are answered from.",
        "properties": {
          "user": {"type": ["string", "null"]},
          "cursor": {"type": "string"},
          "sequence": {"type": "integer"},
          "generation": {"type": "integer"},
          "products": {"type": "integer"},
          "relations": {"type": "integer"},
          "currentAt": {"type": ["string", "null"]},
          "ageSeconds": {"type": ["number", "null"]}
        },
        "required": ["user", "cursor", "sequence", "generation", "products", "relations", "currentAt", "ageSeconds"],
        "additionalProperties": false
      },
      "Status": {
        "type": "object",
        "description": "Everything about the daemon.",
        "properties": {
          "version": {"type": "string"},
          "time": {"type": "string", "description": "Such as 2026-01-31T23:59:59.123Z."},
          "started": {"type": "string", "description": "Such as 2026-01-31T23:59:59.123Z."},
          "uptimeSeconds": {"type": "number"},
          "ready": {"type": "boolean", "description": "Whether scans can be answered."},
          "user": {"type": ["string", "null"], "description": "Who is signed in."},
          "catalogue": {
            "description": "Null where it cannot be read; problems say why.",
            "oneOf": [{"$ref": "#/components/schemas/CatalogueState"}, {"type": "null"}]
          },
          "sync": {"$ref": "#/components/schemas/SyncState"},
          "queue": {
            "description": "Null where it cannot be read; problems say why.",
            "oneOf": [{"$ref": "#/components/schemas/Queue"}, {"type": "null"}]
          },
          "webhooks": {"type": "array", "items": {"type": "string"}, "description": "Their names."},
          "inputs": {"type": "array", "items": {"$ref": "#/components/schemas/Input"}},
          "sessionsOpen": {"type": "integer", "description": "Set sessions that are open."},
          "eventListeners": {"type": "integer"},
          "scansPerSecond": {"type": "number"},
          "problems": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/Problem"},
            "description": "Empty where all is well."
          }
        },
        "required": [
          "version",
          "time",
          "started",
          "uptimeSeconds",
          "ready",
          "user",
          "catalogue",
          "sync",
          "queue",
          "webhooks",
          "inputs",
          "sessionsOpen",
          "eventListeners",
          "scansPerSecond",
          "problems"
        ],
        "additionalProperties": false
      },
      "Miss": {
        "type": "object",
        "description": "A code that found nothing.",
        "properties": {
          "code": {"type": "string"},
          "count": {"type": "integer", "description": "How often it was missed."},
          "first": {"type": "string", "description": "Such as 2026-01-31T23:59:59.123Z."},
          "last": {"type": "string", "description": "Such as 2026-01-31T23:59:59.123Z."},
          "input": {"type": "string", "description": "The input that read it last."}
        },
        "required": ["code", "count", "first", "last", "input"],
        "additionalProperties": false
      },
      "Misses": {
        "type": "object",
        "properties": {
          "misses": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/Miss"},
            "description": "The last missed first."
          }
        },
        "required": ["misses"],
        "additionalProperties": false
      },
      "Removed": {
        "type": "object",
        "properties": {"removed": {"type": "integer", "description": "How many there were."}},
        "required": ["removed"],
        "additionalProperties": false
      },
      "Queue": {
        "type": "object",
        "description": "What the queue holds, and since it came into being what became of what it held.",
        "properties": {
          "waiting": {"type": "integer"},
          "sending": {"type": "integer"},
          "parked": {"type": "integer"},
          "bytes": {"type": "integer", "description": "Of the payloads of these."},
          "enqueued": {"type": "integer"},
          "delivered": {"type": "integer"},
          "superseded": {"type": "integer"},
          "dropped": {"type": "integer"},
          "refused": {"type": "integer"},
          "expired": {"type": "integer"},
          "removed": {"type": "integer"},
          "paused": {
            "type": "array",
            "items": {"type": "string", "enum": ["byHand", "unreachable"]},
            "description": "Why the queue stands still; empty where it goes."
          }
        },
        "required": [
          "waiting",
          "sending",
          "parked",
          "bytes",
          "enqueued",
          "delivered",
          "superseded",
          "dropped",
          "refused",
          "expired",
          "removed",
          "paused"
        ],
        "additionalProperties": false
      },
      "Upload": {
        "type": "object",
        "description": "One thing that waits to be sent.",
        "properties": {
          "id": {"type": "string", "description": "Sent with every attempt as Idempotency-Key."},
          "kind": {"type": "string"},
          "state": {"type": "string", "enum": ["waiting", "sending", "parked"]},
          "priority": {"type": "string", "enum": ["low", "normal", "high"]},
          "orderKey": {"type": ["string", "null"], "description": "Uploads with the same one go one after another."},
          "replaceKey": {"type": ["string", "null"]},
          "created": {"type": "string"},
          "notBefore": {"type": "string"},
          "expires": {"type": ["string", "null"]},
          "attempts": {"type": "integer"},
          "lastError": {
            "description": "Why the last attempt failed.",
            "oneOf": [
              {
                "type": "object",
                "properties": {"status": {"type": ["integer", "null"]}, "message": {"type": "string"}},
                "required": ["status", "message"],
                "additionalProperties": false
              },
              {"type": "null"}
            ]
          },
          "payload": {"description": "What is sent: a JSON value, or the path, bytes and sha256 of a file."}
        },
        "required": [
          "id",
          "kind",
          "state",
          "priority",
          "orderKey",
          "replaceKey",
          "created",
          "notBefore",
          "expires",
          "attempts",
          "lastError",
          "payload"
        ],
        "additionalProperties": false
      },
      "Uploads": {
        "type": "object",
        "properties": {
          "uploads": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/Upload"},
            "description": "The first enqueued first."
          },
          "truncated": {"type": "boolean", "description": "Whether the list was cut at 8 MiB."}
        },
        "required": ["uploads", "truncated"],
        "additionalProperties": false
      },
      "Retried": {
        "type": "object",
        "properties": {"retried": {"type": "integer", "description": "How many were parked."}},
        "required": ["retried"],
        "additionalProperties": false
      },
      "SignIn": {
        "type": "object",
        "properties": {"user": {"type": "string", "description": "1 to 255 bytes.", "minLength": 1}},
        "required": ["user"]
      },
      "User": {
        "type": "object",
        "properties": {"user": {"type": ["string", "null"], "description": "Null where nobody is signed in."}},
        "required": ["user"],
        "additionalProperties": false
      },
      "OpenSession": {
        "type": "object",
        "properties": {
          "name": {"type": ["string", "null"], "description": "For people. At most 200 bytes."},
          "input": {
            "type": ["string", "null"],
            "description": "Scans of this input count for the session until it is closed, or another one takes the input.",
            "pattern": "^[A-Za-z0-9_.-]{1,64}$"
          }
        }
      },
      "AddScans": {
        "oneOf": [
          {
            "type": "object",
            "properties": {"code": {"type": "string", "minLength": 1}, "codes": {"type": "null"}},
            "required": ["code"]
          },
          {
            "type": "object",
            "properties": {
              "code": {"type": "null"},
              "codes": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
                "maxItems": 1000
              }
            },
            "required": ["codes"]
          }
        ]
      },
      "SetCompletion": {
        "type": "object",
        "description": "What the scans of a session make.",
        "properties": {
          "products": {
            "type": "object",
            "additionalProperties": {"type": "integer"},
            "description": "How often each product was scanned, by id."
          },
          "unknown": {"type": "array", "items": {"type": "string"}, "description": "Codes that found nothing."},
          "complete": {
            "type": "object",
            "additionalProperties": {"type": "integer"},
            "description": "How often each set is whole, by its id."
          },
          "incomplete": {
            "type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": {"type": "integer"}},
            "description": "What each set that was begun lacks: components by id, and how many of them."
          },
          "faults": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
            "description": "What is wrong with a set's own data."
          },
          "repeated": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Codes of single pieces that were scanned again."
          }
        },
        "required": ["products", "unknown", "complete", "incomplete"],
        "additionalProperties": false
      },
      "SetSession": {
        "type": "object",
        "description": "A set that is being put together.",
        "properties": {
          "id": {"type": "string"},
          "name": {"type": ["string", "null"]},
          "input": {"type": ["string", "null"]},
          "created": {"type": "string", "description": "Such as 2026-01-31T23:59:59.123Z."},
          "closed": {"type": "boolean"},
          "codes": {"type": "array", "items": {"type": "string"}},
          "completion": {"$ref": "#/components/schemas/SetCompletion"}
        },
        "required": ["id", "name", "input", "created", "closed", "codes", "completion"],
        "additionalProperties": false
      },
      "SetSessions": {
        "type": "object",
        "properties": {
          "sessions": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/SetSession"},
            "description": "The youngest first."
          },
          "truncated": {"type": "boolean", "description": "Whether the list was cut at 8 MiB."}
        },
        "required": ["sessions", "truncated"],
        "additionalProperties": false
      }
    }
    """#
}
