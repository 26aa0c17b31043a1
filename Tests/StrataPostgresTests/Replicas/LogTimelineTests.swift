#if Postgres
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("The primary's log")
    struct LogTimelineTests {
        private let log = LogIdentity(system: 1, timeline: 1)
        private let start = ContinuousClock.now

        private func timeline(_ samples: (Int64, Double)...) -> LogTimeline {
            var timeline = LogTimeline()
            for (position, seconds) in samples {
                _ = timeline.add(
                    .init(position: position, moment: start + .seconds(seconds)), of: log, span: .seconds(10))
            }
            return timeline
        }

        @Test("A read must see the log up to where it ended at the first look after the moment")
        func samples() {
            let timeline = timeline((100, 1), (200, 2), (300, 3))
            #expect(timeline.position(showing: start) == 100)
            #expect(timeline.position(showing: start + .seconds(1.5)) == 200)
            #expect(timeline.position(showing: start + .seconds(3)) == 300)
            #expect(timeline.position(showing: start + .seconds(4)) == nil)
        }

        @Test("The header of a page that is still empty is not a part of the log")
        func headers() {
            let start: Int64 = 1 << 24
            func end(_ position: Int64) -> Int64 { ServerStatus.end(position, segment: 1 << 24, block: 8192) }
            #expect(end((1 << 24) + 40) == 1 << 24)
            #expect(end((5 << 24) + 8192 + 24) == (5 << 24) + 8192)
            for position: Int64 in [1 << 24, start + 8192 + 40, start + 8192, start + 8192 + 32, start + 48, 77] {
                #expect(end(position) == position)
            }
        }

        @Test("Own commits and news count, whatever the moment")
        func floors() {
            var timeline = timeline((100, 1), (200, 2))
            timeline.noteCommit(at: 150, now: start + .seconds(2))
            #expect(timeline.position(showing: start) == 150)
            timeline.noteCommit(at: nil, now: start + .seconds(1.5))
            #expect(timeline.position(showing: start) == 200)
            timeline.noteCommit(at: nil, now: start + .seconds(5))
            #expect(timeline.position(showing: start) == nil)
        }

        @Test("Old looks are forgotten, and many are thinned out without proving too much")
        func limits() {
            var timeline = timeline((100, 1), (200, 12))
            #expect(timeline.position(showing: start) == 200)
            for number in 0..<1000 {
                _ = timeline.add(
                    .init(position: 200 + Int64(number), moment: start + .seconds(12.0 + Double(number) / 1000)),
                    of: log, span: .seconds(10))
            }
            for number in 0..<1000 {
                let position = timeline.position(showing: start + .seconds(12.0 + Double(number) / 1000))
                #expect(position.map { $0 >= 200 + Int64(number) } ?? false)
            }
        }

        @Test("Another timeline or another cluster ends what was known")
        func identities() {
            var timeline = timeline((100, 1))
            let moment = start + .seconds(2)
            let isOther = timeline.add(
                .init(position: 50, moment: moment), of: LogIdentity(system: 1, timeline: 2), span: .seconds(10))
            #expect(isOther)
            #expect(timeline.position(showing: start) == 50)
            #expect(timeline.identity == LogIdentity(system: 1, timeline: 2))
        }
    }
#endif
