extension OpenAPIDocument {
  /// What the daemon sends by itself: the requests of webhooks.
  static func webhooks(_ security: Security) -> String {
    #"""
    {
      "webhooks": {
        "scan": {
          "post": {
            \#(security.exception(isAsked: false))
            "tags": ["scans"],
            "summary": "A scan was answered",
            "description": "Sent to each URL of the configuration (webhooks.NAME.url) that wants the scan, at least once, and in the order of each input. A receiver tells a repetition by Idempotency-Key or webhook-id. With webhooks.NAME.batch.maximum the webhook scans comes instead.",
            "operationId": "receiveScan",
            "parameters": \#(webhookHeaders(id: "The id of the upload: the same at each attempt.", #"{"type": "string"}"#)),
            "requestBody": {
              "required": true,
              "description": "The answer to the scan.",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ScanAnswer"}}}
            },
            "responses": {
              "2XX": {"description": "The scan has arrived, and is not sent again."},
              "default": {"description": "It has not: what is sent again, and when, is in the documentation of webhooks."}
            }
          }
        },
        "scans": {
          "post": {
            \#(security.exception(isAsked: false))
            "tags": ["scans"],
            "summary": "Scans of one input were answered",
            "description": "With webhooks.NAME.batch.maximum, consecutive scans of one input go to the URL of the webhook in one request, at least once, and in order; one that failed by itself is a batch of one. A receiver tells a repetition of a scan by the scan's id: a scan can come again in another batch, after a restart of the daemon or when only a part of a batch arrived. The next scans of the input wait for the answer.",
            "operationId": "receiveScans",
            "parameters": \#(
              webhookHeaders(
                id: "The id of the batch, made of its scans: the same when the same scans go together again.",
                #"{"type": "string", "pattern": "^batch-[0-9a-f]{32}$"}"#)),
            "requestBody": {
              "required": true,
              "description": "The answers to the scans, in their order, up to 4 MiB before they are packed. webhooks.NAME.batch.format says which of the two contents it is.",
              "content": {
                "application/x-ndjson": {
                  "schema": {
                    "type": "string",
                    "description": "For ndjson: a ScanAnswer on each line, and a line feed after each.",
                    "pattern": "^(\\{[^\\n]*\\}\\n)+$"
                  }
                },
                "application/json": {
                  "schema": {
                    "type": "array",
                    "description": "For array.",
                    "items": {"$ref": "#/components/schemas/ScanAnswer"},
                    "minItems": 1,
                    "maxItems": 10000
                  }
                }
              }
            },
            "responses": {
              "207": {
                "description": "Some scans may not have arrived. Without such a body, or where it names a scan that is not in the batch, all are sent again.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/BatchResult"}}}
              },
              "2XX": {
                "description": "All scans have arrived, and are not sent again; unless the body is a JSON object with failed or results, which is read as at 207. Where the body is cut off, slow, or too large to be read, all are sent again."
              },
              "default": {
                "description": "None has arrived. Where the status may be about one scan, such as 422 or 500, the batch is sent in halves, in order, until that scan is alone; it counts against that one only. Other statuses are as for a single scan."
              }
            }
          }
        }
      }
    }
    """#
  }

  /// The headers of a webhook's request, as an array of parameters.
  ///
  /// - Parameters:
  ///   - id: What the id is.
  ///   - schema: The schema of the id.
  private static func webhookHeaders(id: String, _ schema: String) -> String {
    #"""
    [
      {
        "name": "Idempotency-Key",
        "in": "header",
        "required": true,
        "description": "\#(id)",
        "schema": \#(schema)
      },
      {
        "name": "User-Agent",
        "in": "header",
        "description": "shelfmark-catalogd/ and the version, if the configuration's headers have no other one.",
        "schema": {"type": "string"},
        "example": "shelfmark-catalogd/0.1.0"
      },
      {
        "name": "webhook-id",
        "in": "header",
        "description": "With a secret (webhooks.NAME.secretFile): the id that is signed, which is that of Idempotency-Key. Of a batch the whole body is signed.",
        "schema": {"type": "string"}
      },
      {
        "name": "webhook-timestamp",
        "in": "header",
        "description": "With a secret: when this attempt was made, in seconds since 1970.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
        "example": "1614265330"
      },
      {
        "name": "webhook-signature",
        "in": "header",
        "description": "With a secret: v1, and the base64 of HMAC-SHA256 over ID.TIMESTAMP.BODY, as Standard Webhooks has it; the body as it was sent, packed if it was packed. Two signatures, separated by a space, while there is a former secret (webhooks.NAME.previousSecretFile): one that is valid is enough.",
        "schema": {"type": "string", "pattern": "^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)*$"},
        "example": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
      },
      {
        "name": "Content-Encoding",
        "in": "header",
        "description": "gzip where the configuration says so (webhooks.NAME.gzip).",
        "schema": {"type": "string", "enum": ["gzip"]}
      }
    ]
    """#
  }

  /// What a receiver answers.
  static let webhookSchemas = #"""
    {
      "BatchResult": {
        "type": "object",
        "description": "Which scans of a batch arrived. failed lists those that did not: all others arrived. Without failed, results lists scans with their status: those that it does not list are sent again.",
        "properties": {
          "failed": {"type": "array", "items": {"$ref": "#/components/schemas/ScanResult"}},
          "results": {"type": "array", "items": {"$ref": "#/components/schemas/ScanResult"}}
        },
        "anyOf": [{"required": ["failed"]}, {"required": ["results"]}],
        "example": {"failed": [{"id": "019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b", "status": 422, "message": "no such product"}]}
      },
      "ScanResult": {
        "type": "object",
        "description": "How one scan of a batch ended, named by its id or by its index.",
        "properties": {
          "id": {"type": "string", "description": "The id of the scan's answer. It counts where there is an index as well."},
          "index": {"type": "integer", "minimum": 0, "description": "The number of the scan in the batch, from 0."},
          "status": {
            "type": "integer",
            "default": 500,
            "description": "What the status of a request with this scan alone would be; it does not pause the webhook."
          },
          "message": {"type": "string", "description": "For people: it is kept as the last error of the upload."}
        },
        "anyOf": [{"required": ["id"]}, {"required": ["index"]}],
        "example": {"index": 7, "status": 503}
      }
    }
    """#
}
