import Foundation
import HTTPTypes

extension WireRequest {
    /// The request that an answer points to: within the host, and not from HTTPS to HTTP. nil if the answer is not such a
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
            let target = HostAndPort(authority), let origin = head.authority.flatMap({ HostAndPort($0) }),
            target.host.lowercased() == origin.host.lowercased()
        else { return nil }
        copy.head.scheme = scheme
        copy.head.authority = authority
        let path = Self.withoutFragment(rest.dropFirst(authority.count))
        copy.head.path = path.hasPrefix("/") ? path : "/" + path
        return copy
    }

    private static func withoutFragment(_ text: some StringProtocol) -> String { String(text.prefix { $0 != "#" }) }
}
