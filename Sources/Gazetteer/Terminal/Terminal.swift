import Foundation

/// Where the program writes, and what that place understands.
struct Terminal: Sendable {
    /// Whether results may be coloured.
    let usesColor: Bool
    /// Whether a progress bar may be drawn on the error output.
    let showsProgress: Bool
    /// The columns that results may take.
    let width: Int
    /// Takes the text of results.
    let write: @Sendable (String) -> Void
    /// Takes the text of progress and complaints.
    let writeError: @Sendable (String) -> Void

    /// Describes a place; tests give their own.
    init(
        usesColor: Bool, showsProgress: Bool, width: Int, write: @escaping @Sendable (String) -> Void,
        writeError: @escaping @Sendable (String) -> Void
    ) {
        self.usesColor = usesColor
        self.showsProgress = showsProgress
        self.width = max(width, 40)
        self.write = write
        self.writeError = writeError
    }

    /// The outputs of the process.
    static func standard(environment: [String: String] = ProcessInfo.processInfo.environment) -> Terminal {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        return Terminal(
            usesColor: allowsColor(isTerminal: isTerminal, environment: environment),
            showsProgress: isatty(STDERR_FILENO) == 1 && environment["TERM"] != "dumb",
            width: columns(isTerminal: isTerminal, environment: environment),
            write: { writeAll($0, to: STDOUT_FILENO) },
            writeError: { writeAll($0, to: STDERR_FILENO) })
    }

    /// Whether colours are requested: on a terminal that knows them, unless `NO_COLOR` is set to anything.
    static func allowsColor(isTerminal: Bool, environment: [String: String]) -> Bool {
        isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// Writes a line of results.
    func line(_ text: String = "") { write(text + "\n") }

    /// The text in a style, or unchanged if colours are off.
    func styled(_ text: String, _ style: Style) -> String {
        usesColor && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// How a text stands out. The numbers are those of ECMA-48, SGR.
    enum Style: String, Sendable {
        /// Strong.
        case bold = "1"
        /// Weak.
        case dim = "2"
        /// Well done.
        case good = "32"
        /// Gone wrong.
        case bad = "31"
        /// A title.
        case title = "1;36"
    }

    private static func columns(isTerminal: Bool, environment: [String: String]) -> Int {
        if let asked = environment["COLUMNS"].flatMap(Int.init), asked > 0 { return asked }
        var size = winsize()
        if isTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return 100
    }

    /// Writes the whole text. A reader that went away ends the program by SIGPIPE, as it does with other tools; other
    /// errors of an output without a reader are ignored.
    private static func writeAll(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
