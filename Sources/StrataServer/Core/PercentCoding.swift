#if Server
    /// Escapes of URLs as the dialect uses them.
    enum PercentCoding {
        /// Undoes all escapes. What is no escape stays; nil if the result is not UTF-8.
        static func decode(_ text: some StringProtocol) -> String? {
            decode(text) { _ in false }
        }

        /// The parts of a path, without escapes.
        static func segments(_ path: String) throws(ServerError) -> [String] {
            var segments: [String] = []
            for raw in path.split(separator: "/", omittingEmptySubsequences: true) {
                guard let segment = decode(raw) else { throw .badRequest("The path is not UTF-8.") }
                segments.append(segment)
            }
            return segments
        }

        /// The query as a signature covers it: escapes are undone, but not those of the characters that the old client
        /// kept escaped.
        static func signedQuery(_ query: String) -> String? {
            decode(query) { signedReserved.contains($0) }
        }

        private static let signedReserved = Set(":/.?&=;+!@#$()~ ".utf8)

        private static func decode(_ text: some StringProtocol, keeping: (UInt8) -> Bool) -> String? {
            let bytes = Array(text.utf8)
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            var index = 0
            while index < bytes.count {
                if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = digit(bytes[index + 1]),
                    let low = digit(bytes[index + 2]), !keeping(high << 4 | low)
                {
                    result.append(high << 4 | low)
                    index += 3
                } else {
                    result.append(bytes[index])
                    index += 1
                }
            }
            return String(validating: result, as: UTF8.self)
        }

        private static func digit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
            default: nil
            }
        }

        /// Escapes everything but the unreserved characters of RFC 3986.
        static func encode(_ text: String) -> String {
            var result = ""
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"):
                    result.unicodeScalars.append(Unicode.Scalar(byte))
                default:
                    let hex = String(byte, radix: 16, uppercase: true)
                    result += "%" + (hex.count == 1 ? "0" : "") + hex
                }
            }
            return result
        }

        /// The pairs of a query in their order, both sides unescaped; nil if one of them is not UTF-8.
        ///
        /// - Parameter form: Whether `+` stands for a space, as in form bodies.
        static func pairs(_ query: String, form: Bool = false) -> [(name: String, value: String)]? {
            var result: [(String, String)] = []
            for part in query.split(separator: "&", omittingEmptySubsequences: true) {
                let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    .map { form ? String($0).replacing("+", with: " ") : String($0) }
                guard let name = decode(halves[0]), let value = decode(halves.count > 1 ? halves[1] : "") else {
                    return nil
                }
                result.append((name, value))
            }
            return result
        }
    }
#endif
