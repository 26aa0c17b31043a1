import Foundation
import StrataRemote
import StrataStore
import StrataRemoteTesting
import Testing

@Suite struct MiddlewareTests {
    private let entity = Atlas.model.entities[1]
    private let transport = ScriptedTransport()

    private func backend(
        _ middleware: [any HTTPMiddleware], authorizer: (any RequestAuthorizer)? = nil,
        clock: any RemoteClock = VirtualClock()
    ) -> HTTPBackend {
        HTTPBackend(
            dialect: WordyDialect(), transport: transport, authorizer: authorizer, middleware: middleware, clock: clock)
    }

    private func count(_ backend: HTTPBackend, _ options: RequestOptions = RequestOptions()) async throws -> Int? {
        guard case .count(let count) = try await backend.perform(.count(RemoteQuery(entity: entity)), options: options)
        else { return nil }
        return count
    }

    @Test("The first one sees a request first and its answer last, before it is signed")
    func order() async throws {
        let seen = Guarded<[String]>([])
        transport.answer(json: "7")
        let backend = backend(
            [Witness(name: "a", seen: seen), Witness(name: "b", seen: seen)], authorizer: Signer(seen: seen))
        #expect(try await count(backend) == 7)
        #expect(seen.withLock { $0 } == ["a> unsigned", "b>a unsigned", "sign", "b<200", "a<200"])
        #expect(transport.requests[0].head.headerFields[.init("X-Marks")!] == "ab")
        #expect(transport.requests[0].head.headerFields[.authorization] == "signed")
    }

    @Test("It sees the answer that remains once the server was waited for and redirects were followed")
    func finalAnswer() async throws {
        let seen = Guarded<[String]>([])
        transport.answer(status: 307, headers: ["Location": "/other"])
        transport.answer(status: 503, headers: ["Retry-After": "2"])
        transport.answer(json: "1")
        #expect(try await count(backend([Witness(name: "a", seen: seen)])) == 1)
        #expect(seen.withLock { $0 } == ["a> unsigned", "a<200"])
        #expect(transport.requests.count == 3)
    }

    @Test("It can answer in place of the server, change an answer, send twice, and fail")
    func powers() async throws {
        #expect(try await count(backend([Deed { _, _ throws(RemoteError) in .scripted(json: "5") }])) == 5)
        #expect(transport.requests.isEmpty)
        transport.answer(json: "1")
        transport.answer(json: "2")
        let twice = Deed { request, next throws(RemoteError) in
            _ = try await next(request)
            var answer = try await next(request)
            answer.body += Data("0".utf8)
            return answer
        }
        #expect(try await count(backend([twice])) == 20)
        let refusing = Deed { _, _ throws(RemoteError) in throw RemoteError(.forbidden, message: "not today") }
        await #expect { try await count(backend([refusing])) } throws: { ($0 as? RemoteError)?.kind == .forbidden }
        #expect(transport.requests.count == 2)
    }

    @Test("A log-in takes place once for all requests that need it, by what the dialect says of answers")
    func loggingIn() async throws {
        let signer = Signer(seen: Guarded([]))
        let logIns = Guarded(0)
        transport.handle { request in
            // This service tells the end of a session with a status of its own.
            request.head.headerFields[.authorization] == "signed anew"
                ? .scripted(json: "3") : .scripted(status: 440)
        }
        let again = LogInAgain { () async throws(RemoteError) in
            logIns.withLock { $0 += 1 }
            try? await Task.sleep(for: .milliseconds(50))
            signer.word.withLock { $0 = "signed anew" }
        }
        let backend = backend([again], authorizer: signer)
        await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<8 { group.addTask { try? await count(backend) } }
            for await count in group { #expect(count == 3) }
        }
        #expect(logIns.withLock { $0 } == 1)
    }

    @Test("A log-in that fails is the error of the requests; one that does not help is tried once for each")
    func failingLogIn() async throws {
        transport.handle { _ in .scripted(status: 440) }
        let failing = LogInAgain { () async throws(RemoteError) in throw RemoteError(.forbidden, message: "blocked") }
        await #expect { try await count(backend([failing])) } throws: { ($0 as? RemoteError)?.kind == .forbidden }
        let logIns = Guarded(0)
        let vain = LogInAgain { () async throws(RemoteError) in logIns.withLock { $0 += 1 } }
        let before = transport.requests.count
        await #expect { try await count(backend([vain])) } throws: { ($0 as? RemoteError)?.kind == .unauthorized }
        #expect(logIns.withLock { $0 } == 1)
        #expect(transport.requests.count == before + 2)
        // A log-in that is itself refused does not lead to another one.
        var options = RequestOptions()
        options.renewsSession = false
        await #expect(throws: RemoteError.self) { try await count(backend([vain]), options) }
        #expect(logIns.withLock { $0 } == 1)
    }

    @Test("How long to wait may stand elsewhere than in Retry-After")
    func waiting() async throws {
        let clock = VirtualClock()
        let start = clock.now
        transport.answer(status: 200, headers: ["X-Come-Back": "30"])
        transport.answer(json: "9")
        #expect(try await count(backend([], clock: clock)) == 9)
        #expect(clock.now.timeIntervalSince(start) == 30)
        transport.answer(status: 200, headers: ["X-Come-Back": "3000"])
        await #expect { try await count(backend([], clock: clock)) } throws: {
            ($0 as? RemoteError)?.retryAfter == 3000
        }
    }
}

/// Tells what it sees.
private struct Witness: HTTPMiddleware {
    let name: String
    let seen: Guarded<[String]>

    func send(_ request: WireRequest, next: HTTPNext) async throws(RemoteError) -> WireResponse {
        var request = request
        let field = HTTPField.Name("X-Marks")!
        let marks = request.head.headerFields[field]
        let isSigned = request.head.headerFields[.authorization] != nil
        seen.withLock { $0.append("\(name)>\(marks ?? "") \(isSigned ? "signed" : "unsigned")") }
        request.head.headerFields[field] = (marks ?? "") + name
        let response = try await next(request)
        seen.withLock { $0.append("\(name)<\(response.status)") }
        return response
    }
}

/// Does what a closure says.
private struct Deed: HTTPMiddleware {
    let deed: @Sendable (WireRequest, HTTPNext) async throws(RemoteError) -> WireResponse
    init(_ deed: @escaping @Sendable (WireRequest, HTTPNext) async throws(RemoteError) -> WireResponse) {
        self.deed = deed
    }
    func send(_ request: WireRequest, next: HTTPNext) async throws(RemoteError) -> WireResponse {
        try await deed(request, next)
    }
}

private struct Signer: RequestAuthorizer {
    let seen: Guarded<[String]>
    let word = Guarded("signed")

    func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest {
        seen.withLock { $0.append("sign") }
        var signed = request
        signed.head.headerFields[.authorization] = word.withLock { $0 }
        return signed
    }
    func recover(
        from response: WireResponse, to request: WireRequest, options: RequestOptions
    ) async throws(RemoteError) -> Bool { false }
}

/// A service that tells the end of a session by status 440, and how long to wait by a header of its own.
private struct WordyDialect: RemoteDialect {
    let name = "Wordy"
    let capabilities = RemoteCapabilities(features: .counting)

    func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
        WireRequest(HTTPRequest(method: .get, scheme: "http", authority: "test", path: "/"))
    }

    func reaction(to response: WireResponse) -> AnswerReaction? {
        if response.status == 440 { return .sessionEnded }
        if let seconds = response[header: "X-Come-Back"].flatMap(Double.init) { return .wait(seconds: seconds) }
        return AnswerReaction(status: response.status)
    }

    func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
        guard response.status == 200, let count = Int(String(decoding: response.body, as: UTF8.self)) else {
            throw RemoteError(response.status == 440 ? .unauthorized : .unavailable, message: "\(response.status)")
        }
        return .count(count)
    }
}
