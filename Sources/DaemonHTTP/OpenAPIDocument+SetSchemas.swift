extension OpenAPIDocument {
  /// What is taken and answered: sets that are being put together.
  static let setSchemas = #"""
    {
      "OpenSession": {
        "type": "object",
        "properties": {
          "name": {"type": ["string", "null"], "description": "For people. At most 200 bytes.", "maxLength": 200},
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
            "properties": {
              "code": {"type": "string", "description": "1 to 4096 bytes.", "minLength": 1, "maxLength": 4096},
              "codes": {"type": "null"}
            },
            "required": ["code"]
          },
          {
            "type": "object",
            "properties": {
              "code": {"type": "null"},
              "codes": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 4096},
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
