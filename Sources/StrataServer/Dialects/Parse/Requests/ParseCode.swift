#if Server
    /// The error codes of Parse.
    enum ParseCode: Int {
        case internalServer = 1
        case objectNotFound = 101
        case invalidQuery = 102
        case invalidClassName = 103
        case invalidKeyName = 105
        case invalidPointer = 106
        case invalidJSON = 107
        case commandUnavailable = 108
        case incorrectType = 111
        case objectTooLarge = 116
        case operationForbidden = 119
        case invalidFileName = 122
        case invalidACL = 123
        case timeout = 124
        case duplicateValue = 137
        case cloudCodeFailed = 141
        case cloudCodeNotDeployed = 143
        case tooMany = 154
        case rateLimited = 155
        case usernameMissing = 200
        case passwordMissing = 201
        case usernameTaken = 202
        case emailMissing = 204
        case sessionMissing = 206
        case mustCreateThroughSignUp = 207
        case accountAlreadyLinked = 208
        case invalidSession = 209
        case passwordMismatch = 210
        case unsupportedService = 252
        case invalidAuthData = 253
        /// The object is not in the version that the sender expects: an extension.
        case changed = 412

        /// The failure with this code.
        func error(_ message: String, status: Int = 400) -> ServerError {
            var error = ServerError(status, message)
            error.code = rawValue
            return error
        }
    }

    extension ParseService {
        /// The code of a failure that the core found.
        private func code(of error: ServerError) -> Int {
            switch error.cause {
            case .session: variant.codes.session
            case .credentials, .temporaryPassword: variant.codes.credentials.code
            case .authorization, .nobodyMay: ParseCode.operationForbidden.rawValue
            case .noSchema: ParseCode.invalidClassName.rawValue
            case .noObject: ParseCode.objectNotFound.rawValue
            case .noField, .fixedKey: ParseCode.invalidKeyName.rawValue
            case .wrongType: ParseCode.incorrectType.rawValue
            case .duplicateKey, .duplicateValue: ParseCode.duplicateValue.rawValue
            case .malformed: ParseCode.invalidJSON.rawValue
            case .changed: ParseCode.changed.rawValue
            case .other: code(ofStatus: error.status)
            }
        }

        private func code(ofStatus status: Int) -> Int {
            switch status {
            case 429, 503: variant.codes.rateLimited
            case 401, 403, 412: ParseCode.operationForbidden.rawValue
            case 404, 410: ParseCode.objectNotFound.rawValue
            case 405: ParseCode.commandUnavailable.rawValue
            case 408: ParseCode.timeout.rawValue
            case 409: ParseCode.duplicateValue.rawValue
            case 413: ParseCode.objectTooLarge.rawValue
            case 501: ParseCode.unsupportedService.rawValue
            case 500...: ParseCode.internalServer.rawValue
            default: ParseCode.incorrectType.rawValue
            }
        }

        /// The status of a failure: the protocol has 400 for most, and 404 for objects that are not there.
        private func status(of error: ServerError) -> Int {
            switch error.cause {
            case .authorization, .nobodyMay: 403
            case .session: 400
            case .credentials, .temporaryPassword: variant.codes.credentials.status
            case .noSchema, .duplicateKey, .duplicateValue: 400
            default: error.status == 409 ? 400 : error.status
            }
        }

        func failure(_ error: ServerError) -> ServerResponse {
            if error.cause == .changed, let unmet = variant.unmet { return ServerResponse(json: .object(unmet)) }
            return ServerResponse(status: status(of: error), json: .object(failureBody(error)), headers: error.headers)
        }

        /// What an answer says of a failure. The words of the core that name passwords and names alike are the same whichever
        /// is wrong.
        func failureBody(_ error: ServerError) -> JSONObject {
            let text = error.cause == .credentials ? variant.credentialsMessage ?? error.message : error.message
            return ["code": .integer(Int64(error.code ?? code(of: error))), "error": .string(text)]
        }
    }
#endif
