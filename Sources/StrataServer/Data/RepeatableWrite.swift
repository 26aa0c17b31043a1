#if Server
    import Crypto
    import Foundation
    import Strata

    /// A write that is carried out once, however often its request comes: its answer is kept, and another request with the
    /// same `Idempotency-Key` gets that answer. Failures are not kept.
    struct RepeatableWrite: Sendable {
        private let key: String
        private let fingerprint: String
        /// How long the answer is kept, in milliseconds.
        private let lifetime: Int64

        /// - Parameters:
        ///   - target: Path and query as the dialect compares them: a client may repeat a write of a batch on its own.
        ///   - body: The body as JSON; a client may spell the same body otherwise. nil for any other body.
        /// - Returns: nil for a request without the header.
        /// - Throws: ``ServerError`` 400 for a key that is empty or longer than 255 bytes.
        init?(
            _ request: ServerRequest, method: String? = nil, target: @autoclosure () -> String,
            body: @autoclosure () -> JSONValue?, caller: Caller,
            _ options: ServerOptions
        ) throws(ServerError) {
            guard let given = request.header(IdempotencyKey.header) else { return nil }
            guard (1...255).contains(given.utf8.count) else {
                throw .badRequest("\(IdempotencyKey.header) has 1 to 255 bytes.")
            }
            // Keys are each account's own.
            let principal = caller.principal
            let owner = principal.account?.owner ?? (principal.hasPrivateKey ? "*" : "")
            key = "\(owner.utf8.count)|\(owner)|\(given)"
            lifetime = Int64(options.storage.answerLifetime) * 1000
            var hash = SHA256()
            hash.update(data: Data("\(method ?? request.method) \(target())\n".utf8))
            let secrets = Set(options.accountSchemas.map(\.passwordField)).union(["password", "authData"])
            let text = try? body()?.withoutMembers(secrets).stored()
            hash.update(data: text.map { Data($0.utf8) } ?? request.body)
            fingerprint = Hexadecimal.text(hash.finalize())
        }

        /// The write with its answer kept.
        func once(_ write: @escaping ObjectWrite) -> ObjectWrite {
            { (scope) throws(ServerError) in
                if let answer = try answer(scope) { return answer }
                let response = try write(scope)
                try keep(response, scope)
                return response
            }
        }

        /// The answer of the first time; nil if this is the first time.
        /// - Throws: ``ServerError`` 409 if the key belongs to another request.
        func answer(_ scope: DataScope) throws(ServerError) -> ServerResponse? {
            guard let row = try scope.find("ServerAnswer", ("key", key)) else { return nil }
            guard row.text("fingerprint") == fingerprint else {
                throw .conflict("The \(IdempotencyKey.header) was used for another request.")
            }
            // Files of older servers do not have the headers.
            let kept = JSONValue.ofStored(row.text("headers"))?.members
            let headers = kept?.compactMap { header in header.value.string.map { (name: header.name, value: $0) } }
            return ServerResponse(
                status: Int(row["status"] as? Int32 ?? 200),
                headers: headers ?? [(name: "Content-Type", value: "application/json")],
                body: Data((row.text("body") ?? "").utf8))
        }

        /// Keeps an answer.
        func keep(_ response: ServerResponse, _ scope: DataScope) throws(ServerError) {
            let row = try scope.insert("ServerAnswer")
            row["key"] = key
            scope.register(row, key)
            row["fingerprint"] = fingerprint
            row["status"] = Int32(clamping: response.status)
            let headers = JSONObject(response.headers.map { (name: $0.name, value: JSONValue.string($0.value)) })
            row["headers"] = try JSONValue.object(headers).stored()
            row["body"] = String(decoding: response.body, as: UTF8.self)
            row["created"] = scope.now
            scope.remembersAnswer(expired: scope.now - lifetime)
        }
    }

    extension JSONValue {
        /// The value without the members that have one of the given names, at any depth. A digest of a password would be easier to guess than the
        /// hash that is kept of it.
        fileprivate func withoutMembers(_ names: Set<String>) -> JSONValue {
            switch self {
            case .array(let elements): .array(elements.map { $0.withoutMembers(names) })
            case .object(let members):
                .object(
                    JSONObject(
                        members.filter { !names.contains($0.name) }.map {
                            (name: $0.name, value: $0.value.withoutMembers(names))
                        }))
            default: self
            }
        }
    }
#endif
