#if Server
    import Foundation

    extension JSONValue {
        /// The value as compact JSON in UTF-8. Members stand in the order of their names, so that equal values have
        /// equal bytes. Numbers that JSON cannot spell become null.
        public var data: Data {
            var bytes: [UInt8] = []
            write(to: &bytes)
            return Data(bytes)
        }

        /// The same as text.
        public var text: String {
            var bytes: [UInt8] = []
            write(to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }

        /// Adds the value to others.
        func write(to bytes: inout [UInt8]) {
            switch self {
            case .null: bytes += "null".utf8
            case .boolean(let flag): bytes += (flag ? "true" : "false").utf8
            case .integer(let number): bytes += String(number).utf8
            case .number(let number): Self.write(number, to: &bytes)
            case .string(let text): Self.write(text, to: &bytes)
            case .array(let elements):
                bytes.append(UInt8(ascii: "["))
                for (index, element) in elements.enumerated() {
                    if index > 0 { bytes.append(UInt8(ascii: ",")) }
                    element.write(to: &bytes)
                }
                bytes.append(UInt8(ascii: "]"))
            case .object(let members):
                bytes.append(UInt8(ascii: "{"))
                for (index, name) in members.keys.sorted().enumerated() {
                    if index > 0 { bytes.append(UInt8(ascii: ",")) }
                    Self.write(name, to: &bytes)
                    bytes.append(UInt8(ascii: ":"))
                    members[name]?.write(to: &bytes)
                }
                bytes.append(UInt8(ascii: "}"))
            }
        }

        private static func write(_ number: Double, to bytes: inout [UInt8]) {
            guard number.isFinite else {
                bytes += "null".utf8
                return
            }
            // A whole number is spelled without fraction, as other servers of the dialect do.
            if number.rounded() == number, abs(number) < 1e15 {
                bytes += String(Int64(number)).utf8
            } else {
                bytes += "\(number)".utf8
            }
        }

        private static func write(_ text: String, to bytes: inout [UInt8]) {
            bytes.append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "\""): bytes += #"\""#.utf8
                case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
                case UInt8(ascii: "\n"): bytes += #"\n"#.utf8
                case UInt8(ascii: "\r"): bytes += #"\r"#.utf8
                case UInt8(ascii: "\t"): bytes += #"\t"#.utf8
                case 0..<0x20:
                    bytes += #"\u00"#.utf8
                    bytes.append(hexDigits[Int(byte >> 4)])
                    bytes.append(hexDigits[Int(byte & 15)])
                default: bytes.append(byte)
                }
            }
            bytes.append(UInt8(ascii: "\""))
        }

        private static let hexDigits = Array("0123456789abcdef".utf8)
    }
#endif
