import Foundation
import HTTPTypes

extension WireRequest {
    /// The request that an answer points to: within the host, and not from HTTPS to HTTP. nil if the answer is no such
    /// redirect, or one after which the method would have to change (RFC 9110, 15.4).
    func redirected(by response: WireResponse) -> WireRequest? {
        switch response.status {
        case 301, 302, 303: guard head.method == .get || head.method == .head else { return nil }
        case 307, 308: break
        default: return nil
        }
        guard let location = response.head.headerFields[.location], !location.isEmpty else { return nil }
        var copy = self
        if location.hasPrefix("/"), !location.hasPrefix("//") {
            copy.head.path = Self.withoutFragment(location)
            return copy
        }
        guard let mark = location.range(of: "://") else { return nil }
        let scheme = location[..<mark.lowerBound].lowercased()
        let rest = location[mark.upperBound...]
        let authority = String(rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" })
        guard scheme == "https" || scheme == "http" && head.scheme?.lowercased() == "http",
            Self.host(authority) == Self.host(head.authority ?? "")
        else { return nil }
        copy.head.scheme = scheme
        copy.head.authority = authority
        let path = Self.withoutFragment(rest.dropFirst(authority.count))
        copy.head.path = path.hasPrefix("/") ? path : "/" + path
        return copy
    }

    private static func withoutFragment(_ text: some StringProtocol) -> String { String(text.prefix { $0 != "#" }) }

    /// The host without the port, in lower case. The colons of an IPv6 address stand in brackets.
    private static func host(_ authority: String) -> String {
        let end = authority.lastIndex(of: "]") ?? authority.startIndex
        let colon = authority[end...].firstIndex(of: ":") ?? authority.endIndex
        return authority[..<colon].lowercased()
    }
}
