/// Checks whether a program matches a text.
///
/// It tries one way after the other, as regular expressions are defined. A split that was at a place before has led
/// nowhere from there and is not tried again, which bounds the steps by the length of the program times that of the
/// text. Back references make the outcome depend on the way, so with them places are not remembered; with look-around
/// and atomic groups a part may be run from many places. For these there is a limit of steps.
struct PatternMatcher {
    /// Where to go on, or, with a negative step, what a slot held.
    private struct Frame {
        let step: Int
        let place: Int
    }

    /// The steps that every text may take, and those for each scalar.
    static let steps = 2_000_000
    static let stepsPerScalar = 500
    /// The most bits that remember places: 128 MB.
    private static let memoryLimit = 1 << 30

    private let program: PatternProgram
    private let text: PatternText
    private var stack: [Frame] = []
    private var slots: [Int]
    private var stepsLeft: Int
    /// Where the splits have been: a bit for each split and place.
    private var visited: [UInt64]
    /// The bits that were set inside of parts that are run by themselves.
    private var trail: [Int] = []
    private var depth = 0

    init(_ program: PatternProgram, _ text: PatternText) throws(PatternTooCostly) {
        self.program = program
        self.text = text
        slots = Array(repeating: -1, count: program.usesBackReferences ? 3 * program.groupCount : 0)
        stepsLeft = Self.steps + Self.stepsPerScalar * text.count
        let (bits, overflow) = program.splitCount.multipliedReportingOverflow(by: text.count + 1)
        guard !overflow, bits <= Self.memoryLimit else { throw PatternTooCostly() }
        visited = Array(repeating: 0, count: program.usesBackReferences ? 0 : (bits + 63) / 64)
    }

    /// Whether the whole text matches.
    mutating func matches() throws(PatternTooCostly) -> Bool { try run(0, at: 0, until: text.count) != nil }

    /// Runs steps until they accept.
    /// - Parameter end: Where they must accept; nil for anywhere.
    /// - Returns: Where they did.
    private mutating func run(_ start: Int, at place: Int, until end: Int?) throws(PatternTooCostly) -> Int? {
        let base = stack.count
        var step = start
        var place = place
        while true {
            stepsLeft -= 1
            if stepsLeft < 0 { throw PatternTooCostly() }
            switch try perform(step, at: place, until: end) {
            case .next(let nextStep, let nextPlace):
                step = nextStep
                place = nextPlace
            case .accepted:
                // The old content of slots is still needed in case the enclosing part does not match.
                stack.replaceSubrange(base..., with: stack[base...].filter { $0.step < 0 })
                return place
            case .failed:
                guard let last = backtrack(to: base) else { return nil }
                step = last.step
                place = last.place
            }
        }
    }

    /// Where a step leads.
    private enum Outcome {
        case next(step: Int, place: Int)
        case accepted
        case failed
    }

    private mutating func perform(_ step: Int, at place: Int, until end: Int?) throws(PatternTooCostly) -> Outcome {
        let entry = program.entries[step]
        switch entry.step {
        case .jump(let next): return .next(step: next, place: place)
        case .split(let first, let second, let number):
            guard visit(number, place) else { return .failed }
            stack.append(Frame(step: second, place: place))
            return .next(step: first, place: place)
        case .atomic(let next):
            guard let end = try runInside(step + 1, at: place, until: nil) else { return .failed }
            return .next(step: next + (end > place ? entry.shift : 0), place: end)
        case .look(let isNegative, let next):
            let holds = try look(step + 1, [place], until: nil, isNegative: isNegative)
            return holds ? .next(step: next, place: place) : .failed
        case .lookBehind(let lengths, let isNegative, let next):
            let starts = (max(0, place - lengths.upperBound)..<max(0, place - lengths.lowerBound + 1)).reversed()
            let holds = try look(step + 1, starts, until: place, isNegative: isNegative)
            return holds ? .next(step: next, place: place) : .failed
        case .accept: return end == nil || end == place ? .accepted : .failed
        default:
            guard let taken = take(entry.step, at: place) else { return .failed }
            return .next(step: step + 1 + (taken > place ? entry.shift : 0), place: taken)
        }
    }

    /// Where a step ends that takes something of the text, or looks at a place; nil if it does not fit there.
    private mutating func take(_ step: PatternStep, at place: Int) -> Int? {
        let count = text.count
        switch step {
        case .scalar(let scalar): return place < count && text.scalars[place] == scalar ? place + 1 : nil
        case .scalars(let scalars): return place < count && scalars.contains(text.scalars[place]) ? place + 1 : nil
        case .any(let crossesLines):
            if place < count, !PatternText.isLineEnd(text.scalars[place]) { return place + 1 }
            guard crossesLines else { return nil }
            // The two characters of a line break come together.
            let isBreak = text.scalars[min(place, count)...].prefix(2).elementsEqual([0x0D, 0x0A])
            return isBreak ? place + 2 : place < count ? place + 1 : nil
        case .lineBreak: return text.endOfBreak(place)
        case .assertion(let assertion): return text.holds(assertion, place) ? place : nil
        case .backReference(let number, let ignoresCase):
            let (low, high) = (slots[3 * number - 2], slots[3 * number - 1])
            return low >= 0 ? text.end(of: low..<high, at: place, ignoresCase: ignoresCase) : nil
        case .begin(let number):
            set(3 * number - 3, place)
            return place
        case .end(let number):
            set(3 * number - 2, slots[3 * number - 3])
            set(3 * number - 1, place)
            return place
        case .jump, .split, .atomic, .look, .lookBehind, .accept: return nil
        }
    }

    /// Fills a slot, of which each group has three: where it began last, and where what it holds begins and ends.
    private mutating func set(_ slot: Int, _ place: Int) {
        stack.append(Frame(step: -1 - slot, place: slots[slot]))
        slots[slot] = place
    }

    /// The last way that was not tried.
    private mutating func backtrack(to base: Int) -> Frame? {
        while stack.count > base {
            let frame = stack.removeLast()
            if frame.step >= 0 { return frame }
            slots[-1 - frame.step] = frame.place
        }
        return nil
    }

    /// Notes that a split is at a place.
    /// - Returns: Whether it was not there before.
    private mutating func visit(_ number: Int, _ place: Int) -> Bool {
        if program.usesBackReferences { return true }
        let bit = number * (text.count + 1) + place
        let mask: UInt64 = 1 << UInt64(bit & 63)
        if visited[bit >> 6] & mask != 0 { return false }
        visited[bit >> 6] |= mask
        if depth > 0 { trail.append(bit) }
        return true
    }

    /// Runs a part by itself. Where it succeeds, the splits on its way have led somewhere; they are forgotten, because
    /// the part may come to them from another place.
    private mutating func runInside(_ start: Int, at place: Int, until end: Int?) throws(PatternTooCostly) -> Int? {
        depth += 1
        defer { depth -= 1 }
        let mark = trail.count
        let result = try run(start, at: place, until: end)
        // What must end at one place may lead to another.
        if result != nil || end != nil {
            for bit in trail[mark...] { visited[bit >> 6] &= ~(1 << UInt64(bit & 63)) }
            trail.removeSubrange(mark...)
        } else if depth == 1 {
            trail.removeAll(keepingCapacity: true)
        }
        return result
    }

    private mutating func look(
        _ start: Int, _ places: some Sequence<Int>, until end: Int?, isNegative: Bool
    ) throws(PatternTooCostly) -> Bool {
        let base = stack.count
        for place in places where try runInside(start, at: place, until: end) != nil {
            guard isNegative else { return true }
            // A negative look-around keeps nothing of what it matched.
            _ = backtrack(to: base)
            return false
        }
        return isNegative
    }
}
