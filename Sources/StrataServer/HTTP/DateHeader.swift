#if Server
    import Foundation
    import StrataRemote
    import StrataStore

    /// The header `Date` of answers, whose text is written once a second.
    final class DateHeader: Sendable {
        private let last = Guarded<(second: time_t, text: String)>((0, HTTPDate.text(0)))

        /// The present.
        var now: String {
            let second = time(nil)
            return last.withLock { last in
                if last.second != second { last = (second, HTTPDate.text(second)) }
                return last.text
            }
        }
    }
#endif
