extension OpenAPIDocument {
  /// What can be asked for: scans, what was missed, what happens.
  static let scanPaths = #"""
    {
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
              "schema": {"type": "string", "pattern": "^([0-9A-Fa-f]{1,16}-[0-9]{1,19})?$"}
            },
            {
              "name": "lastEventId",
              "in": "query",
              "description": "The same, for those who cannot set a header.",
              "schema": {"type": "string", "pattern": "^([0-9A-Fa-f]{1,16}-[0-9]{1,19})?$"}
            },
            {
              "name": "kinds",
              "in": "query",
              "description": "Only these kinds of event, with commas between them. Gaps always come.",
              "schema": {
                "type": "string",
                "pattern": "^(scan|session|sync|user|input|gap)(,(scan|session|sync|user|input|gap))*$"
              },
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
              "schema": {"type": "string", "minLength": 1, "maxLength": 4096},
              "example": "6901234567892"
            }
          ],
          "responses": {
            "200": {
              "description": "The answer; match is none where nothing was found.",
              "content": {
                "application/json": {
                  "schema": {"$ref": "#/components/schemas/ScanAnswer"},
                  "example": \#(exampleScanAnswer(isRecorded: false))
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
                  "example": \#(exampleScanAnswer)
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
