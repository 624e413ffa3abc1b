import ScanDaemon

extension OpenAPIDocument {
  private static let problemCodes = ProblemCode.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")

  /// What is taken and answered: state.
  static let stateSchemas = #"""
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
            "description": "Lines that were refused or could not be decoded, and answers that were lost, by the kind of fault."
          },
          "lastScan": {"type": ["string", "null"], "description": "Such as 2026-01-31T23:59:59.123Z."},
          "connections": {"type": "integer", "description": "Clients that are connected, where clients connect."},
          "maximumConnections": {"type": ["integer", "null"], "description": "How many may be."},
          "refusedConnections": {
            "type": "integer",
            "description": "Connections that were refused: there were too many, or the address is not allowed."
          }
        },
        "required": ["name", "state", "message", "since", "scans", "misses", "repeats", "faults", "lastScan"],
        "additionalProperties": false
      },
      "Problem": {
        "type": "object",
        "description": "What does not work now.",
        "properties": {
          "code": {"type": "string", "description": "For programs.", "enum": [\#(problemCodes)]},
          "about": {"type": ["string", "null"], "description": "The webhook, input or user that has the problem."},
          "message": {"type": "string", "description": "What happened, for people."},
          "remedy": {"type": "string", "description": "What to do about it."},
          "since": {"type": "string", "description": "Such as 2026-01-31T23:59:59.123Z."},
          "count": {"type": "integer", "description": "How often it came up."}
        },
        "required": ["code", "about", "message", "remedy", "since", "count"],
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
      "NetworkState": {
        "type": "object",
        "description": "What the system said of its interfaces, addresses and routes.",
        "properties": {
          "watched": {
            "type": "boolean",
            "description": "Whether it is listened to: what failed goes at once when the network comes back."
          },
          "returns": {"type": "integer", "description": "How often the network came back since the daemon started."},
          "lastReturn": {"type": ["string", "null"], "description": "Such as 2026-01-31T23:59:59.123Z."}
        },
        "required": ["watched", "returns", "lastReturn"],
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
          "ready": {"type": "boolean", "description": "Whether there is a catalogue, and it can be read."},
          "user": {"type": ["string", "null"], "description": "Who is signed in."},
          "catalogue": {
            "description": "Null where it cannot be read; problems say why.",
            "oneOf": [{"$ref": "#/components/schemas/CatalogueState"}, {"type": "null"}]
          },
          "sync": {"$ref": "#/components/schemas/SyncState"},
          "network": {"$ref": "#/components/schemas/NetworkState"},
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
          "network",
          "queue",
          "webhooks",
          "inputs",
          "sessionsOpen",
          "eventListeners",
          "scansPerSecond",
          "problems"
        ],
        "additionalProperties": false
      }
    }
    """#
}
