extension OpenAPIDocument {
  /// What can be asked for: who is signed in.
  static let userPaths = #"""
    {
      "/v1/session": {
        "get": {
          "operationId": "user",
          "tags": ["users"],
          "summary": "Who is signed in",
          "responses": {
            "200": {
              "description": "Who.",
              "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/User"}, "example": {"user": "ana"}}
              }
            },
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        },
        "post": {
          "operationId": "signIn",
          "tags": ["users"],
          "summary": "Signs a user in, in the place of whoever is",
          "requestBody": {
            "required": true,
            "content": {
              "application/json": {"schema": {"$ref": "#/components/schemas/SignIn"}, "example": {"user": "ana"}}
            }
          },
          "responses": {
            "200": {
              "description": "Who is signed in now.",
              "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/User"}, "example": {"user": "ana"}}
              }
            },
            "400": {"$ref": "#/components/responses/BadRequest"},
            "503": {"$ref": "#/components/responses/Unavailable"},
            "default": {"$ref": "#/components/responses/Error"}
          }
        },
        "delete": {
          "operationId": "signOut",
          "tags": ["users"],
          "summary": "Signs out who is signed in",
          "responses": {
            "200": {
              "description": "Nobody is signed in.",
              "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/User"}, "example": {"user": null}}
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
