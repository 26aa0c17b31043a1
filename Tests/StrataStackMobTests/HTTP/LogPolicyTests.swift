import Foundation
import Logging
import StrataStackMob
import StrataStore
import StrataRemoteTesting
import Testing

/// Gathers what is logged, as a reader of the log would see it.
final class LogLines: LogHandler, Sendable {
    let lines = Guarded<[String]>([])
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
    var logger: Logger { Logger(label: "test") { _ in self } }
}

@Suite struct LogPolicyTests {
    private func exchange(
        path: String = "/user", headers: [String: String] = [:], body: String?, answer: WireResponse,
        policy: LogPolicy = LogPolicy()
    ) async throws -> String {
        let lines = LogLines()
        let script = ScriptedTransport()
        script.answer(answer)
        var head = HTTPRequest(method: .post, scheme: "https", authority: "api.example.com", path: path)
        for (name, value) in headers { head.headerFields[HTTPField.Name(name)!] = value }
        let request = WireRequest(head, body: body.map { Data($0.utf8) })
        let dialect = try StackMobDialect(publicKey: "7c1f7a3e-4b7a-4f3a-9d1c-0123456789ab")
        let transport = LoggingTransport(script, dialect: dialect, logger: lines.logger, policy: policy)
        #expect(try await transport.send(request, timeout: 1) == answer)
        #expect(script.requests == [request])
        return lines.text
    }

    @Test func hidesSecretsOfFormsHeadersQueriesAndJSON() async throws {
        let form = try await exchange(
            path: "/user/accessToken?fb_at=SECRET1&x=seen1",
            headers: [
                "Authorization": "MAC id=\"SECRET2\"", "Content-Type": "application/x-www-form-urlencoded",
                "X-Seen": "seen2",
            ],
            body: "password=SECRET3&username=seen3&new%5Fpassword=SECRET4",
            answer: .scripted(
                json:
                    #"{"access_token":"SECRET5","mac_key":"SECRET6","refresh_token":"SECRET7","deep":[{"Password":{"a":"SECRET8"}}],"seen4":1}"#
            ))
        #expect(!form.contains("SECRET"))
        for word in ["seen1", "seen2", "seen3", "seen4", "POST", "200"] { #expect(form.contains(word)) }
    }

    @Test func hidesFurtherNames() async throws {
        var policy = LogPolicy()
        policy.hide(["DoggySecret"])
        let text = try await exchange(
            headers: ["Content-Type": "application/json"], body: #"{"doggysecret":"SECRET","name":"seen"}"#,
            answer: .scripted(status: 200), policy: policy)
        #expect(!text.contains("SECRET"))
        #expect(text.contains("seen"))
    }

    @Test(arguments: [#"{"password":"SECRET""#, "password: SECRET", "\u{0}SECRET"])
    func whatIsNoJSONIsNamedByItsLength(_ body: String) async throws {
        let text = try await exchange(
            headers: ["Content-Type": "application/json"], body: body, answer: .scripted(status: 200))
        #expect(!text.contains("SECRET"))
        #expect(text.contains("\(body.utf8.count) bytes"))
    }

    @Test func cutsLongValuesAndBodies() async throws {
        var policy = LogPolicy()
        policy.maximumValue = 10
        policy.maximumBody = 60
        let long = String(repeating: "v", count: 1000)
        let text = try await exchange(
            headers: ["Content-Type": "application/json", "X-Long": long],
            body: #"{"a":"\#(long)","list":[\#((0..<500).map(String.init).joined(separator: ","))]}"#,
            answer: .scripted(status: 200, headers: ["Content-Type": "text/plain"], body: Data(long.utf8)),
            policy: policy)
        #expect(!text.contains(String(repeating: "v", count: 61)))
        #expect(text.contains("vvvvvvvvvv… (1000 bytes)"))
        #expect(!text.contains("400"))
    }

    @Test func aRequestWithoutAnAnswerIsLogged() async throws {
        let lines = LogLines()
        let script = ScriptedTransport()
        script.fail(.requestLost)
        let request = WireRequest(HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/a"))
        let dialect = try StackMobDialect(publicKey: "7c1f7a3e-4b7a-4f3a-9d1c-0123456789ab")
        await #expect(throws: RemoteError.self) {
            try await LoggingTransport(script, dialect: dialect, logger: lines.logger).send(request, timeout: 1)
        }
        #expect(lines.text.contains("info request without an answer"))
        #expect(lines.text.contains("unreachable"))
    }
}
