#if Server
    /// Parse Server.
    struct ParseServerVariant: ParseVariant {
        let headerFamilies = ["X-Parse"]
        let accepted: JSONObject = [:]
        let written: JSONObject = [:]
        let statusOfDeletedFile = 200
        let repeatsSession = true
        let codes = ParseVariantCodes(
            noSession: ParseCode.invalidSession.rawValue, session: ParseCode.invalidSession.rawValue,
            credentials: (ParseCode.objectNotFound.rawValue, 404), rateLimited: ParseCode.rateLimited.rawValue)
        let noSessionMessage = "Invalid session token"
        let credentialsMessage: String? = "Invalid username/password."
        let unmet: JSONObject? = nil

        func file(named request: ServerRequest) -> String? { nil }

        func limit(_ asked: Int?, usual: Int, maximum: Int) -> Int { min(asked ?? usual, maximum) }

        func answer(_ call: ParseCall, _ service: ParseService) async throws(ServerError) -> ServerResponse? {
            switch (call.method, call.segments.first ?? "", call.segments.count) {
            case ("GET", "schemas", 1...2): try await service.schemas(call, call.segments.dropFirst().first)
            default: nil
            }
        }

        func created(_ members: JSONObject, at path: String) -> ServerResponse {
            ServerResponse(status: 201, json: .object(members), headers: [("Location", path)])
        }

        func wrapped(_ result: JSONValue, as name: String) -> JSONValue { .object([name: result]) }
    }
#endif
