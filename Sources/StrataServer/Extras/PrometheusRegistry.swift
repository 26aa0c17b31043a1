#if Server
    import CoreMetrics
    import Foundation
    import StrataStore

    /// Collects the metrics of a process, and writes them in the text format of Prometheus. `strata-server` makes it the
    /// system's; a program that embeds the server may bootstrap any other factory of swift-metrics.
    ///
    ///     import Metrics
    ///
    ///     MetricsSystem.bootstrap(PrometheusRegistry.shared)
    public final class PrometheusRegistry: MetricsFactory, Sendable {
        /// The registry of the process.
        public static let shared = PrometheusRegistry()

        /// One number, or the times of a histogram, with its labels.
        final class Series: CounterHandler, FloatingPointCounterHandler, RecorderHandler, TimerHandler, MeterHandler,
            Sendable
        {
            struct Value {
                var sum = 0.0
                var count = 0
                var buckets = [Int](repeating: 0, count: PrometheusRegistry.bounds.count)
            }

            let labels: String
            let value = Guarded(Value())

            init(_ dimensions: [(String, String)]) {
                labels = dimensions.map { name, value in
                    "\(PrometheusRegistry.name(name))=\"\(PrometheusRegistry.escaped(value))\""
                }.joined(separator: ",")
            }

            func increment(by amount: Int64) { increment(by: Double(amount)) }
            func increment(by amount: Double) { value.withLock { $0.sum += amount } }
            func decrement(by amount: Double) { value.withLock { $0.sum -= amount } }
            func reset() { value.withLock { $0 = Value() } }
            func set(_ number: Int64) { set(Double(number)) }
            func set(_ number: Double) { value.withLock { $0.sum = number } }
            func record(_ number: Int64) { record(Double(number)) }

            func record(_ number: Double) {
                value.withLock { value in
                    value.sum += number
                    value.count += 1
                    for (place, bound) in PrometheusRegistry.bounds.enumerated() where number <= bound {
                        value.buckets[place] += 1
                    }
                }
            }

            func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
        }

        private enum Kind: String { case counter, gauge, histogram }

        private struct Family {
            var kind: Kind
            var series: [String: Series] = [:]
        }

        /// The upper ends of the buckets of histograms: seconds, for times.
        fileprivate static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
        /// How many series there may be; the counts of more are lost.
        private static let capacity = 10_000

        /// What callers name a series by.
        private struct Key: Hashable {
            var label: String
            var dimensions: [String]
        }

        private struct State {
            var families: [String: Family] = [:]
            /// The same series by what callers name them by, since names as Prometheus spells them take time to make.
            var known: [Key: Series] = [:]
        }

        private let state = Guarded(State())

        /// A registry of its own, for tests.
        public init() {}

        private func series(_ label: String, _ dimensions: [(String, String)], _ kind: Kind) -> Series {
            let key = Key(label: label, dimensions: dimensions.flatMap { [$0.0, $0.1] })
            return state.withLock { state in
                if let series = state.known[key] { return series }
                let name = Self.name(label)
                let new = Series(dimensions)
                guard state.known.count < Self.capacity else { return new }
                let series = state.families[name]?.series[new.labels] ?? new
                state.families[name, default: Family(kind: kind)].series[series.labels] = series
                state.known[key] = series
                return series
            }
        }

        public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
            series(label, dimensions, .counter)
        }

        public func makeFloatingPointCounter(
            label: String, dimensions: [(String, String)]
        ) -> any FloatingPointCounterHandler {
            series(label, dimensions, .counter)
        }

        public func makeRecorder(
            label: String, dimensions: [(String, String)], aggregate: Bool
        ) -> any RecorderHandler {
            series(label, dimensions, .histogram)
        }

        public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
            series(label, dimensions, .gauge)
        }

        public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
            series(label, dimensions, .histogram)
        }

        public func destroyCounter(_ handler: any CounterHandler) {}
        public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
        public func destroyRecorder(_ handler: any RecorderHandler) {}
        public func destroyMeter(_ handler: any MeterHandler) {}
        public func destroyTimer(_ handler: any TimerHandler) {}

        // MARK: Text

        /// All metrics in the text format of Prometheus, version 0.0.4.
        public func text() -> String {
            var text = ""
            for (name, family) in state.withLock({ $0.families }).sorted(by: { $0.key < $1.key }) {
                text += "# TYPE \(name) \(family.kind.rawValue)\n"
                for (_, series) in family.series.sorted(by: { $0.key < $1.key }) {
                    let value = series.value.withLock { $0 }
                    guard family.kind == .histogram else {
                        text +=
                            "\(name)\(series.labels.isEmpty ? "" : "{\(series.labels)}") \(Self.number(value.sum))\n"
                        continue
                    }
                    let before = series.labels.isEmpty ? "" : series.labels + ","
                    for (bound, count) in zip(Self.bounds, value.buckets) {
                        text += "\(name)_bucket{\(before)le=\"\(bound)\"} \(count)\n"
                    }
                    let labels = series.labels.isEmpty ? "" : "{\(series.labels)}"
                    text += "\(name)_bucket{\(before)le=\"+Inf\"} \(value.count)\n"
                    text += "\(name)_sum\(labels) \(Self.number(value.sum))\n\(name)_count\(labels) \(value.count)\n"
                }
            }
            return text
        }

        private static func number(_ number: Double) -> String {
            guard let whole = Int64(exactly: number) else { return number.description }
            return String(whole)
        }

        fileprivate static func name(_ text: String) -> String {
            let name = String(
                text.unicodeScalars.map { scalar in
                    let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
                    return isPlain || scalar == "_" || scalar == ":" ? Character(scalar) : "_"
                })
            return name.first.map { $0.isNumber } == true ? "_" + name : name
        }

        fileprivate static func escaped(_ text: String) -> String {
            text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        }
    }
#endif
