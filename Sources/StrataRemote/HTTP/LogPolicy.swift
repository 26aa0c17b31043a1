import Foundation
import HTTPTypes

/// Which parts of requests and answers may be written to a log, and how much of them.
///
///     var policy = LogPolicy()
///     policy.hide(["birthday", "X-Device"])
///     policy.maximumBody = 500
///
/// Pass it to a ``LoggingTransport``, or set it as `logPolicy` in the configuration of a client. A secret is known by its name: that of a header, of a query parameter, of a pair in a form, or of a member of a JSON object
/// at any depth. Names are compared without case. Of bodies that are neither of these nor plain text, and of those that claim
/// to be JSON and are not, only the length is written. Other fields of objects are logged, so hide what is private.
public struct LogPolicy: Sendable, Hashable {
    /// Replaces a secret.
    static let veil = "<hidden>"

    /// The maximum number of characters of one value: a header, a parameter, a text in JSON.
    public var maximumValue = 256
    /// The most characters of one body.
    public var maximumBody = 4096
    /// The names whose values are never written, in lower case. A dialect adds those of its service; see
    /// ``RemoteDialect/secretNames``.
    public var secretNames: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "password", "new_password", "newpassword",
        "access_token", "accesstoken", "refresh_token", "id_token", "token", "tokens", "session_token", "sessiontoken",
        "secret", "client_secret", "private_key",
    ]

    /// The usual lengths and names.
    public init() {}

    /// Never writes the values of these names either.
    public mutating func hide(_ names: some Sequence<String>) {
        secretNames.formUnion(names.map { $0.lowercased() })
    }

    private func isSecret(_ name: some StringProtocol) -> Bool {
        secretNames.contains(name.lowercased())
    }

    private func short(_ text: String, _ maximum: Int) -> String {
        // An index is looked for, since counting would walk through all of a long text.
        guard let end = text.index(text.startIndex, offsetBy: max(0, maximum), limitedBy: text.endIndex),
            end < text.endIndex
        else { return text }
        return text[..<end] + "… (\(text.utf8.count) bytes)"
    }

    func address(of request: WireRequest) -> String {
        let path = request.head.path ?? ""
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var text =
            "\(request.head.scheme ?? "")://\(request.head.authority ?? "")\(short(String(parts.first ?? ""), maximumValue))"
        if parts.count == 2 { text += "?" + pairs(parts[1]) }
        return text
    }

    func headers(_ fields: HTTPFields) -> [String: String] {
        var texts: [String: String] = [:]
        for field in fields {
            texts[field.name.rawName] = isSecret(field.name.rawName) ? Self.veil : short(field.value, maximumValue)
        }
        return texts
    }

    func body(_ body: Data, type: String?) -> String {
        let type = (type ?? "").split(separator: ";").first.map { $0.lowercased() } ?? ""
        if type == "application/x-www-form-urlencoded" {
            return short(pairs(String(decoding: body, as: UTF8.self)), maximumBody)
        }
        if type.hasPrefix("text/") { return short(String(decoding: body, as: UTF8.self), maximumBody) }
        guard type.isEmpty || type.contains("json"),
            let json = try? JSONValue(parsing: body), let text = try? veiled(json).text()
        else { return "\(body.count) bytes" }
        return short(text, maximumBody)
    }

    private func pairs(_ text: some StringProtocol) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let mark = pair.firstIndex(of: "=") else { return short(String(pair), maximumValue) }
            let name = pair[..<mark]
            guard !isSecret(PercentEncoding.decode(name) ?? String(name)) else { return "\(name)=\(Self.veil)" }
            return short(String(pair), maximumValue)
        }.joined(separator: "&")
    }

    private func veiled(_ json: JSONValue) -> JSONValue {
        switch json {
        case .object(let members):
            .object(
                JSONObject(
                    members.map { ($0.name, isSecret($0.name) ? .string(Self.veil) : veiled($0.value)) }))
        case .array(let elements): .array(elements.map(veiled))
        case .string(let text): .string(short(text, maximumValue))
        default: json
        }
    }
}
