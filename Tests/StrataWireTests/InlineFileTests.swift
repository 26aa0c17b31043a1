import Foundation
import StrataWire
import Testing

@Suite struct InlineFileTests {
    @Test func filesAreReadAsTheyAreWritten() throws {
        let file = InlineFile(
            name: "smile 😀 base64.txt", contentType: "text/plain; charset=utf-8", data: Data(0...255))
        #expect(
            file.fieldValue.hasPrefix(
                "Content-Type: text/plain; charset=utf-8\nContent-Disposition: attachment; filename=smile 😀 base64.txt\n"
                    + "Content-Transfer-Encoding: base64\n\nAAEC"))
        #expect(try InlineFile(fieldValue: file.fieldValue) == file)
        let empty = InlineFile(name: "", contentType: "a/b", data: Data())
        #expect(try InlineFile(fieldValue: empty.fieldValue) == empty)
    }

    @Test func aLineBreakInANameDoesNotBeginAnotherHeader() throws {
        let file = InlineFile(
            name: "a\nContent-Transfer-Encoding: none\r\n\n.txt", contentType: "text/html\n\nx", data: Data([1]))
        let read = try InlineFile(fieldValue: file.fieldValue)
        #expect(read.name == "aContent-Transfer-Encoding: none.txt")
        #expect(read.contentType == "text/htmlx")
        #expect(read.data == Data([1]))
    }

    @Test(arguments: [
        "Content-Type: a/b\r\nContent-Disposition: attachment; filename=n\r\nContent-Transfer-Encoding: base64\r\n\r\naGVs\r\nbG8=\r\n",
        "Content-Type:a/b\ncontent-transfer-encoding: BASE64\nCONTENT-DISPOSITION: filename=n\n\naGVsbG8=",
    ]) func headersMayBeSpeltDifferently(text: String) throws {
        #expect(
            try InlineFile(fieldValue: text) == InlineFile(name: "n", contentType: "a/b", data: Data("hello".utf8)))
    }

    @Test func whatHeadersDoNotTellHasAStandIn() throws {
        let file = try InlineFile(fieldValue: "Content-Type: \nContent-Transfer-Encoding: base64\n\n")
        #expect(file == InlineFile(name: "", contentType: "application/octet-stream", data: Data()))
    }

    @Test(arguments: [
        "", "http://example.com/x.png", "content-type: a/b\nContent-Transfer-Encoding: base64\n\naGVsbG8=",
        "Content-Type: a/b\n\naGVsbG8=", "Content-Type: a/b\nContent-Transfer-Encoding: 8bit\n\naGVsbG8=",
        "Content-Type: a/b\nnot a header\nContent-Transfer-Encoding: base64\n\naGVsbG8=", "a base64 b base64 c",
    ]) func otherTextsAreNotFiles(text: String) {
        #expect(throws: InlineFile.Fault.noHeaders) { try InlineFile(fieldValue: text) }
    }

    @Test(arguments: ["%", "aGVsbG8", "aGVsbG8=x", "a G V s"]) func brokenContentIsAnError(content: String) {
        #expect(throws: InlineFile.Fault.noBase64) {
            try InlineFile(fieldValue: "Content-Type: a/b\nContent-Transfer-Encoding: base64\n\n" + content)
        }
    }

    @Test func addressesAreToldFromFiles() {
        #expect(InlineFile.isAddress("http://example.com/x.png"))
        #expect(!InlineFile.isAddress(InlineFile(name: "a", contentType: "b", data: Data()).fieldValue))
    }
}
