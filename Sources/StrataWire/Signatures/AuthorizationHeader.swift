/// The header `Authorization` in the form of a scheme and parameters (RFC 9110, section 11.4):
/// `MAC id="…",nonce="…"`.
enum AuthorizationHeader {
    private static let longest = 8192

    /// The parameters of a header, without quotes and their escapes.
    /// - Returns: nil if the header is of another scheme, is not a list of parameters, names one twice, or has more
    ///   than 8,192 bytes.
    static func parameters(_ header: String, scheme: String) -> [QueryParameters.Parameter]? {
        let name = header.prefix { $0 != " " }
        guard name.lowercased() == scheme.lowercased(), header.utf8.count <= longest else { return nil }
        var rest = Array(header.utf8)[name.utf8.count...]
        var parameters: [QueryParameters.Parameter] = []
        repeat {
            guard let parameter = parameter(&rest), !parameters.contains(where: { $0.name == parameter.name }) else {
                return nil
            }
            parameters.append(parameter)
        } while take(UInt8(ascii: ","), &rest)
        return rest.isEmpty ? parameters : nil
    }

    /// A parameter in its quoted form.
    static func spelling(_ name: String, _ value: String) -> String {
        let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\(name)=\"\(escaped)\""
    }

    private static func skipSpace(_ rest: inout ArraySlice<UInt8>) {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
    }

    private static func take(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) -> Bool {
        skipSpace(&rest)
        guard rest.first == byte else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func parameter(_ rest: inout ArraySlice<UInt8>) -> QueryParameters.Parameter? {
        skipSpace(&rest)
        let name = rest.prefix { PercentEncoding.Characters.unreserved.contains($0) }
        rest = rest.dropFirst(name.count)
        guard !name.isEmpty, take(UInt8(ascii: "="), &rest), take(UInt8(ascii: "\""), &rest) else { return nil }
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                skipSpace(&rest)
                guard let text = String(validating: value, as: UTF8.self) else { return nil }
                return (String(decoding: name, as: UTF8.self), text)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
            default: value.append(byte)
            }
        }
        return nil
    }
}
