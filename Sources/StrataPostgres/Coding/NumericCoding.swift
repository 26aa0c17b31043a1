#if Postgres
    /// Decimal numbers in the binary format of `numeric`: digits of base 10,000 with the weight of the first, sign and the number
    /// of decimal places (`numeric_send` in PostgreSQL's `src/backend/utils/adt/numeric.c`).
    enum NumericCoding {
        private static let negative: UInt16 = 0x4000
        private static let notANumber: UInt16 = 0xC000
        private static let infinity: UInt16 = 0xD000
        private static let negativeInfinity: UInt16 = 0xF000

        /// Writes a number that is given as plain decimal text, such as `-12.50`.
        /// - Returns: false, and nothing is written, if the text is not a decimal number.
        static func write(_ text: UnsafeRawBufferPointer, to writer: inout ByteWriter) -> Bool {
            var bytes = text[...]
            let isNegative = bytes.first == UInt8(ascii: "-")
            if isNegative || bytes.first == UInt8(ascii: "+") { bytes = bytes.dropFirst() }
            let point = bytes.firstIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
            var whole = Array(bytes[..<point])
            var fraction = Array(bytes[point...].dropFirst())
            guard !(whole.isEmpty && fraction.isEmpty), (whole + fraction).allSatisfy({ (48...57).contains($0) }) else {
                return false
            }
            let scale = fraction.count
            while whole.count % 4 != 0 || whole.isEmpty { whole.insert(48, at: 0) }
            while fraction.count % 4 != 0 { fraction.append(48) }
            let all = whole + fraction
            var digits = stride(from: 0, to: all.count, by: 4).map { start in
                all[start..<start + 4].reduce(UInt16(0)) { $0 * 10 + UInt16($1 - 48) }
            }
            var weight = whole.count / 4 - 1
            while digits.first == 0 {
                digits.removeFirst()
                weight -= 1
            }
            while digits.last == 0 { digits.removeLast() }
            guard weight < Int(Int16.max), digits.count < Int(Int16.max), scale < 16_384 else { return false }
            writer.append(UInt16(digits.count))
            writer.append(Int16(digits.isEmpty ? 0 : weight))
            writer.append(digits.isEmpty || !isNegative ? UInt16(0) : negative)
            writer.append(UInt16(scale))
            for digit in digits { writer.append(digit) }
            return true
        }

        /// The number as the shortest plain text; nil for bytes that are not a number, and for numbers that are not finite.
        static func text(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
            func word(_ index: Int) -> UInt16 {
                UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
            }
            guard bytes.count >= 8, bytes.count == 8 + 2 * Int(word(0)) else { return nil }
            let sign = word(2)
            guard ![notANumber, infinity, negativeInfinity].contains(sign) else { return nil }
            let count = Int(word(0))
            let weight = Int(Int16(bitPattern: word(1)))
            var result: [UInt8] = []
            func append(_ digit: UInt16) {
                for unit: UInt16 in [1000, 100, 10, 1] { result.append(UInt8(48 + digit / unit % 10)) }
            }
            func digit(_ index: Int) -> UInt16 { (0..<count).contains(index) ? word(4 + index) : 0 }
            if weight >= 0 { for index in 0...weight { append(digit(index)) } }
            let leading = result.prefix { $0 == 48 }.count
            result.removeFirst(leading)
            if result.isEmpty { result.append(48) }
            if count > weight + 1 {
                result.append(UInt8(ascii: "."))
                // Below 1, the first digits of the fraction may be left out.
                for index in (weight + 1)..<count { append(digit(index)) }
                while result.last == 48 { result.removeLast() }
                if result.last == UInt8(ascii: ".") { result.removeLast() }
            }
            return sign == negative && result != [48] ? [UInt8(ascii: "-")] + result : result
        }
    }
#endif
