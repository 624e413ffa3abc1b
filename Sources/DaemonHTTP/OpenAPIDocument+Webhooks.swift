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
            "description": "Sent to each URL of the configuration (webhooks.NAME.url) that wants the scan, at least once, and in the order of each input. A receiver tells a repetition by Idempotency-Key or webhook-id.",
            "operationId": "receiveScan",
            "parameters": [
              {
                "name": "Idempotency-Key",
                "in": "header",
                "required": true,
                "description": "The id of the upload: the same at each attempt.",
                "schema": {"type": "string"}
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
                "description": "With a secret (webhooks.NAME.secretFile): the id that is signed, which is that of Idempotency-Key.",
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
            ],
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
        }
      }
    }
    """#
  }
}
