import Foundation
import StrataWire
import Testing

/// Not for sanitizers, under which a function needs several times as much of the stack.
@Suite struct JSONStackLimitTests {
    @Test func theDeepestValueFitsASmallStack() throws {
        let text = String(repeating: "{\"a\":[", count: 64) + "1.5" + String(repeating: "]}", count: 64)
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var result: String?
        let thread = Thread {
            let value = try? JSONValue(parsing: text)
            result = value.flatMap { $0 == value && $0.hashValue == value?.hashValue ? try? $0.text() : nil }
            done.signal()
        }
        // What threads have on Apple's systems.
        thread.stackSize = 512 * 1024
        thread.start()
        done.wait()
        #expect(result == text)
    }
}
