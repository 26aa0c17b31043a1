import Foundation
import StrataStackMob
import StrataStore
import StrataRemoteTesting
import Testing

let testKey = "XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXXXXXX"

/// A client over a script and a clock of its own.
struct ClientRig {
    let transport: ScriptedTransport
    let clock = VirtualClock()
    let storage: MemorySessionStorage
    let client: StackMobClient

    init(
        storage: MemorySessionStorage = MemorySessionStorage(),
        _ configure: (inout StackMobConfiguration) -> Void = { _ in }
    ) throws {
        self.storage = storage
        transport = ScriptedTransport(clock: clock)
        var configuration = try StackMobConfiguration(publicKey: testKey, privateKey: "private")
        configuration.dialect.securesRemoteHosts = false
        configuration.applicationName = "tests"
        configuration.sessionStorage = storage
        configuration.transport = transport
        configuration.clock = clock
        let count = Guarded(0)
        configuration.nonce = {
            count.withLock { count in
                count += 1
                return "n\(count)"
            }
        }
        configure(&configuration)
        client = StackMobClient(configuration)
    }

    /// Puts a session in place without asking the server.
    func logIn(token: String = "A", refreshToken: String? = "R", expiresIn seconds: Double = 3600) {
        client.session.replace(
            with: SessionCredentials(
                signer: MACCredentials(accessToken: token, key: "K"), refreshToken: refreshToken,
                expiration: clock.now.addingTimeInterval(seconds), userID: "bob"))
    }

    /// The answer to a request for a session.
    static func tokens(_ name: String, refreshToken: String? = "R2", expiresIn: Int = 3600) -> WireResponse {
        let refresh = refreshToken.map { #","refresh_token":"\#($0)""# } ?? ""
        return .scripted(
            json: #"{"access_token":"\#(name)","mac_key":"K\#(name)","mac_algorithm":"hmac-sha-1","token_type":"mac","#
                + #""expires_in":\#(expiresIn)\#(refresh),"stackmob":{"user":{"username":"bob","age":7}}}"#)
    }

    var paths: [String] { transport.requests.map { "\($0.head.method.rawValue) \($0.head.path ?? "")" } }
}

extension WireRequest {
    /// The access token that the request is signed with.
    var token: String? {
        guard let header = head.headerFields[.authorization], header.hasPrefix("MAC id=\"") else { return nil }
        return String(header.dropFirst(8).prefix { $0 != "\"" })
    }

    var json: JSONValue? { body.flatMap { try? JSONValue(parsing: $0) } }

    /// The members of a form.
    var form: [String: String] {
        let text = String(decoding: body ?? Data(), as: UTF8.self)
        return Dictionary(
            text.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                return (parts[0].removingPercentEncoding ?? "", parts.last?.removingPercentEncoding ?? "")
            }, uniquingKeysWith: { $1 })
    }

    var url: String { "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")" }

    func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { head.headerFields[$0] } }
}

/// The error that something throws.
func remoteError(_ body: () async throws -> Void) async -> RemoteError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? RemoteError
    }
}

/// Opens once, for tasks that wait at it and for later ones.
final class Gate: Sendable {
    private let state = Guarded<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Lines of the vectors, by area.
enum ClientVectors {
    static func area(_ name: String) throws -> [JSONValue] {
        let url = try #require(
            Bundle.module.url(forResource: "stackmob", withExtension: "jsonl", subdirectory: "Vectors"))
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
            .map { try JSONValue(parsing: String($0)) }
            .filter { $0["area"]?.string == name }
    }
}
