import StrataStore
import Testing

@testable import Gazetteer

/// Keeps what a terminal is given.
final class Screen: Sendable {
    private let texts = Guarded<(out: String, error: String)>(("", ""))
    var out: String { texts.withLock { $0.out } }
    var error: String { texts.withLock { $0.error } }

    func terminal(color: Bool = false, progress: Bool = false, width: Int = 80) -> Terminal {
        Terminal(
            usesColor: color, showsProgress: progress, width: width,
            write: { text in self.texts.withLock { $0.out += text } },
            writeError: { text in self.texts.withLock { $0.error += text } })
    }
}

@Suite("Writing to a terminal")
struct TerminalTests {
    @Test(
        "Widths follow what terminals draw",
        arguments: [
            ("Lima", 4), ("", 0), ("São Paulo", 9), ("Sa\u{0303}o", 3), ("東京", 4), ("서울", 4), ("\u{1109}\u{1165}", 2),
            ("القاهرة", 7), ("👍", 2), ("🇵🇪", 2), ("👩‍👩‍👧", 2), ("ｱﾞ", 2), ("Ａ", 2), ("a\u{200B}b", 2), ("กรุงเทพ", 6),
        ])
    func widths(text: String, columns: Int) {
        #expect(DisplayWidth.of(text) == columns)
    }

    @Test("Truncation counts columns, and never splits a wide character")
    func truncation() {
        #expect(DisplayWidth.truncate("Lima", to: 4) == "Lima")
        #expect(DisplayWidth.truncate("Arequipa", to: 5) == "Areq…")
        #expect(DisplayWidth.truncate("東京都庁", to: 6) == "東京…")
        #expect(DisplayWidth.of(DisplayWidth.truncate("東京都庁", to: 6)) == 5)
        #expect(DisplayWidth.truncate("東京", to: 0) == "")
    }

    @Test("Control characters in a name do not reach the terminal")
    func controls() {
        #expect(DisplayWidth.printable("a\u{1B}[31mb\u{9F}\n") == "a�[31mb��")
        #expect(DisplayWidth.printable("Ḥalab حلب") == "Ḥalab حلب")
    }

    @Test("Columns line up over scripts, numbers on the right")
    func table() {
        var table = Table(.text("City"), .number("People"), .text("Zone"))
        table.add("東京", "8,336,599", "Asia/Tokyo")
        table.add("Lima", "7,737,002")
        let expected = [
            "  City     People  Zone",
            "  ────  ─────────  ──────────",
            "  東京  8,336,599  Asia/Tokyo",
            "  Lima  7,737,002  ",
        ]
        #expect(table.lines(for: Screen().terminal(), indent: 2) == expected)
    }

    @Test("A table that is too wide shortens its widest text column")
    func narrowTable() {
        var table = Table(.text("City"), .number("People"))
        table.add(String(repeating: "x", count: 60), "1")
        let lines = table.lines(for: Screen().terminal(width: 40), indent: 2)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 40 })
        #expect(lines[2] == "  " + String(repeating: "x", count: 29) + "…" + "       1")
    }

    @Test("Escape codes stand only where colours are allowed")
    func colors() {
        #expect(Screen().terminal(color: true).styled("a", .bold) == "\u{1B}[1ma\u{1B}[0m")
        #expect(Screen().terminal(color: false).styled("a", .bold) == "a")
        #expect(Terminal.allowsColor(isTerminal: true, environment: ["TERM": "xterm"]))
        #expect(Terminal.allowsColor(isTerminal: true, environment: ["NO_COLOR": ""]))
        #expect(!Terminal.allowsColor(isTerminal: false, environment: [:]))
        #expect(!Terminal.allowsColor(isTerminal: true, environment: ["NO_COLOR": "1"]))
        #expect(!Terminal.allowsColor(isTerminal: true, environment: ["TERM": "dumb"]))
    }

    @Test("Numbers, times and sizes read well")
    func figures() {
        #expect(Figures.grouped(3_932_182_704) == "3,932,182,704")
        #expect(Figures.grouped(-1234) == "-1,234")
        #expect(Figures.grouped(999) == "999")
        #expect(Figures.grouped(Int64.min) == "-9,223,372,036,854,775,808")
        #expect(Figures.counted(1, "statement") == "1 statement")
        #expect(Figures.counted(1200, "country", "countries") == "1,200 countries")
        #expect(Figures.duration(0.00085) == "850 µs")
        #expect(Figures.duration(0.0123) == "12.3 ms")
        #expect(Figures.duration(0.5) == "500 ms")
        #expect(Figures.duration(4.561) == "4.56 s")
        #expect(Figures.duration(125) == "2:05 min")
        #expect(Figures.bytes(512) == "512 B")
        #expect(Figures.bytes(7_149_000) == "7.1 MB")
        #expect(Figures.bytes(999_960) == "1.0 MB")
        #expect(Figures.fixed(-0.04, 1) == "0.0")
    }
}
