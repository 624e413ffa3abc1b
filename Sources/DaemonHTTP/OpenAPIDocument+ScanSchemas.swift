extension OpenAPIDocument {
  /// What is taken and answered: scans and what was missed.
  static let scanSchemas = #"""
    {
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
          "code": {
            "type": "string",
            "description": "The code as it was scanned. If it could not be decoded: printable ASCII as it is, every other byte as \\xFF."
          },
          "hex": {
            "type": "string",
            "description": "The bytes of a code that could not be decoded, which matches nothing; absent for others."
          },
          "match": {
            "type": "string",
            "description": "How the code was matched. With a reason, none and unreadable say nothing of the product.",
            "enum": ["exact", "gtin", "gs1", "gs1-content", "digital-link", "head", "none", "unreadable"]
          },
          "reason": {
            "type": "string",
            "description": "Why the catalogue could not be asked: no catalogue (nobody is signed in, or nothing was ever synchronised), or why it cannot be read."
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
          "rematches": {
            "type": "string",
            "description": "The id of an earlier answer to this scan, when the catalogue could not be asked. Only in events and uploads, with the setting rematch."
          },
          "repeats": {
            "type": "string",
            "description": "The id of the scan that this one repeats; nothing was recorded then."
          },
          "recorded": {
            "type": "boolean",
            "description": "Whether everything that is kept of the scan was durable before this answer: its uploads, its entry in a set session and, where it found nothing, the one in the miss journal. False without a problem where no webhook wants the scan and no open session has its input (a miss is then entered after the answer), where it repeats a scan, and where the code was only looked up."
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
          "code": {"type": "string", "description": "1 to 4096 bytes.", "minLength": 1, "maxLength": 4096},
          "input": {
            "type": ["string", "null"],
            "description": "Instead of the request's. 1 to 64 letters, digits, -, _ and .",
            "default": "http",
            "pattern": "^[A-Za-z0-9_.-]{1,64}$"
          },
          "tag": {
            "type": ["string", "null"],
            "description": "Comes back with the answer. At most 4096 bytes.",
            "maxLength": 4096
          }
        },
        "required": ["code"]
      },
      "ScanRequest": {
        "description": "One code, or up to 1000. input and tag hold for all that name none of their own.",
        "oneOf": [
          {
            "type": "object",
            "properties": {
              "code": {"type": "string", "minLength": 1, "maxLength": 4096},
              "codes": {"type": "null"},
              "scans": {"type": "null"},
              "input": {"type": ["string", "null"], "pattern": "^[A-Za-z0-9_.-]{1,64}$"},
              "tag": {"type": ["string", "null"], "maxLength": 4096}
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
                "items": {"type": "string", "minLength": 1, "maxLength": 4096},
                "minItems": 1,
                "maxItems": 1000
              },
              "input": {"type": ["string", "null"], "pattern": "^[A-Za-z0-9_.-]{1,64}$"},
              "tag": {"type": ["string", "null"], "maxLength": 4096}
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
              "tag": {"type": ["string", "null"], "maxLength": 4096}
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
      }
    }
    """#
}
