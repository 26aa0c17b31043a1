extension EntityDiagram {
    /// The picture as SVG: readable on light and dark grounds (it follows the reader's colour scheme), with the names
    /// of both relationships as the tooltip of each line.
    public func svg() -> String { SVGDrawing(diagram: self).text() }
}

/// Draws a diagram.
private struct SVGDrawing {
    let diagram: EntityDiagram
    private let router: EdgeRouter
    /// Which edges of the layout are which: links first, then inheritance.
    private let links: [EntityDiagram.Link]
    private let heirs: [Int]

    private static let rowHeight = 19.0
    private static let headerHeight = 32.0
    private static let padding = 12.0
    private static let border = 28.0
    private static let titleHeight = 40.0
    private static let loopWidth = 30.0

    init(diagram: EntityDiagram) {
        self.diagram = diagram
        links = diagram.links.filter { $0.from != $0.to }
        heirs = diagram.boxes.indices.filter { diagram.boxes[$0].parent != nil }
        let loops = Set(diagram.links.filter { $0.from == $0.to }.map(\.from))
        let sizes = diagram.boxes.enumerated().map { index, box in
            (
                width: Self.width(of: box) + (loops.contains(index) ? 2 * Self.loopWidth : 0),
                height: Self.height(of: box)
            )
        }
        // The one stands above the many, and what is inherited from above its heirs.
        let edges = links.map {
            $0.fromCardinality.isMany && !$0.toCardinality.isMany ? ($0.to, $0.from) : ($0.from, $0.to)
        }
        let inheritance = heirs.map { (diagram.boxes[$0].parent ?? 0, $0) }
        // Inheritance first: its arrows must point upwards.
        let layout = LayeredLayout(sizes: sizes, edges: inheritance + edges)
        router = EdgeRouter(layout: layout)
    }

    private static func height(of box: EntityDiagram.Box) -> Double {
        let rows = Double(box.attributes.count + box.relationships.count)
        let divider = box.attributes.isEmpty || box.relationships.isEmpty ? 0.0 : 9.0
        return headerHeight + (rows == 0 ? 0 : rows * rowHeight + 12) + divider
    }

    private static func width(of box: EntityDiagram.Box) -> Double {
        let rows = (box.attributes + box.relationships).map { textWidth($0.name) + textWidth($0.type) + 22 }
        return max(130, textWidth(box.name) * 1.25 + 40, (rows.max() ?? 0)) + 2 * padding
    }

    /// The width of text at 12.5 px, with room to spare: fonts differ.
    private static func textWidth(_ text: String) -> Double { Double(text.count) * 6.9 }

    func text() -> String {
        let nodes = router.layout.nodes
        let width = max(300, (nodes.map { $0.x + $0.width / 2 }.max() ?? 0) + 2 * Self.border)
        let height = router.height + Self.titleHeight + 2 * Self.border
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(number(width)) \(number(height))\" width=\"\(number(width))\" "
                + "height=\"\(number(height))\" role=\"img\" aria-label=\"Entities of the model \(escaped(diagram.title))\">",
            "<title>\(escaped(diagram.title))</title>", Self.style,
            "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>",
            "<text class=\"title\" x=\"\(number(Self.border))\" y=\"\(number(Self.border + 12))\">\(escaped(diagram.title))</text>",
            "<g transform=\"translate(\(number(Self.border)) \(number(Self.border + Self.titleHeight)))\">",
        ]
        for (position, heir) in heirs.enumerated() { lines.append(inheritance(router.lines[position], heir)) }
        for (position, link) in links.enumerated() { lines.append(self.link(link, heirs.count + position)) }
        for (index, box) in diagram.boxes.enumerated() { lines += self.box(box, index) }
        for link in diagram.links where link.from == link.to { lines.append(loop(link)) }
        return (lines + ["</g>", "</svg>"]).joined(separator: "\n") + "\n"
    }

    private static let style = """
        <style>
        .ground { fill: #ffffff } .title { font: 600 18px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1c2733 }
        .box { fill: #ffffff; stroke: #9fb0c0; stroke-width: 1.2 } .head { fill: #2f6690 } .head.abstract { fill: #7c8a97 }
        .name { font: 600 14px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #ffffff; text-anchor: middle }
        .name.abstract { font-style: italic }
        .row { font: 12.5px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1c2733 } .key { font-weight: 700 }
        .type { font: 12px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #64748b; text-anchor: end } .target { fill: #2f6690 }
        .divider { stroke: #d5dde5 } .line { fill: none; stroke: #52677a; stroke-width: 1.4 } .end { fill: #ffffff; stroke: #52677a; stroke-width: 1.4 }
        .heir { fill: none; stroke: #9a6b1f; stroke-width: 1.4; stroke-dasharray: 5 3 } .arrow { fill: #ffffff; stroke: #9a6b1f; stroke-width: 1.4 }
        @media (prefers-color-scheme: dark) {
        .ground { fill: #11171d } .title, .row { fill: #e6edf3 } .box { fill: #1a222b; stroke: #4a5b6b } .type { fill: #93a4b5 } .target { fill: #7fb8e0 }
        .divider { stroke: #33404d } .line { stroke: #a5b6c7 } .end { fill: #11171d; stroke: #a5b6c7 } .heir, .arrow { stroke: #e0b062 } .arrow { fill: #11171d }
        }
        </style>
        """

    // MARK: Boxes

    private func frame(_ index: Int) -> (left: Double, top: Double, width: Double, height: Double) {
        let node = router.layout.nodes[index]
        let width = Self.width(of: diagram.boxes[index])
        return (node.x - width / 2, node.y, width, node.height)
    }

    private func box(_ box: EntityDiagram.Box, _ index: Int) -> [String] {
        let (left, top, width, height) = frame(index)
        let mark = box.isAbstract ? " abstract" : ""
        let l = number(left)
        let t = number(top)
        let w = number(width)
        let isHeaderAlone = box.attributes.isEmpty && box.relationships.isEmpty
        let header =
            isHeaderAlone
            ? "<rect class=\"head\(mark)\" x=\"\(l)\" y=\"\(t)\" width=\"\(w)\" height=\"\(number(height))\" rx=\"6\"/>"
            : "<path class=\"head\(mark)\" d=\"M\(l) \(number(top + Self.headerHeight)) V\(number(top + 6)) q0 -6 6 -6 "
                + "H\(number(left + width - 6)) q6 0 6 6 V\(number(top + Self.headerHeight)) Z\"/>"
        var lines = [
            "<g>", "<rect class=\"box\" x=\"\(l)\" y=\"\(t)\" width=\"\(w)\" height=\"\(number(height))\" rx=\"6\"/>",
            header,
            "<text class=\"name\(mark)\" x=\"\(number(left + width / 2))\" y=\"\(number(top + 21))\">\(escaped(box.name))</text>",
        ]
        var y = top + Self.headerHeight + 19
        func add(_ row: EntityDiagram.Row, _ typeClass: String) {
            lines.append(
                "<text class=\"row\(row.isKey ? " key" : "")\" x=\"\(number(left + Self.padding))\" y=\"\(number(y))\">\(escaped(row.name))</text>"
                    + "<text class=\"type\(typeClass)\" x=\"\(number(left + width - Self.padding))\" y=\"\(number(y))\">\(escaped(row.type))</text>"
            )
            y += Self.rowHeight
        }
        for row in box.attributes { add(row, "") }
        if !box.attributes.isEmpty, !box.relationships.isEmpty {
            let divider = number(y - 9)
            lines.append("<path class=\"divider\" d=\"M\(l) \(divider) h\(w)\"/>")
            y += 9
        }
        for row in box.relationships { add(row, " target") }
        return lines + ["</g>"]
    }

    // MARK: Lines

    private func inheritance(_ line: EdgeRouter.Line, _ heir: Int) -> String {
        guard let tip = line.points.first else { return "" }
        let parent = diagram.boxes[diagram.boxes[heir].parent ?? 0].name
        let x = number(tip.x)
        let y = number(tip.y)
        return
            "<g><title>\(escaped(diagram.boxes[heir].name)) inherits from \(escaped(parent))</title><path class=\"heir\" d=\"\(path(line.points))\"/>"
            + "<path class=\"arrow\" d=\"M\(x) \(y) l-7 12 h14 Z\"/></g>"
    }

    private func link(_ link: EntityDiagram.Link, _ edge: Int) -> String {
        let line = router.lines[edge]
        guard let upper = line.points.first, let lower = line.points.last else { return "" }
        let isFromUpper = router.layout.edges[edge].path.first == link.from
        return "<g><title>\(escaped(tooltip(link)))</title><path class=\"line\" d=\"\(path(line.points))\"/>"
            + end(isFromUpper ? link.fromCardinality : link.toCardinality, upper.x, upper.y, 0, 1)
            + end(isFromUpper ? link.toCardinality : link.fromCardinality, lower.x, lower.y, 0, -1) + "</g>"
    }

    /// A relationship of an entity to itself: out of the right side and back.
    private func loop(_ link: EntityDiagram.Link) -> String {
        let (left, top, width, height) = frame(link.from)
        let right = left + width
        let others = diagram.links.filter { $0.from == link.from && $0.to == link.from }
        let position = Double(others.firstIndex { $0.name == link.name } ?? 0)
        let upper = top + Self.headerHeight + 10 + position * 34
        let lower = min(upper + 24, top + height - 4 + position * 34)
        let points = [
            (x: right, y: upper), (right + Self.loopWidth - 4, upper), (right + Self.loopWidth - 4, lower),
            (right, lower),
        ]
        return "<g><title>\(escaped(tooltip(link)))</title><path class=\"line\" d=\"\(path(points))\"/>"
            + end(link.fromCardinality, right, upper, 1, 0) + end(link.toCardinality, right, lower, 1, 0) + "</g>"
    }

    private func tooltip(_ link: EntityDiagram.Link) -> String {
        let forth = "\(diagram.boxes[link.from].name).\(link.name)"
        return link.inverseName.map { "\(forth) ↔ \(diagram.boxes[link.to].name).\($0)" }
            ?? "\(forth) → \(diagram.boxes[link.to].name)"
    }

    /// A line with rounded corners.
    private func path(_ points: [(x: Double, y: Double)]) -> String {
        guard let first = points.first, let last = points.last else { return "" }
        var text = "M\(number(first.x)) \(number(first.y))"
        for index in points.indices.dropFirst().dropLast() {
            let before = points[index - 1]
            let corner = points[index]
            let after = points[index + 1]
            func step(_ to: (x: Double, y: Double)) -> (Double, Double) {
                let length = abs(to.x - corner.x) + abs(to.y - corner.y)
                let radius = min(6, length / 2)
                return length == 0 ? (0, 0) : ((to.x - corner.x) / length * radius, (to.y - corner.y) / length * radius)
            }
            let a = step(before)
            let b = step(after)
            text += " L\(number(corner.x + a.0)) \(number(corner.y + a.1)) Q\(number(corner.x)) \(number(corner.y)) "
            text += "\(number(corner.x + b.0)) \(number(corner.y + b.1))"
        }
        return text + " L\(number(last.x)) \(number(last.y))"
    }

    /// The sign of a cardinality at a box; (dx, dy) points away from it.
    private func end(_ cardinality: EntityDiagram.Cardinality, _ x: Double, _ y: Double, _ dx: Double, _ dy: Double)
        -> String
    {
        func at(_ along: Double, _ across: Double) -> String {
            "\(number(x + dx * along - dy * across)) \(number(y + dy * along + dx * across))"
        }
        func bar(_ along: Double) -> String { "<path class=\"line\" d=\"M\(at(along, -5.5)) L\(at(along, 5.5))\"/>" }
        func ring(_ along: Double) -> String {
            "<circle class=\"end\" cx=\"\(number(x + dx * along))\" cy=\"\(number(y + dy * along))\" r=\"4\"/>"
        }
        let foot = "<path class=\"line\" d=\"M\(at(0, -6)) L\(at(11, 0)) L\(at(0, 6))\"/>"
        switch cardinality {
        case .zeroOrOne: return bar(6) + ring(14)
        case .one: return bar(6) + bar(10)
        case .zeroOrMany: return foot + ring(15)
        case .oneOrMany: return foot + bar(14)
        case .unknown: return ""
        }
    }

    // MARK: Text

    /// A coordinate with one digit after the point, the same on every platform.
    private func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths.isMultiple(of: 10)
            ? String(tenths / 10) : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing(
            "\"", with: "&quot;")
    }
}
