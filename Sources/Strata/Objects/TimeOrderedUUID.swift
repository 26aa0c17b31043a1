import Foundation
import StrataStore

/// Creates UUIDs of version 7 (RFC 9562, section 5.7) for primary keys: the time in milliseconds comes first, so that
/// new objects follow one after the other in a table or an index of primary keys, here and at the server. Random ones
/// would each touch another page of it.
///
/// Each UUID of a process is greater than the one before: the 12 bits after the time count (section 6.2, method 1),
/// from a random number below 2048 in each new millisecond. When they are used up, and when the clock is set back, the
/// time goes on by itself.
package enum TimeOrderedUUID {
    private struct State {
        var time: UInt64 = 0
        var counter: UInt64 = 0
    }

    private static let state = Guarded(State())

    /// A UUID that is greater than all others that this process has made here.
    package static func next() -> UUID { next(at: Date()) }

    /// - Parameter now: The time, from 1970 on.
    package static func next(at now: Date) -> UUID {
        var generator = SystemRandomNumberGenerator()
        let random: UInt64 = generator.next()
        let milliseconds = UInt64(max(0, now.timeIntervalSince1970 * 1000)) & 0xFFFF_FFFF_FFFF
        let (time, counter) = state.withLock { state in
            if milliseconds > state.time {
                state.time = milliseconds
                state.counter = UInt64.random(in: 0..<0x800, using: &generator)
            } else {
                state.counter += 1
                if state.counter > 0xFFF {
                    state.time += 1
                    state.counter = 0
                }
            }
            return (state.time, state.counter)
        }
        let high = (time << 16 | 0x7000 | counter).bigEndian
        let low = (random & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000).bigEndian
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &uuid) { bytes in
            // A `uuid_t` is 16 bytes long.
            bytes.storeBytes(of: high, toByteOffset: 0, as: UInt64.self)
            bytes.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
        }
        return UUID(uuid: uuid)
    }
}
