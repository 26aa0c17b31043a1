#if Server
    /// MaxLeap, whose requests are Parse's of 2015 with a few of its own.
    struct MaxLeapVariant: ParseVariant {
        /// The service was called LAS, and ZCloud before that. Its clients under each name are still around.
        let headerFamilies = ["X-ML", "X-LAS", "X-ZCloud", "X-Parse"]
        let accepted: JSONObject = ["success": true]
        let written: JSONObject = ["number": 1]
        let statusOfDeletedFile = 204
        let repeatsSession = false
        let codes = ParseVariantCodes(
            noSession: ParseCode.sessionMissing.rawValue, session: 160,
            credentials: (ParseCode.passwordMismatch.rawValue, 400), rateLimited: 503)
        let noSessionMessage = "There is no session."
        let credentialsMessage: String? = nil
        /// A write says how many objects it changed.
        let unmet: JSONObject? = ["number": 0]

        func file(named request: ServerRequest) -> String? {
            request.header("X-ML-Fid") ?? request.header("X-LAS-Fid")
        }

        /// The service takes a number that it does not allow for none.
        func limit(_ asked: Int?, usual: Int, maximum: Int) -> Int {
            guard let asked, (0...2000).contains(asked) else { return usual }
            return min(asked, maximum)
        }

        func answer(_ call: ParseCall, _ service: ParseService) async throws(ServerError) -> ServerResponse? {
            switch (call.method, call.segments.first ?? "", call.segments.count) {
            case ("POST", "updatePassword", 1): try await service.updatePassword(call)
            default: nil
            }
        }

        func created(_ members: JSONObject, at path: String) -> ServerResponse {
            ServerResponse(json: .object(members))
        }

        func wrapped(_ result: JSONValue, as name: String) -> JSONValue { result }
    }

    extension ParseService {
        /// `POST updatePassword`: the old password, and the new one.
        fileprivate func updatePassword(_ call: ParseCall) async throws(ServerError) -> ServerResponse {
            let account = try user(call)
            guard let old = call.body["password"]?.string, let new = call.body["newPassword"]?.string, !new.isEmpty
            else { throw ParseCode.passwordMissing.error("password and newPassword are required") }
            guard try await server.isPassword(old, of: account.id, account.schema, call.caller) else {
                throw ParseCode.passwordMismatch.error("The old password is wrong.")
            }
            try await server.changePassword(of: account, to: new, call.caller)
            return ServerResponse(json: ["number": 1, "updatedAt": ParseEncoder.time(server.clock.milliseconds)])
        }
    }
#endif
