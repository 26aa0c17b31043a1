#if Server
    import Foundation

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// A range of addresses, such as `10.0.0.0/8`, `::1` or `192.168.1.7`.
    public struct ClientNetwork: Sendable, Hashable, CustomStringConvertible {
        private let bytes: [UInt8]
        private let bits: Int
        public let description: String

        /// Reads a range.
        /// - Returns: nil for any other text.
        public init?(_ text: String) {
            let halves = text.split(separator: "/", omittingEmptySubsequences: false)
            guard halves.count <= 2, let bytes = Self.bytes(of: String(halves[0])) else { return nil }
            var bits = bytes.count * 8
            if halves.count == 2 {
                guard let number = Int(halves[1]), (0...bits).contains(number) else { return nil }
                bits = number
            }
            self.bytes = bytes
            self.bits = bits
            description = text
        }

        /// Whether an address is in the range.
        public func contains(_ address: String) -> Bool {
            guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
            for (index, (a, b)) in zip(bytes, other).enumerated() {
                let rest = bits - index * 8
                if rest <= 0 { return true }
                let mask: UInt8 = rest >= 8 ? 0xFF : ~(0xFF >> UInt8(rest))
                guard a & mask == b & mask else { return false }
            }
            return true
        }

        /// Whether an address is this machine's own.
        static func isLoopback(_ address: String) -> Bool {
            if address == "localhost" || address == "local" { return true }
            guard let bytes = bytes(of: address) else { return false }
            return bytes.count == 4 ? bytes[0] == 127 : bytes == Array(repeating: 0, count: 15) + [1]
        }

        /// What counts as one client: an address of version 4, the first half of one of version 6, which a subscriber has
        /// as a whole.
        static func name(of address: String) -> String {
            guard address.utf8.contains(UInt8(ascii: ":")), let bytes = bytes(of: address), bytes.count == 16 else {
                return address
            }
            return Hexadecimal.text(bytes[..<8]) + "/64"
        }

        /// The bytes of an address: 4, or 16. Addresses of version 4 within version 6 are of version 4.
        private static func bytes(of text: String) -> [UInt8]? {
            let plain = text.split(separator: "%").first.map(String.init) ?? ""
            var four = in_addr()
            if inet_pton(AF_INET, plain, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
            var six = in6_addr()
            guard inet_pton(AF_INET6, plain, &six) == 1 else { return nil }
            let bytes = withUnsafeBytes(of: six) { Array($0) }
            let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            return isMapped ? Array(bytes[12...]) : bytes
        }
    }
#endif
