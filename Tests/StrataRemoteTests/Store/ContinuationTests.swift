import Foundation
import StrataRemote
import StrataRemoteTesting
import Testing

/// Operations that take a request because of the answer to the one before.
@Suite struct ContinuationTests {
    /// A service that answers a creation with the address of the new object, where a client reads it. As long as an object is being
    /// made, its address leads to another one.
    private struct LocationDialect: RemoteDialect {
        let name = "Location"
        let capabilities = RemoteCapabilities(features: .creatingMany, maximumBatch: 1)

        func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
            try WireRequest(.post, authority: "places.example", path: "/cities", json: .object([:]))
        }

        func continuation(
            of operation: RemoteOperation, after exchanges: [DialectExchange], options: RequestOptions
        ) throws(RemoteError) -> DialectContinuation {
            let last = exchanges[exchanges.count - 1]
            guard [201, 202].contains(last.response.status), let address = last.response[header: "Location"] else {
                return .answer(last.response.status == 404 ? exchanges[0].response : last.response)
            }
            return .send(try WireRequest(getting: address))
        }

        func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
            switch response.status {
            case 200:
                let text = String(decoding: response.body, as: UTF8.self)
                return .outcomes([.done(RemoteRecord(entity: "City", id: text))])
            case 201: return .outcomes([.done(nil)])
            case 503: throw RemoteError(.unavailable, message: "later", retryAfter: nil)
            default: return .outcomes([.failed(RemoteError(.rejected, message: "\(response.status)"))])
            }
        }
    }

    private struct Signature: RequestAuthorizer {
        func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest {
            var signed = request
            signed.head.headerFields[.authorization] = "signed"
            return signed
        }
        func recover(
            from response: WireResponse, to request: WireRequest, options: RequestOptions
        ) async throws(RemoteError) -> Bool { false }
    }

    private let transport = ScriptedTransport()

    private func create(_ count: Int = 1) async throws(RemoteError) -> [RemoteOutcome] {
        let backend = HTTPBackend(dialect: LocationDialect(), transport: transport, authorizer: Signature())
        let writes = (0..<count).map { RemoteWrite(id: "\($0)") }
        let creation = RemoteOperation.create(entity: Atlas.model.entities[1], writes)
        let answer = try await backend.perform(creation, options: RequestOptions())
        guard case .outcomes(let outcomes) = answer else { return [] }
        return outcomes
    }

    private func ids(_ outcomes: [RemoteOutcome]) -> [String?] {
        outcomes.map { outcome in
            switch outcome {
            case .done(let record): record?.id
            case .failed(let error): error.message
            }
        }
    }

    @Test("The answer to the last request is read, and each request is signed")
    func follows() async throws {
        transport.answer(status: 201, headers: ["Location": "https://places.example/cities/7"])
        transport.answer(status: 202, headers: ["Location": "https://places.example/cities/8"])
        transport.answer(json: "lima", status: 200)
        #expect(try await ids(create()) == ["lima"])
        #expect(transport.requests.map { $0.head.path } == ["/cities", "/cities/7", "/cities/8"])
        #expect(transport.requests.allSatisfy { $0.head.headerFields[.authorization] == "signed" })
    }

    @Test("An earlier answer may be the one that counts")
    func earlierAnswer() async throws {
        transport.answer(status: 201, headers: ["Location": "https://places.example/cities/7"])
        transport.answer(status: 404)
        #expect(try await ids(create()) == [nil])
    }

    @Test("Without an answer to a further request, the outcome is unknown")
    func lostAnswer() async throws {
        transport.answer(status: 201, headers: ["Location": "https://places.example/cities/7"])
        transport.fail(.answerLost)
        await #expect { try await create() } throws: { ($0 as? RemoteError)?.concernsAll == true }
    }

    @Test("Of several writes, each has its own requests and its own outcome")
    func severalWrites() async throws {
        transport.answer(status: 201, headers: ["Location": "https://places.example/cities/7"])
        transport.answer(json: "lima", status: 200)
        transport.answer(status: 400)
        transport.answer(status: 201)
        #expect(try await ids(create(3)) == ["lima", "400", nil])
    }

    @Test("A dialect that asks for one request after the other is stopped")
    func endless() async throws {
        for number in 0..<20 {
            transport.answer(status: 202, headers: ["Location": "https://places.example/cities/\(number)"])
        }
        await #expect { try await create() } throws: { "\($0)".contains("8 requests") }
        #expect(transport.requests.count == HTTPBackend.maximumExchanges)
    }
}
