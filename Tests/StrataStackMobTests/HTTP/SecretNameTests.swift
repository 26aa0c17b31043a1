import Foundation
import StrataStackMob
import StrataRemoteTesting
import Testing

@Suite struct SecretNameTests {
    /// A service with secrets of its own.
    private struct Vault: RemoteDialect {
        let name = "Vault"
        let capabilities = RemoteCapabilities()
        let secretNames: Set<String> = ["X-Vault-Key", "Combination"]
        func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
            throw RemoteError(.unsupported, message: "")
        }
        func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
            .nothing
        }
    }

    @Test func whatADialectCallsSecretIsNeverLogged() async throws {
        let lines = LogLines()
        let script = ScriptedTransport()
        script.answer(.scripted(json: #"{"combination":"SECRET1","seen":1}"#))
        var head = HTTPRequest(method: .post, scheme: "https", authority: "h", path: "/a?combination=SECRET2&x=visible")
        head.headerFields[HTTPField.Name("x-vault-key")!] = "SECRET3"
        head.headerFields[.contentType] = "application/json"
        var policy = LogPolicy()
        // Whatever an app makes of the policy.
        policy.secretNames = []
        _ = try await LoggingTransport(script, dialect: Vault(), logger: lines.logger, policy: policy)
            .send(WireRequest(head, body: Data(#"{"deep":[{"COMBINATION":"SECRET4"}]}"#.utf8)), timeout: 1)
        #expect(!lines.text.contains("SECRET"))
        for word in ["seen", "visible", "deep"] { #expect(lines.text.contains(word)) }
    }
}
