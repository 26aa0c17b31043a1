import Foundation
import SmallThread
import StrataWire
import Testing

@Suite struct JSONStackLimitTests {
    @Test func theDeepestValueFitsASmallStack() throws {
        let text = String(repeating: "{\"a\":[", count: 64) + "1.5" + String(repeating: "]}", count: 64)
        let result = try SmallThread.run {
            let value = try JSONValue(parsing: text)
            return value == value && value.hashValue == value.hashValue ? try value.text() : nil
        }
        #expect(result == text)
    }
}
