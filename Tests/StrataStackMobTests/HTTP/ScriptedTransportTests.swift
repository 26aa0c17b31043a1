import Foundation
import StrataRemote
import StrataRemoteTesting
import Testing

@Suite struct ScriptedTransportTests {
    private let clock = VirtualClock()
    private let request = WireRequest(HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/a"))

    private func kind(_ transport: ScriptedTransport, timeout: Double = 60) async -> RemoteError.Kind? {
        do {
            _ = try await transport.send(request, timeout: timeout)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func entriesComeInOrderAndThenTheHandler() async throws {
        let transport = ScriptedTransport(clock: clock) { _ in .scripted(status: 299) }
        transport.answer(status: 201)
        transport.answer(json: "{}", status: 202)
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await transport.send(request, timeout: 1).status) }
        #expect(statuses == [201, 202, 299])
        #expect(transport.requests.count == 3)
        #expect(transport.unexpected.isEmpty)
    }

    @Test func withoutAnEntryARequestIsUnexpected() async {
        let transport = ScriptedTransport(clock: clock)
        #expect(await kind(transport) == .unreachable)
        #expect(transport.unexpected == [request])
    }

    @Test func aLostRequestIsNotSeenAndALostAnswerIs() async {
        let transport = ScriptedTransport(clock: clock)
        transport.fail(.requestLost)
        transport.fail(.answerLost)
        transport.answer()
        #expect(await kind(transport) == .unreachable)
        #expect(transport.received.isEmpty)
        #expect(await kind(transport) == .timeout)
        #expect(transport.received == [request])
        #expect(transport.requests.count == 2)
    }

    @Test func aDelayTakesTimeAndMayBeTooLong() async {
        let transport = ScriptedTransport(clock: clock) { _ in .scripted() }
        let start = clock.now
        transport.fail(.delayed(5))
        #expect(await kind(transport) == nil)
        #expect(clock.now == start + 5)
        transport.fail(.delayed(90))
        #expect(await kind(transport, timeout: 60) == .timeout)
        #expect(clock.now == start + 65)
        #expect(transport.received.count == 2)
    }

    @Test func aDoubledRequestIsServedTwiceAndTheSecondAnswerCounts() async throws {
        let transport = ScriptedTransport(clock: clock)
        transport.fail(.duplicated)
        transport.answer(status: 201)
        transport.answer(status: 409)
        #expect(try await transport.send(request, timeout: 1).status == 409)
        #expect(transport.received.count == 2)
        #expect(transport.requests.count == 1)
    }

    @Test func anErrorOfChoice() async {
        let transport = ScriptedTransport(clock: clock)
        transport.fail(with: RemoteError(.cancelled, message: "x"))
        #expect(await kind(transport) == .cancelled)
        #expect(transport.received.isEmpty)
    }
}
