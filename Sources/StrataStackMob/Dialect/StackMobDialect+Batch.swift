import Foundation

extension StackMobDialect {
    /// The requests that an operation in a batch is made of: one for each object or change of members.
    private func batchSteps(of operation: RemoteOperation) throws(RemoteError) -> [RemoteOperation] {
        switch operation {
        case .create(let entity, let writes): return writes.map { .create(entity: entity, [$0]) }
        case .update, .delete: return [operation]
        case .relate(let entity, let relation): return relation.parts.map { .relate(entity: entity, $0) }
        default: throw StackMobError.unsupported("a batch is made of writes")
        }
    }

    /// One request with several writes in it. The standing headers and the signature are those of the whole.
    func batchRequest(_ operations: [RemoteOperation], _ options: RequestOptions) throws(RemoteError) -> WireRequest {
        var text = Data("{\"requests\":[".utf8)
        let schemas = KnownSchemas()
        var isFirst = true
        var isSecure = false
        for operation in operations {
            for step in try batchSteps(of: operation) {
                let request = try self.request(for: step, options: RequestOptions(), schemas)
                isSecure = isSecure || request.head.scheme == "https"
                if !isFirst { text.append(UInt8(ascii: ",")) }
                isFirst = false
                text.append(try Self.batchElement(request))
            }
        }
        text.append(contentsOf: "]}".utf8)
        var request = try dataRequest(.post, "/_batch", secure: isSecure, options: options)
        request.body = text
        return request
    }

    /// A request as JSON. Its body is JSON as it stands.
    private static func batchElement(_ request: WireRequest) throws(RemoteError) -> Data {
        let headers = request.head.headerFields
            .filter { ![.accept, .apiKey, .userAgent, .contentType].contains($0.name) }
            .map { (name: $0.name.rawName, value: JSONValue.string($0.value)) }
        let rest = try body([
            "headers": .object(JSONObject(headers)),
            "method": .string(request.head.method.rawValue), "path": .string(request.head.path ?? "/"),
        ])
        guard let body = request.body else { return rest }
        return Data("{\"body\":".utf8) + body + Data(",".utf8) + rest.dropFirst()
    }

    /// What became of the writes of a batch: one outcome for each object, and one for each change of members, which has
    /// failed if a part of it has.
    func batchOutcomes(
        _ response: WireResponse, _ operations: [RemoteOperation]
    ) throws(RemoteError) -> [RemoteOutcome] {
        if let failure = failure(response) { throw failure }
        let answers = try json(response).elements ?? []
        let schemas = KnownSchemas()
        var place = 0
        var outcomes: [RemoteOutcome] = []
        for operation in operations {
            var own: [RemoteOutcome] = []
            for step in try batchSteps(of: operation) {
                guard place < answers.count, let status = answers[place]["status"]?.integer,
                    (100..<600).contains(status)
                else {
                    throw invalidAnswer("the answer to a batch has too few members, or one without status", response)
                }
                let told = answers[place]["body"]
                place += 1
                // The text is only of use for what failed.
                let part = WireResponse(
                    HTTPResponse(status: .init(code: Int(status))),
                    body: (200..<300).contains(status) ? Data() : told.flatMap { try? $0.data() } ?? Data())
                do throws(RemoteError) {
                    own += try self.outcomes(part, told, to: step, schemas)
                } catch {
                    own += Self.identities(of: step).map { identity in
                        var error = error
                        error.identity = identity
                        return .failed(error)
                    }
                }
            }
            if case .relate = operation {
                let failed = own.first { if case .failed = $0 { true } else { false } }
                outcomes.append(failed ?? own.last ?? .done(nil))
            } else {
                outcomes += own
            }
        }
        return outcomes
    }
}
