import Foundation

extension StackMobDialect {
    /// The requests that an operation in a batch is made of: one for each object or change of members.
    private func batchSteps(of operation: RemoteOperation) throws(RemoteError) -> [RemoteOperation] {
        switch operation {
        case .create(let entity, let writes): return writes.map { .create(entity: entity, [$0]) }
        case .update, .delete: return [operation]
        case .relate(let entity, let relation): return Self.parts(of: relation).map { .relate(entity: entity, $0) }
        default: throw StackMobError.unsupported("a batch is made of writes")
        }
    }

    /// One request with several writes in it. The standing headers and the signature are those of the whole.
    func batchRequest(_ operations: [RemoteOperation], _ options: RequestOptions) throws(RemoteError) -> WireRequest {
        var requests: [JSONValue] = []
        var isSecure = false
        for operation in operations {
            for step in try batchSteps(of: operation) {
                let request = try self.request(for: step, options: RequestOptions())
                isSecure = isSecure || request.head.scheme == "https"
                var members: [String: JSONValue] = [
                    "method": .string(request.head.method.rawValue), "path": .string(request.head.path ?? "/"),
                ]
                let headers = request.head.headerFields
                    .filter { ![.accept, .apiKey, .userAgent, .contentType].contains($0.name) }
                    .map { ($0.name.rawName, JSONValue.string($0.value)) }
                members["headers"] = .object(Dictionary(headers, uniquingKeysWith: { $1 }))
                if let body = request.body {
                    do throws(JSONError) {
                        members["body"] = try JSONValue(body)
                    } catch {
                        throw StackMobError.invalid("\(error)")
                    }
                }
                requests.append(.object(members))
            }
        }
        return try dataRequest(
            .post, "/_batch", json: ["requests": .array(requests)], secure: isSecure, options: options)
    }

    /// What became of the writes of a batch: one outcome for each object, and one for each change of members, which has
    /// failed if a part of it has.
    func batchOutcomes(
        _ response: WireResponse, _ operations: [RemoteOperation]
    ) throws(RemoteError) -> [RemoteOutcome] {
        if let failure = failure(response) { throw failure }
        let answers = try json(response).elements ?? []
        var place = 0
        var outcomes: [RemoteOutcome] = []
        for operation in operations {
            var own: [RemoteOutcome] = []
            for step in try batchSteps(of: operation) {
                guard place < answers.count, let status = answers[place]["status"]?.whole, (100..<600).contains(status)
                else {
                    throw invalidAnswer("the answer to a batch has too few members, or one without status", response)
                }
                let body = answers[place]["body"]?.data ?? Data()
                place += 1
                let part = WireResponse(HTTPResponse(status: .init(code: Int(status))), body: body)
                do throws(RemoteError) {
                    own += try self.outcomes(part, to: step)
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
