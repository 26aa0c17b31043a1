/// A step of a pattern's program. Where nothing else is said, the step after it comes next.
enum PatternStep {
    case scalar(UInt32)
    case scalars(ScalarClass)
    case any(crossesLines: Bool)
    case lineBreak
    case assertion(PatternAssertion)
    /// The first way is tried, and the second if it leads nowhere. Each has a number, under which the matcher remembers
    /// the places where it was here before.
    case split(first: Int, second: Int, number: Int)
    case jump(Int)
    /// Keeps the place at which a group begins. What the group held the last time is still what is referred to.
    case begin(Int)
    /// Keeps what a group holds: from where it began last up to the place.
    case end(Int)
    case backReference(Int, ignoresCase: Bool)
    /// The steps up to the next `accept` must lead to it, and of their ways only the first counts.
    case atomic(next: Int)
    /// The steps after it must lead, or must not lead, to their `accept`; the place stays.
    case look(isNegative: Bool, next: Int)
    /// The same for a text that ends here and begins this many scalars before.
    case lookBehind(ClosedRange<Int>, isNegative: Bool, next: Int)
    case accept
}

/// What a matcher runs: a pattern as a list of steps.
struct PatternProgram {
    struct Entry {
        var step: PatternStep
        /// How much further it goes on if it has taken something of the text; see ``star(_:isLazy:)``.
        var shift = 0
    }

    /// Longer programs are refused; they come from nested numbers in braces.
    static let limit = 20_000

    private(set) var entries: [Entry] = []
    private(set) var splitCount = 0
    /// Whether what is matched depends on the way there, so that the matcher cannot know a place again.
    let usesBackReferences: Bool
    let groupCount: Int
    private var atomicDepth = 0
    /// How many parts were written, those without a step included.
    private var work = 0

    init(_ pattern: String, ignoresCase: Bool) throws(PatternFault) {
        var parser = PatternParser(pattern, ignoresCase: ignoresCase)
        let node = try parser.parse()
        usesBackReferences = parser.usesBackReferences
        groupCount = parser.groupCount
        try write(node)
        try add(.accept)
    }

    @discardableResult
    private mutating func add(_ step: PatternStep) throws(PatternFault) -> Int {
        guard entries.count < Self.limit else { throw tooLarge }
        entries.append(Entry(step: step))
        return entries.count - 1
    }

    private var tooLarge: PatternFault {
        PatternFault(
            position: 0, reason: "written without numbers in braces it would have more than \(Self.limit) parts")
    }

    private mutating func write(_ node: PatternNode) throws(PatternFault) {
        work += 1
        if work > 10 * Self.limit { throw tooLarge }
        switch node {
        case .scalar(let scalar): try add(.scalar(scalar))
        case .scalars(let scalars): try add(.scalars(scalars))
        case .any(let crossesLines): try add(.any(crossesLines: crossesLines))
        case .lineBreak: try add(.lineBreak)
        case .assertion(let assertion): try add(.assertion(assertion))
        case .sequence(let parts): for part in parts { try write(part) }
        case .choice(let branches): try write(branches)
        case .repetition(let part, let count): try write(part, count)
        case .capture(let part, let number):
            if usesBackReferences { try add(.begin(number)) }
            try write(part)
            if usesBackReferences { try add(.end(number)) }
        case .backReference(let number, let ignoresCase):
            try add(.backReference(number, ignoresCase: ignoresCase))
        case .atomic(let part):
            atomicDepth += 1
            try write(part) { .atomic(next: $0) }
            atomicDepth -= 1
        case .look(let part, isBehind: false, let isNegative):
            try write(part) { .look(isNegative: isNegative, next: $0) }
        case .look(let part, isBehind: true, let isNegative):
            let length = part.length
            try write(part) {
                .lookBehind(Int(length.lowerBound)...Int(length.upperBound), isNegative: isNegative, next: $0)
            }
        }
    }

    /// A part that is run by itself.
    private mutating func write(_ part: PatternNode, _ step: (Int) -> PatternStep) throws(PatternFault) {
        let start = try add(.accept)
        try write(part)
        try add(.accept)
        entries[start].step = step(entries.count)
    }

    private mutating func write(_ branches: [PatternNode]) throws(PatternFault) {
        var jumps: [Int] = []
        for (index, branch) in branches.enumerated() {
            guard index < branches.count - 1 else {
                try write(branch)
                break
            }
            let split = try add(.accept)
            try write(branch)
            jumps.append(try add(.accept))
            setSplit(split, first: split + 1, second: entries.count)
        }
        for jump in jumps { entries[jump].step = .jump(entries.count) }
    }

    private mutating func setSplit(_ index: Int, first: Int, second: Int, isLazy: Bool = false) {
        entries[index].step = .split(
            first: isLazy ? second : first, second: isLazy ? first : second, number: splitCount)
        splitCount += 1
    }

    // MARK: Repetition

    private mutating func write(_ part: PatternNode, _ count: PatternRepetition) throws(PatternFault) {
        let isLazy = count.kind == .lazy
        if count.kind == .possessive {
            return try write(
                .atomic(
                    .repetition(
                        part, PatternRepetition(minimum: count.minimum, maximum: count.maximum, kind: .greedy))))
        }
        guard let maximum = count.maximum else {
            // Whether a round that takes nothing ends the repetition matters only where the way counts.
            if part.isNullable, atomicDepth > 0 || usesBackReferences {
                for _ in 0..<count.minimum { try write(part) }
                return try star(part, isLazy: isLazy)
            }
            for _ in 1..<max(1, count.minimum) { try write(part) }
            let entry = try add(.accept)
            let start = entries.count
            try write(part)
            let split = try add(.accept)
            setSplit(split, first: start, second: split + 1, isLazy: isLazy)
            // With none required the first round may be left out.
            entries[entry].step = .jump(count.minimum == 0 ? split : start)
            return
        }
        for _ in 0..<count.minimum { try write(part) }
        var splits: [Int] = []
        for _ in count.minimum..<maximum {
            splits.append(try add(.accept))
            try write(part)
        }
        for split in splits { setSplit(split, first: split + 1, second: entries.count, isLazy: isLazy) }
    }

    /// Any number of rounds; a round that takes nothing is the last. The part is written twice, and steps that take
    /// something of the text lead from the first copy into the second.
    private mutating func star(_ part: PatternNode, isLazy: Bool) throws(PatternFault) {
        let split = try add(.accept)
        try write(part)
        let exit = try add(.accept)
        let distance = exit - split
        for index in split + 1..<exit { entries[index].shift += distance }
        try write(part)
        try add(.jump(split))
        entries[exit].step = .jump(entries.count)
        setSplit(split, first: split + 1, second: entries.count, isLazy: isLazy)
    }
}
