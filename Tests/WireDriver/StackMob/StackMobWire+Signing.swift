import Foundation
import StrataStackMob

extension StackMobWire {
    static func mac(_ input: WireCase) throws -> JSONValue {
        let method = input.text("method") ?? "GET"
        var target: MACTarget
        if let url = input.text("url") {
            target = MACTarget(try wireRequest(method, url))
        } else {
            let scheme = input.text("scheme") ?? "https"
            let query = input.text("query").map { "?" + $0 } ?? ""
            target = MACTarget(
                WireRequest(
                    HTTPRequest(
                        method: .init(method) ?? .get, scheme: scheme, authority: input.argument("host"),
                        path: input.argument("path") + query)))
            // A path without a slash is what is signed, as it is.
            if query.isEmpty, let path = input.text("path") { target.requestURI = Array(path.utf8) }
        }
        if let uri = input.text("requestURI", "uri") { target.requestURI = Array(uri.utf8) }
        if let port = input.text("port") { target.port = port }
        let seconds = input.whole("ts", "timestamp") ?? 0
        let nonce = input.argument("nonce")
        let credentials = MACCredentials(
            accessToken: input.argument("accessToken", "token"), key: input.argument("macKey", "key"))
        let message = target.message(timestamp: String(seconds), nonce: nonce)
        let text = JSONValue.string(String(decoding: message, as: UTF8.self))
        return [
            "requestURI": .string(String(decoding: target.requestURI, as: UTF8.self)), "host": .string(target.host),
            "port": .string(target.port), "message": text, "baseString": text,
            "mac": .string(credentials.signature(of: message)),
            "authorization": .string(credentials.authorization(for: target, seconds: Int64(seconds), nonce: nonce)),
        ]
    }

    static func oauth1(_ input: WireCase) throws -> JSONValue {
        var request = try wireRequest(input.text("method") ?? "GET", input.argument("url"))
        let query = QueryParameters.sortedStackMobText(
            (input["params"]?.members ?? [:]).map { ($0.name, WireValues.text($0.value)) }
                + (try (input.elements("params") ?? []).map(pair)))
        if !query.isEmpty {
            let path = request.head.path ?? "/"
            request.head.path = path + (path.contains("?") ? "&" : "?") + query
        }
        let credentials = OAuth1Credentials(
            consumerKey: input.argument("consumerKey", "publicKey"),
            consumerSecret: input.argument("consumerSecret", "privateKey"))
        let seconds = input.argument("timestamp", "ts")
        let nonce = input.argument("nonce")
        let header = credentials.authorization(for: request, seconds: seconds, nonce: nonce)
        return [
            "baseString": .string(credentials.baseString(for: request, seconds: seconds, nonce: nonce)),
            "signature": .string(credentials.signature(for: request, seconds: seconds, nonce: nonce)),
            "authorization": .string(header), "header": .string(header),
            "headers": ["Authorization": .string(header)],
        ]
    }

    /// A request to an address as it is written; nothing of it is encoded again.
    private static func wireRequest(_ method: String, _ address: String) throws -> WireRequest {
        guard let match = address.wholeMatch(of: /([A-Za-z][A-Za-z0-9+.-]*):\/\/([^\/?#]*)([^#]*)(#.*)?/),
            let method = HTTPRequest.Method(method)
        else { throw WireFault("\(address.prefix(80)) is not an address") }
        let path = String(match.3)
        return WireRequest(
            HTTPRequest(
                method: method, scheme: String(match.1), authority: String(match.2),
                path: path.hasPrefix("/") ? path : "/" + path))
    }
}
