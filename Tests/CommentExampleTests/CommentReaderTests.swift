import Testing

/// What counts as code in a doc comment.
@Suite struct CommentReaderTests {
    private func read(_ text: String) -> CommentReader {
        var reader = CommentReader(file: "A.swift")
        reader.read(text)
        return reader
    }

    @Test func indentedLinesAfterAnEmptyLineAreSwift() {
        let reader = read(
            """
            import Foundation

            /// Adds.
            ///
            ///     let a = 1
            ///     if a > 0 {
            ///         print(a)
            ///
            ///     }
            ///
            /// That was it.
            func add() {}
            """)
        #expect(reader.examples.map(\.lines) == [["let a = 1", "if a > 0 {", "    print(a)", "", "}"]])
        #expect(reader.examples.map(\.place) == ["A.swift:5"])
        #expect(reader.examples.map(\.language) == ["swift"])
        #expect(reader.faults.isEmpty)
    }

    @Test func fencesNameTheLanguage() {
        let reader = read(
            """
                /// A model:
                /// ```yaml
                /// model: A
                ///
                /// entities:
                /// ```
                /// ```
                /// let a = 1
                /// ```
                /// ```swfit
                /// let a = 1
                /// ```
                var a: Int
            """)
        #expect(reader.examples.map(\.language) == ["yaml"])
        #expect(reader.examples.map(\.lines) == [["model: A", "", "entities:"]])
        #expect(reader.faults.count == 2)
        #expect(reader.faults.first?.hasPrefix("A.swift:8: the fence needs a language") == true)
    }

    @Test func continuedParametersAreNotCode() {
        let reader = read(
            """
            /// Adds.
            /// - Parameters:
            ///   - a: The first number, with
            ///     a second line.
            ///   - b: The second number.
            ///
            ///     A paragraph of the item.
            ///
            ///         let code = "in the item"
            ///
            /// The end.
            ///
            ///     let after = 1
            """ + "\n")
        #expect(reader.examples.map(\.lines) == [["let code = \"in the item\""], ["let after = 1"]])
        #expect(reader.faults.isEmpty, "\(reader.faults)")
    }

    @Test func codeThatMarkdownTakesForTextIsReported() {
        let reader = read(
            """
            /// Adds:
            ///     let a = 1
            func add() {}
            """)
        #expect(reader.examples.isEmpty)
        #expect(reader.faults == ["A.swift:2: code needs an empty line before it"])
        #expect(read("/// Adds:\n/// ```swift\n/// let a = 1\n").faults == ["A.swift:3: the fence has no end"])
    }

    @Test func conditionsAroundACommentAreThoseOfItsExamples() {
        let reader = read(
            """
            #if Server
                #if canImport(SwiftUI)
                    /// One.
                    ///
                    ///     let a = 1
                    var a: Int
                #elseif os(Linux)
                    /// Two.
                    ///
                    ///     let b = 1
                    var b: Int
                #else
                    /// Three.
                    ///
                    ///     let c = 1
                    var c: Int
                #endif
                /// Four.
                ///
                ///     let d = 1
                var d: Int
            #endif
            /// Five.
            ///
            ///     let e = 1
            var e: Int
            """)
        #expect(
            reader.examples.map(\.conditions) == [
                ["Server", "canImport(SwiftUI)"],
                ["Server", "!(canImport(SwiftUI)) && (os(Linux))"],
                ["Server", "!(canImport(SwiftUI)) && !(os(Linux))"],
                ["Server"], [],
            ])
    }

    @Test func extensionsAreOutsideOfFunctions() throws {
        let reader = read(
            """
            /// A type.
            ///
            ///     import Foundation
            ///
            ///     struct Settings {
            ///         var theme: String
            ///     }
            ///     extension Settings { var isDark: Bool { theme == "dark" } }
            ///     print(Settings(theme: "dark").isDark)
            struct A {}
            """)
        let example = try #require(reader.examples.first)
        #expect(example.imports == ["import Foundation"])
        #expect(
            example.parts.declarations == [
                "", "", "struct Settings {", "    var theme: String", "}",
                "extension Settings { var isDark: Bool { theme == \"dark\" } }", "",
            ])
        #expect(example.parts.statements == ["", "", "", "", "", "", "print(Settings(theme: \"dark\").isDark)"])
    }
}
