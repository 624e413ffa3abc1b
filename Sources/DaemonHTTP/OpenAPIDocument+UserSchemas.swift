extension OpenAPIDocument {
  /// What is taken and answered: who is signed in.
  static let userSchemas = #"""
    {
      "SignIn": {
        "type": "object",
        "properties": {"user": {"type": "string", "description": "1 to 255 bytes.", "minLength": 1, "maxLength": 255}},
        "required": ["user"]
      },
      "User": {
        "type": "object",
        "properties": {"user": {"type": ["string", "null"], "description": "Null where nobody is signed in."}},
        "required": ["user"],
        "additionalProperties": false
      }
    }
    """#
}
