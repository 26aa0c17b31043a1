/// The page: plain HTML, with a script that applies each event to the rows that it concerns.
let page = """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <title>Live cities</title>
    <style>
        body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 40rem; padding: 0 1rem; }
        table { border-collapse: collapse; width: 100%; }
        td, th { padding: 0.2rem 0.5rem; text-align: left; }
        td:last-child, th:last-child { text-align: right; font-variant-numeric: tabular-nums; }
        @keyframes changed { from { background: #fd6; } }
        .changed { animation: changed 1.5s; }
    </style>
    <h1>The largest cities</h1>
    <p id="state">Connecting …</p>
    <table>
        <thead><tr><th>City<th>Country<th>Population</tr></thead>
        <tbody id="cities"></tbody>
    </table>
    <script>
        const list = document.getElementById("cities"), state = document.getElementById("state");
        let changes = 0;

        function fill(line, row) {
            line.replaceChildren(...[row.name, row.country, row.population.toLocaleString("en")].map(text => {
                const cell = document.createElement("td");
                cell.textContent = text;
                return cell;
            }));
            line.classList.remove("changed");
            void line.offsetWidth;  // starts the animation again
            line.classList.add("changed");
            return line;
        }

        const stream = new EventSource("events");
        stream.onerror = () => { state.textContent = "Not connected; trying again …"; };
        stream.onmessage = message => {
            const event = JSON.parse(message.data);
            if (event.all) {
                // The first event of each connection, a new one after a loss included.
                list.replaceChildren(...event.all.map(row => fill(document.createElement("tr"), row)));
            } else {
                const lines = [...list.children], at = place => list.children[place.to] ?? null;
                for (const position of event.deletes) lines[position].remove();
                for (const move of event.moves) lines[move.from].remove();
                const arrivals = [
                    ...event.inserts.map(insert => [insert, document.createElement("tr")]),
                    ...event.moves.map(move => [move, lines[move.from]]),
                ];
                arrivals.sort((a, b) => a[0].to - b[0].to);
                for (const [place, line] of arrivals) list.insertBefore(fill(line, place.row), at(place));
                for (const update of event.updates) fill(at(update), update.row);
                changes += arrivals.length + event.deletes.length + event.updates.length;
            }
            state.textContent = `${list.children.length} cities, ${changes} changes since the page was opened`;
        };
    </script>
    </html>
    """
