import Foundation
import Hummingbird
import HummingbirdTesting
import Synchronization
import Testing

@testable import live_cities

/// The page in a real browser.
@Suite(.timeLimit(.minutes(3))) struct BrowserTests {
    static let browser = ["chromium", "chromium-browser", "google-chrome"]
        .flatMap { name in
            (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
        }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Shows the page in a frame, and reports its text each time it changes.
    private static let frame = """
        <!doctype html>
        <iframe id="page" src="/" width="800" height="600"></iframe>
        <script>
            document.getElementById("page").onload = event => {
                const body = event.target.contentDocument.body;
                const report = () => fetch("/report", { method: "POST", body: body.innerText });
                new MutationObserver(report).observe(body, { subtree: true, childList: true, characterData: true });
                report();
            };
        </script>
        """

    /// What the browser shows now.
    private final class Screen: Sendable {
        private let text = Mutex("")
        func show(_ new: String) { text.withLock { $0 = new } }

        /// Waits until the text has some words in an order.
        func wait(for words: [String]) async throws -> String {
            for _ in 0..<600 {
                let now = text.withLock { $0 }
                var rest = Substring(now)
                let found = words.allSatisfy { word in
                    guard let range = rest.firstRange(of: word) else { return false }
                    rest = rest[range.upperBound...]
                    return true
                }
                if found { return now }
                try await Task.sleep(for: .milliseconds(100))
            }
            return "after a minute, the page shows: " + text.withLock { $0 }
        }
    }

    @Test(
        "A headless browser shows what another process changes",
        .enabled(if: browser != nil, "there is no Chromium; on Debian, apt-get install chromium"))
    func page() async throws {
        let store = try SampleStore(["Tokyo": 3000, "Delhi": 2000, "Lima": 1000])
        let screen = Screen()
        let router = try await routes(LiveList(store.container(), top: 3))
        router.get("frame") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/html"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: Self.frame)))
        }
        router.post("report") { request, _ in
            screen.show(String(buffer: try await request.body.collect(upTo: 100_000)))
            return HTTPResponse.Status.noContent
        }
        try await Application(router: router).test(.live) { client in
            let port = try #require(client.port)
            let profile = store.folder.appending(path: "profile").path
            let browser = Process()
            browser.executableURL = URL(fileURLWithPath: try #require(Self.browser))
            browser.arguments = [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=\(profile)",
                "--remote-debugging-port=0", "http://127.0.0.1:\(port)/frame",
            ]
            browser.standardError = FileHandle.nullDevice
            try browser.start()
            defer {
                browser.terminate()
                browser.waitUntilExit()
            }
            let first = try await screen.wait(for: ["Tokyo", "3,000", "Delhi", "2,000", "Lima", "1,000"])
            #expect(first.contains("3 cities, 0 changes"))

            let status = try await runProgram("edit", store.path, "--city", "Lima", "--population", "2500")
            #expect(status == 0)
            let moved = try await screen.wait(for: ["Tokyo", "Lima", "2,500", "Delhi"])
            #expect(moved.contains("3 cities, 1 changes"))

            let second = try await runProgram("edit", store.path, "--city", "Tokyo", "--population", "4444")
            #expect(second == 0)
            let changed = try await screen.wait(for: ["Tokyo", "4,444", "Lima", "Delhi"])
            #expect(changed.contains("3 cities, 2 changes"))
        }
    }
}
