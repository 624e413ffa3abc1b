extension OpenAPIDocument {
  /// What is taken and answered: what waits to be sent.
  static let queueSchemas = #"""
    {
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
            "description": "Why the queue is paused; empty if it is not."
          },
          "heldKeys": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/HeldKey"},
            "description": "The order keys that parked uploads hold."
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
          "paused",
          "heldKeys"
        ],
        "additionalProperties": false
      },
      "HeldKey": {
        "type": "object",
        "description": "An order key whose uploads wait until somebody retries or drops the parked one that holds it.",
        "properties": {
          "orderKey": {"type": "string"},
          "kind": {"type": "string", "description": "What the parked upload is: the name of a webhook."},
          "upload": {"type": "string", "description": "The id of the first parked upload that holds the key."},
          "parked": {"type": "integer", "description": "How many hold it."},
          "since": {"type": ["string", "null"], "description": "Such as 2026-01-31T23:59:59Z."},
          "message": {"type": ["string", "null"], "description": "Why that upload is parked."}
        },
        "required": ["orderKey", "kind", "upload", "parked", "since", "message"],
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
          "parked": {"type": ["string", "null"], "description": "When it was parked, such as 2026-01-31T23:59:59Z."},
          "holdsKey": {
            "type": "boolean",
            "description": "Whether it is parked and later uploads with its order key wait until somebody decides about it."
          },
          "payload": {"description": "What is sent: a JSON value, or the path, bytes and sha256 of a file."},
          "files": {
            "type": "array",
            "description": "The files that go with the JSON value in one request; absent without any.",
            "items": {
              "type": "object",
              "properties": {
                "name": {"type": "string", "description": "The name of the form's field."},
                "contentType": {"type": "string"},
                "file": {"type": "string", "description": "The path."},
                "bytes": {"type": "integer"},
                "sha256": {"type": "string"}
              },
              "required": ["name", "contentType", "file", "bytes", "sha256"],
              "additionalProperties": false
            }
          }
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
          "parked",
          "holdsKey",
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
      "Retry": {
        "type": "object",
        "properties": {
          "states": {
            "type": ["array", "null"],
            "items": {"type": "string", "enum": ["parked", "waiting"]},
            "minItems": 1,
            "default": ["parked"],
            "description": "Which uploads: those that are parked, those that wait for their next attempt because one failed."
          }
        }
      },
      "Retried": {
        "type": "object",
        "properties": {
          "retried": {"type": "integer", "description": "How many were parked, or waited because an attempt had failed."}
        },
        "required": ["retried"],
        "additionalProperties": false
      }
    }
    """#
}
