import Foundation
import Hummingbird
import HummingbirdTesting
import Testing

@testable import city_service

/// The routes, over real HTTP on this machine.
@Suite struct RouteTests {
    private let lima = ByteBuffer(string: #"{"name":"Lima","population":10092000,"country":"PE"}"#)

    private func withService(_ body: @Sendable (any TestClientProtocol, CityStore) async throws -> Void) async throws {
        let store = try CityStore(.memory(name: nil))
        try await Application(router: routes(store)).test(.live) { client in try await body(client, store) }
    }

    @Test("A city is added, changed, listed and deleted")
    func cities() async throws {
        try await withService { client, store in
            let id = try await client.execute(uri: "/cities", method: .post, body: lima) { response in
                #expect(response.status == .created)
                let city = try JSONSerialization.jsonObject(with: Data(buffer: response.body)) as? [String: Any]
                #expect(city?["name"] as? String == "Lima" && city?["country"] as? String == "PE")
                return try #require(city?["cityId"] as? String)
            }
            try await client.execute(
                uri: "/cities", method: .post,
                body: ByteBuffer(string: #"{"name":"Lima","population":5,"country":"PE"}"#)
            ) { #expect(String(buffer: $0.body).contains(id)) }
            try await client.execute(uri: "/cities", method: .get) { response in
                #expect(String(buffer: response.body).contains(#""population":5"#))
            }
            try await client.execute(uri: "/cities/\(id)", method: .delete) { #expect($0.status == .noContent) }
            try await client.execute(uri: "/cities/\(id)", method: .delete) { #expect($0.status == .notFound) }
        }
    }

    @Test("A city without a name is refused, and the answer says why")
    func refusal() async throws {
        try await withService { client, _ in
            let body = ByteBuffer(string: #"{"name":"","population":1,"country":"PE"}"#)
            try await client.execute(uri: "/cities", method: .post, body: body) { response in
                #expect(response.status == .badRequest)
                #expect(String(buffer: response.body).contains("name"))
            }
            try await client.execute(uri: "/cities", method: .get) { #expect(String(buffer: $0.body) == "[]") }
        }
    }

    @Test("A client that listens gets the list at once, and again when it changes", .timeLimit(.minutes(1)))
    func events() async throws {
        try await withService { client, store in
            async let answer = client.execute(uri: "/cities/events?limit=2", method: .get) { String(buffer: $0.body) }
            // The first event is sent before there is a city, or the second would not be.
            try await Task.sleep(for: .milliseconds(500))
            _ = try await store.save(NewCity(name: "Lima", population: 10_092_000, country: "PE"))
            let events = try await answer.components(separatedBy: "\n\n").filter { !$0.isEmpty }
            #expect(events.count == 2)
            #expect(events.first == "event: cities\ndata: []")
            #expect(events.last?.contains(#""name":"Lima""#) == true)
        }
    }
}
