import Foundation

/// The outcome of one request of a batch: the server's answer, or an error.
///
///     for outcome in try dialect.batchAnswer(response, count: 2) {
///         switch outcome {
///         case .done(let members): print(members["objectId"]?.string ?? "")
///         case .failed(let error): print(error.code, error.message)
///         }
///     }
///
/// ``MaxLeapDialect/batchAnswer(_:count:)`` reads them, in the order of the requests. The requests of a batch are independent:
/// one that fails does not undo the others. ``MaxLeapClient/saveAll(_:options:)`` uses it, and returns a result for each
/// object.
public enum MaxLeapBatchOutcome: Sendable, Hashable {
    /// What the server told.
    case done(JSONObject)
    /// Why it is not done.
    case failed(RemoteError)
}

extension MaxLeapDialect {
    /// What became of the requests of a batch, in order. Members of the answer are results as they stand, results or errors
    /// that are wrapped, or errors as they stand: servers differ.
    /// - Parameter count: How many requests there were.
    /// - Throws: ``RemoteError`` if the whole batch failed, or the answer has another number of members.
    public func batchAnswer(
        _ response: WireResponse, count: Int
    ) throws(RemoteError) -> [MaxLeapBatchOutcome] {
        if let failure = failure(response) { throw failure }
        guard let answers = try json(response).elements, answers.count == count else {
            throw invalidAnswer("the answer to a batch has not a member for each of \(count) requests", response)
        }
        return answers.map { answer in
            if let error = answer["error"], error.members != nil { return .failed(batchFailure(error)) }
            if answer["errorCode"]?.integer != nil || answer["code"]?.integer != nil && answer["error"]?.string != nil {
                return .failed(batchFailure(answer))
            }
            if let result = answer["success"]?.members { return .done(result) }
            // `{"success": true}` and the like.
            if answer["success"] != nil { return .done([:]) }
            guard let members = answer.members else {
                return .failed(invalidAnswer("an element of the answer to a batch is not an object", response))
            }
            return .done(members)
        }
    }

    private func batchFailure(_ error: JSONValue) -> RemoteError {
        let body = (try? error.data()) ?? Data()
        let status = 400
        let response = WireResponse(HTTPResponse(status: .init(code: status)), body: body)
        return failure(status, error, response) ?? invalidAnswer("an element of a batch is not an error", response)
    }

    /// What became of the writes of a batch: one outcome for each object, and one for each change of members, which has
    /// failed if a part of it has.
    func batchOutcomes(
        _ response: WireResponse, _ operations: [RemoteOperation]
    ) throws(RemoteError) -> [RemoteOutcome] {
        let steps = try batchSteps(of: operations)
        let answers = try batchAnswer(response, count: steps.reduce(0) { $0 + $1.count })
        let success = WireResponse(HTTPResponse(status: .ok))
        var place = 0
        var outcomes: [RemoteOutcome] = []
        for list in steps {
            var joined = RemoteOutcome.done(nil)
            for step in list {
                let one: RemoteOutcome
                switch answers[place] {
                case .failed(var error):
                    error.identity = step.identity
                    one = .failed(error)
                case .done(let members):
                    do throws(RemoteError) {
                        one = try outcome(success, .object(members), to: step)
                    } catch {
                        var error = error
                        error.identity = step.identity
                        one = .failed(error)
                    }
                }
                place += 1
                if case .failed = joined { continue }
                joined = one
            }
            outcomes.append(joined)
        }
        return outcomes
    }
}
