import Foundation
import KintoStore
import StrataRemoteTesting
import Testing

/// A server that asks for fewer requests.
@Suite struct BackoffTests {
    let clock = VirtualClock()
    let transport: ScriptedTransport
    let backend: HTTPBackend

    init() throws {
        transport = ScriptedTransport(clock: clock)
        backend = HTTPBackend(
            dialect: try KintoDialect("https://kinto.example/v1"), transport: transport,
            middleware: [KintoBackoff(clock: clock)], clock: clock)
    }

    private func ping(backoff: String? = nil, _ options: RequestOptions = RequestOptions()) async throws {
        transport.answer(
            status: 200, headers: backoff.map { ["Backoff": $0] } ?? [:], body: Data(#"{"project_name":"kinto"}"#.utf8))
        _ = try await backend.perform(.ping, options: options)
    }

    @Test func theNextRequestWaitsForTheRestOfTheTime() async throws {
        try await ping(backoff: "10")
        #expect(clock.sleeps.isEmpty)
        clock.advance(by: 4)
        try await ping()
        #expect(clock.sleeps == [6])
        try await ping()
        #expect(clock.sleeps == [6])
    }

    @Test func aShorterTimeDoesNotEndALongerOne() async throws {
        try await ping(backoff: "10")
        clock.advance(by: 10)
        try await ping(backoff: "8")
        try await ping(backoff: "1")
        #expect(clock.sleeps == [8])
        try await ping()
        #expect(clock.sleeps == [8, 1])
    }

    @Test(arguments: ["soon", "-5", "nan", "inf", ""])
    func nonsenseIsNoTime(text: String) async throws {
        try await ping(backoff: text)
        try await ping()
        #expect(clock.sleeps.isEmpty)
    }

    @Test func aTimeThatIsTooLongIsAnErrorAndNothingIsSent() async throws {
        try await ping(backoff: "400")
        let count = transport.requests.count
        await #expect {
            _ = try await backend.perform(.ping, options: RequestOptions())
        } throws: { error in
            let error = error as? RemoteError
            return error?.kind == .throttled && error?.retryAfter == 400
        }
        #expect(transport.requests.count == count)
        clock.advance(by: 400)
        try await ping()
    }
}
