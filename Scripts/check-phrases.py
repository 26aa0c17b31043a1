#!/usr/bin/env python3
"""Finds phrases that read like a translation, and suggests plain English.

It reads the comments and string literals of Swift files, the comments of Makefiles and scripts, and the prose of Markdown files.
Code in backticks, code blocks and interpolations is not prose and is skipped. In tests only comments are read.

    Scripts/check-phrases.py                 checks the repository
    Scripts/check-phrases.py Sources/Strata  checks some files or folders
    Scripts/check-phrases.py --list          prints the rules
    Scripts/check-phrases.py --self-test     checks the rules against their examples

A phrase that is right where it is can be allowed in its paragraph, or in the line before it, by the name of the rule:
`phrases:allow(alone)`, in a comment. It ends with status 1 if it finds anything.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACES = ["Sources", "Plugins", "Tests", "Scripts", "Makefile", ".ci", "Fuzz", "Benchmarks", "Documentation", "*.md"]


class Rule:
    """A pattern with the reason why it is bad, what to write instead, and examples that it must and must not find."""

    def __init__(self, name, pattern, reason, instead, bad, good):
        self.name, self.reason, self.instead, self.bad, self.good = name, reason, instead, bad, good
        self.pattern = re.compile(pattern, 0 if name == "riddle" else re.IGNORECASE)


# Verbs of motion keep their usual meaning before these words.
ON = r"(?! (?:on|to|through|into|back|from|up|wrong|by|over|out|down|in|along|straight|as|with|ahead|past|there|first|where|beyond|away|one|under|via|here|directly|before|after|last|nowhere|together|round|further|for|unnoticed|across|no))"
RULES = [
    Rule("alone", r"(?<!left )(?<!leave )(?<!leaves )(?<!leaving )(?<!let )(?<!signs )(?<!leave it )(?<!leaves it )(?<!leave them )(?<!leaves them )(?<!stand-)(?<!stands )\balone\b",
         "'alone' after a noun is literary", "only",
         ["It lives in memory alone.", "The server alone decides."], ["Other objects are left alone.", "Leave it alone."]),
    Rule("is-no", r"(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|different\b|better\b|worse\b|later\b|one\b|greater\b)\w+",
         "'is no X' is emphatic", "is not a X; has no X; does not …",
         ["The file is no store.", "These are no strings."], ["There is no store.", "It is no longer needed.", "It has no name."]),
    Rule("is-none", r"(?<!there )\b(?:is|are|was|were) none\b(?! of)", "'is none' is a riddle", "name what is missing",
         ["A pattern that is none."], ["If there is nothing, none of them runs."]),
    Rule("stands", r"\b(?:stands?|stood|standing) (?:in(?! line| for| the way)|at|behind|on|there|next|under|outside|inside|beside|before|between|alone|apart|elsewhere|here|first|last|where|by|after|against|twice|one)\b",
         "data does not stand anywhere", "is in; is at; comes before; conflicts with",
         ["How it behaves stands in the guide.", "Bytes stand behind the slots."],
         ["The variable stands for the object.", "Writes stand in line.", "A mock stands in for the server."]),
    Rule("superlatives", r"(?<!at )(?<!not )(?<!the very )\b(?:greatest|least)\b(?! privilege| common| recently| one| once| squares| work| significant|\()",
         "limits are not great", "maximum, minimum, largest, smallest",
         ["The greatest number of objects.", "The least of both."], ["It takes at least one.", "At the very least, close it.", "The least recently used page.", "asin(least(1, x))"]),
    Rule("great", r"\b(?:this|that|so|as|too|how) great\b", "numbers are large, not great", "large, high",
         ["Numbers must be at least this great."], ["A great circle."]),
    Rule("at-once", r"(?:\b(?:is|are|was|be|runs?|ends?|resumes?|right|correct|sent|called|told|deleted|wakes?|begin|begins|goes?|known|back|update|updates|queue|stops?|returns?|throws?|fails?|saved|written|visible|appears?|merged) at once\b|, at once\b|\bat once (?:if|when|as))",
         "'at once' also means 'at the same time'", "immediately",
         ["Inverses are right at once.", "It runs on the queue, at once if it can."], ["It runs at most once.", "Several threads at once."]),
    Rule("anew", r"\banew\b", "archaic", "again; from scratch", ["It is computed anew."], ["It is a new one."]),
    Rule("shall", r"\bshall\b", "legal or archaic", "is to, should, will, must", ["As it shall be."], ["A shallow copy."]),
    Rule("somebody", r"\bwhoever\b|\b(?:somebody|nobody|everybody|anybody) (?:asks?|asked|wants?|looks?|looked|reads|waits?|waited|hears?|listens|holds|keeps|knows?|needs?|learns?)\b",
         "programs are not people", "the caller; another process; nothing; every context",
         ["Whoever reads it.", "As long as somebody holds it."], ["Nobody is logged in.", "Some body text."]),
    Rule("those-who", r"\bfor (?:the one|those) who (?:asks?|asked|cannot|can|have|wait)\b|\b(?:all|those) who wait\b", "programs are not people", "the caller; callers that; clients that",
         ["For those who cannot suspend.", "What it means for the one who asked."], ["Users who sign in."]),
    Rule("so-many", r"\b(?:has|have|had|at least|at most|beyond|up to|for|of|after|by|than|but|begins|every|in|take|takes|with) so (?:many|long|few|much)\b(?! as| that| \w+ that)",
         "German 'so viele'", "this many; the given number of; that long",
         ["Text must have at least so many characters.", "Wait for so long."], ["It has so many rows that it pages."]),
    Rule("behind", r"(?<!fall )(?<!falls )(?<!left )(?<!leave )(?<!leaves )(?<!leaves nothing )(?<!leaves objects )(?<!left something )(?<!further )(?<!look-)(?<!be )(?<!lag )(?<!lags )\bbehind\b(?! the scenes| the trait| a (?:reverse )?proxy| a load balancer| a lock| the lock| a firewall| a flag| by | the server| a bad network| TLS| in a )",
         "order is before and after", "after; following",
         ["The bytes come behind the slots."], ["Behind the scenes it batches.", "It falls behind."]),
    Rule("hang-together", r"\bhangs? together\b", "German 'zusammenhängen'", "are related", ["How entities hang together."], ["It hangs up."]),
    Rule("also-even", r", also (?:without|when|if|in|for|by|to|from|with|of|under|where|after|at|on|nil|through|while|because|such|those|what|as)\b",
         "German 'auch'", "even …; including …; put 'also' before the verb",
         ["It can be read, also without its context."], ["It can also be read without its context."]),
    Rule("neither", r"(?:,| nor)[^.,;:]{0,30} neither[.;,]|\bno \w+ neither\b", "double negation", "not … either",
         ["There is nothing unknown, in SQL neither."], ["Neither of them is nil."]),
    Rule("any-more", r"\b(?:not|cannot)\b[^.,;:]{0,45}\bany ?more\b", "German 'nicht mehr'", "no longer", ["It does not exist any more."], ["There are many more.", "Until nothing changes any more."]),
    Rule("no-more-than-header", r"\b(?:no more of|nothing more of)\b", "riddle", "only …", ["There is no more of the row than its key."], ["No more than 10 rows."]),
    Rule("of-a-name", r"(?<!form )(?<!part )(?<!place )(?<!bytes )\bof (?:a name(?! or| is| that)|the given name|some names)\b", "'of a name' is not English", "with the given name; named",
         ["The attribute of a name."], ["The length of the name.", "The snake_case form of a name."]),
    Rule("made-of", r"\bmakes? (?:an?|the) (?!copy|list|part|use|pass|pair|note|set|view|member)\w+(?: \w+)? of (?:them|it|its|these|this|some)\b",
         "German 'machen aus'", "creates … from", ["Checks declarations and makes a model of them."], ["It makes a copy of it."]),
    Rule("goes", r"\b(?:rows?|objects?|values?|files?|data|links?|entity|attribute|relationship|element|context|tables?|container|columns?|indexe?s?|entries|entry|store|it|they|these|which) (?:goes|go|went)\b" + ON + r"(?=[.,;:]|$| (?:when|if|while|and|unless|as soon|until|too|with|once))",
         "things do not go", "is deleted; is removed; is released",
         ["The rows go.", "It goes when the store closes."], ["It goes on.", "Rows go to the server."]),
    Rule("go-with", r"\b(?:goes|go) with (?:it|them|its|their|all|the)\b", "things do not go", "is deleted with; is removed along with",
         ["The entity goes with all its objects."], ["Choose a color that goes well with it."]),
    Rule("let-go", r"\b(?:lets?|letting) (?:\w+ )?go\b|\blets? go of\b|\blet them go\b", "idiom", "releases; closes; frees",
         ["A client is let go with it."], ["Let the import run."]),
    Rule("looks-whether", r"\b(?:looks?|looking|looked) (?:whether|if|after whether)\b",
         "German 'schauen, ob'", "checks whether", ["Looks whether a program matches."], ["Checks whether it matches.", "It looks like text."]),
    Rule("hear-of", r"\b(?:hears?|heard|hearing) of\b|\btold of\b|\btells? of\b", "stores and contexts do not talk",
         "is notified of; reports", ["Contexts hear of it.", "It tells of changes."], ["Tell the store.", "It tells rows from headers."]),
    Rule("faster", r"\bothers? (?:was|were|is|are|has been|have been) faster\b", "riddle", "has been changed by another context",
         ["Nothing was written, because others were faster."], ["This is faster."]),
    Rule("have-a-say", r"\bha(?:s|ve) a say\b|\bto blame\b|\bat fault\b", "idiom", "say what affects it; say what failed",
         ["No locale has a say."], ["They have a name."]),
    Rule("affair", r"\baffairs?\b", "German 'Sache von'", "responsibility; … handles it", ["That is the server's affair."], ["A fair share."]),
    Rule("beside", r"\bbeside\b", "archaic", "next to; besides; alongside; in addition to",
         ["A file beside the store."], ["Besides, it is fast."]),
    Rule("farther", r"\bfarther\b", "archaic", "further", ["It goes farther."], ["It goes further."]),
    Rule("takes-in", r"\b(?:takes?|taken|taking|took) (?:it |them |that |this )?in\b(?= (?:the |what|saves?|commits?|changes?|others?|their|its|all|at |by |before|again|a save)|[.,;:]|$)",
         "German 'aufnehmen'", "merges; applies; reads",
         ["It takes in the saves of other contexts.", "They are taken in."], ["It takes in turn one of each."]),
    Rule("wanted", r"\b(?:is|are|was|were|not) wanted\b", "programs have no wishes", "is requested; is needed", ["As far as it is wanted."], ["The wanted list."]),
    Rule("signs", r"\b(?:the|two|other|some|any|all|these|such) signs\b", "German 'Zeichen'", "characters", ["The signs after the backslash."], ["She signs in."]),
    Rule("else", r"(?:, |; )else (?:the|a|an|it|one|what|from|in|to|on|with|nil|by|as|is|that|those|all|this|whatever|for)\b",
         "'else' is code", "otherwise; or", ["The own value, else the default."], ["Everything else stays.", "Or else it fails."]),
    Rule("all-else", r"\ball else\b", "archaic", "everything else; anything else; otherwise", ["False for all else."], ["All the others."]),
    Rule("last-after", r"\b(?:read|saved|looked at|begun|seen|written|used|changed|asked|tried|fetched|sent|synchronised|synchronized) last\b(?! (?:week|time|month|year))",
         "adverb order", "last read; last saved", ["As it was read or saved last."], ["As it was last read."]),
    Rule("should-inversion", r", should (?:the|it|this|they|a|an|one|any)\b", "inversion", "if …", ["It is kept, should the part fail."], ["It should be kept."]),
    Rule("archaic", r"\b(?:lest|whence|thereof|hitherto|ought|whereof|wherein|thereto|albeit|nay|thrice|notwithstanding)\b", "archaic", "a plain word",
         ["Locked, lest others write."], ["The last one."]),
    Rule("to-say", r"\bfor (?:you|the \w+|it|them|him) to (?:say|tell)\b", "idiom", "… decides", ["Which one stays is for you to say."], ["Wait for it to finish."]),
    Rule("each-for-itself", r"\bfor (?:itself|themselves)\b", "German 'für sich'", "on its own; separately", ["Each fails for itself."], ["It speaks to itself."]),
    Rule("pieces-each", r"\bone a (?:line|second|row|minute)\b|\ba (?:bit|line|row|statement|table|column|thread) each\b|\ba statement a row\b",
         "telegram style", "one per line; one bit for each", ["The faults, one a line."], ["One per line."]),
    Rule("time-out", r"\btime-outs?\b", "spelling", "timeout", ["The time-out is 5 s."], ["The timeout is 5 s.", "Calls time out."]),
    Rule("look-up", r"\blook-ups?\b", "spelling", "lookup", ["A look-up by key."], ["A lookup by key.", "Look up the key."]),
    Rule("mend", r"\b(?:mend|mends|mended|mending)\b", "literary", "repair, fix", ["It mends the graph."], ["An amendment."]),
    Rule("nor-is", r"\bNor (?:is|are|does|do|has|have|can|will)\b", "inversion", "It also does not …", ["Nor is a back end asked."], ["Neither one nor two."]),
    Rule("besides-that", r"\bbesides that\b|\bbut that (?:the|it|they|a)\b", "stacked clauses", "except that; in addition",
         ["It changes nothing but that the date is new."], ["But the date stays."]),
    Rule("like-this", r"\b(?:given|kept|done|called|written|stored|answered|told|begin|begins) so\b(?! that| far| long| many)", "German 'so'", "this way; like this",
         ["Encoded forms are given so.", "Words that begin so."], ["It is done so that it fits."]),
    Rule("there-already", r"\b(?:is|are|was|were) there (?:already|still|as long|for as long|to be)\b|\b(?:is|are) already there\b|\bstill there\b", "vague", "exists already; still exists",
         ["It is there already."], ["Is there a store?"]),
    Rule("riddle", r"(?:^|[.] )What (?:is|are|was|has been|cannot be|may not be|came|comes|no \w+|others?) (?:(?!(?:that|which|whether|when|if|once|because|where|who|by|how|and) )[\w'-]+ )*?(?:is|are|stays?|goes|was|were|waits?|counts?|gets?) (?=[\w])",
         "a clause as the subject is a riddle", "name the thing first",
         ["What no row can describe is not checked.", "What is larger is beyond every number."],
         ["What happened and what to do.", "What is this?"]),
    Rule("hold-to", r"\bholds? (?:them|it|this|that|these) to\b|\bheld to\b", "idiom", "limits; enforces", ["Bounds that make test holds them to."], ["Hold the key."]),
    Rule("pile-up", r"\bpiles? up\b|\bin nobody's\b|\bcome to (?:its|their) end\b|\bcomes to (?:its|their) end\b", "idiom", "accumulate; ends; finishes",
         ["Notices would pile up.", "It comes to its end."], ["It ends."]),
    Rule("not-after-speed", r"\bafter speed\b|\bnot after\b", "German 'hinter etwas her'", "for which speed does not matter",
         ["Stores that are not after speed."], ["It comes after that."]),
    Rule("one-that-is-not", r"\bthat is not one\b(?! of)|\bthat are not such\b|\bwhat is not one\b", "riddle", "name what it is not", ["A value that is not one."], ["One that is not nil."]),
    Rule("hands-on", r"\bhands? (?:\w+ ){0,4}on to\b|\bhands? (?:\w+ ){0,2}down to\b", "idiom", "passes to", ["Hands the changes on to contexts."], ["Passes it to the context."]),
    Rule("own-before-noun", r"\b(?:the|an|all) own (?:row|value|name|attributes?|properties|property|changes?|commits?|entity|key|process|store)\b",
         "German 'der eigene'", "its own …", ["A key in a slot of the own row."], ["A key in a slot of its own row."]),
    Rule("the-same-for", r"\bfor the same (?:in|as)\b|\bfor equal\b", "German 'halten für'", "treats as equal", ["SQLite takes them for the same in names.", "Swift takes these texts for equal."], ["The same for all."]),
    Rule("up-to-behind", r"\bup to (?:behind|before|after)\b", "riddle", "up to and including", ["Purged up to behind it."], ["Up to it."]),
    Rule("long-for", r"\b(?:for as long as it lives|as long as it lives)\b", "things do not live", "while it exists", ["It is kept for as long as it lives."], ["It is kept while it exists."]),
    Rule("out-of-date-words", r"\b(?:upwards of|in so far|insofar|inasmuch|forthwith|henceforth|nought|betwixt|amongst|whilst|unto|upon)\b", "archaic", "a plain word",
         ["A list built upon another.", "Whilst it waits."], ["A list built on another."]),
    Rule("once-each", r"\bonce each\b|\bone by one each\b", "telegram style", "once for each", ["Asked of ICU, once each."], ["Once for each."]),
    Rule("wait-for-one", r"\bfor want of\b|\bin want of\b|\bfor lack of\b", "literary", "without; because there is no", ["For want of a better name."], ["It waits for a name."]),
    Rule("be-it", r"\bbe it\b|\bbe they\b|\bcome what may\b", "idiom", "whether … or", ["Each value, be it nil or not."], ["It may be its own."]),
    Rule("whose-is", r"\bwhose (?:is|are) (?:the|it|a)\b", "word order", "that owns", ["The object whose is the property."], ["Whose name is it?"]),
    Rule("ours", r"\bours to\b|\bnot ours\b|\btheirs to\b", "idiom", "belongs to another project", ["Packages that others wrote are not ours to change."], ["Hours to go."]),
]
RULES_BY_NAME = {rule.name: rule for rule in RULES}
ALLOWED = re.compile(r"phrases:allow\(([\w, -]+)\)")
ITEM = re.compile(r"^(?:[-*] |\d+\. |\||#)")


class Prose:
    """Gathers lines of prose into paragraphs, so that a phrase is found across the end of a line."""

    def __init__(self):
        self.paragraphs, self.lines = [], []

    def end(self):
        if self.lines:
            self.paragraphs.append(self.lines)
        self.lines = []

    def add(self, number, text):
        text = text.strip()
        if not text:
            return self.end()
        if ITEM.match(text):
            self.end()
        self.lines.append((number, text))

    def alone(self, number, text):
        self.end()
        self.lines = [(number, text)]
        self.end()


def without_code(text):
    """Prose in which code does not count: spans in backticks, links, addresses and files."""
    text = re.sub(r"``[^`]+``|`[^`]+`", "X", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"https?://\S+", "X", text)


def literals(line):
    """The string literals of a line of Swift without what is interpolated, and the comment behind the code."""
    texts, i, n = [], 0, len(line)
    while i < n:
        if line.startswith("//", i):
            return texts, line[i:].lstrip("/ ")
        if line[i] != '"':
            i += 1
            continue
        i, text = i + 1, ""
        while i < n and line[i] != '"':
            if line[i] == "\\" and i + 1 < n and line[i + 1] == "(":
                depth, i = 1, i + 2
                while i < n and depth:
                    depth += {"(": 1, ")": -1}.get(line[i], 0)
                    i += 1
                text += "X"
            elif line[i] == "\\":
                text += " "
                i += 2
            else:
                text += line[i]
                i += 1
        texts.append(text)
        i += 1
    return texts, ""


# Texts for machines: SQL, JSON, paths.
MACHINE = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|WHERE|FROM|BEGIN|ALTER|DROP)\b|[{}<>]")


def swift(lines, with_texts):
    prose, fenced, in_text, hold = Prose(), False, False, None
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if not in_text and stripped.startswith("//"):
            text = stripped.lstrip("/")
            if hold is not None:
                prose.end()
                hold = None
            if text.strip().startswith("```"):
                fenced = not fenced
                prose.end()
            elif fenced or re.match(r"^ {4,}\S", text) and not prose.lines:
                prose.end()
            else:
                prose.add(number, text)
            continue
        fenced = False
        if hold is None:
            hold = False
        if not (hold and stripped.startswith(("+ ", '"'))):
            prose.end()
        if in_text or line.count('"""') % 2:
            if with_texts and in_text and '"""' not in line and not MACHINE.search(line):
                prose.add(number, re.sub(r"\\\([^)]*\)", "X", line))
            if line.count('"""') % 2:
                in_text = not in_text
            continue
        texts, comment = literals(line)
        if with_texts:
            hold = False
            for text in texts:
                if len(text.split()) > 1 and not MACHINE.search(text):
                    prose.add(number, text)
                    hold = stripped.endswith('"')
        if comment:
            prose.alone(number, comment)
    prose.end()
    return prose.paragraphs


def hashed(lines):
    prose = Prose()
    for number, line in enumerate(lines, 1):
        match = re.match(r"^\s*#(?!!)(.*)$", line) or re.search(r"\s#\s(.*)$", line)
        prose.add(number, match.group(1) if match else "")
    prose.end()
    return prose.paragraphs


def markdown(lines):
    prose, fenced, contrast = Prose(), False, False
    for number, line in enumerate(lines, 1):
        # A table with the heading "Not" shows in its first column how not to write.
        contrast = line.startswith("|") and (contrast or line.startswith("| Not |"))
        if contrast:
            line = "|" + line.split("|")[2] + "|"
        if line.strip().startswith("```"):
            fenced = not fenced
            prose.end()
        elif fenced or line.startswith("    ") and not prose.lines:
            prose.end()
        else:
            prose.add(number, line)
    prose.end()
    return prose.paragraphs


def paragraphs(path, name):
    lines = path.read_text(errors="replace").splitlines()
    if path.suffix == ".swift":
        return lines, swift(lines, not name.startswith("Tests/"))
    if path.suffix == ".md":
        return lines, markdown(lines)
    return lines, hashed(lines)


def findings(text):
    """What the rules find in a paragraph: the rule, and where the match begins and ends."""
    plain = without_code(text)
    for rule in RULES:
        for match in rule.pattern.finditer(plain):
            yield rule, match, plain


def check(path, name):
    lines, found = paragraphs(path, name)
    count = 0
    for paragraph in found:
        first = paragraph[0][0]
        before = lines[first - 2] if first > 1 else ""
        allowed = set(re.split(r"[, ]+", " ".join(ALLOWED.findall(before + " ".join(text for _, text in paragraph)))))
        text = " ".join(text for _, text in paragraph)
        for rule, match, plain in findings(text):
            if rule.name in allowed:
                continue
            # The line of the match, by how many words come before it.
            words, number = len(plain[: match.start()].split()), first
            for number, line in paragraph:
                words -= len(without_code(line).split())
                if words < 0:
                    break
            around = plain[max(0, match.start() - 45): match.end() + 45]
            print(f"{name}:{number}: [{rule.name}] …{around}…  {rule.reason}; write: {rule.instead}")
            count += 1
    return count


def self_test():
    failures = []
    for rule in RULES:
        for text in rule.bad:
            if not any(found.name == rule.name for found, _, _ in findings(text)):
                failures.append(f"{rule.name} does not find: {text}")
        for text in rule.good:
            if any(found.name == rule.name for found, _, _ in findings(text)):
                failures.append(f"{rule.name} finds: {text}")
    source = [
        "/// The row lives in", "/// memory alone.", "///", "///     let alone = is.alone", 'let a = "kept in memory alone"',
        "// It is alone; but `alone` is code.", "let c = 1", "// `alone`", 'let sql = "SELECT alone FROM t"', 'let b = "\\(x) is no file alone"',
    ]
    found = [(p[0][0], rule.name) for p in swift(source, True) for rule, _, _ in findings(" ".join(t for _, t in p))]
    expected = [(1, "alone"), (5, "alone"), (6, "alone"), (10, "alone"), (10, "is-no")]
    if found != expected:
        failures.append(f"extraction: {found}")
    names = [rule.name for rule in RULES]
    failures += [f"two rules are called {name}" for name in set(names) if names.count(name) > 1]
    for failure in failures:
        print(failure, file=sys.stderr)
    if not failures:
        print(f"{len(RULES)} rules, {sum(len(r.bad) + len(r.good) for r in RULES)} examples: all as expected")
    return 1 if failures else 0


def files(places):
    for place in places:
        for path in sorted(ROOT.glob(place)) if "*" in place else [ROOT / place]:
            members = sorted(path.rglob("*")) if path.is_dir() else [path]
            for member in members:
                name = str(member.relative_to(ROOT))
                # Licences keep their words; the guides' code is that of the documentation.
                if member.name == "NOTICE.md" or "/Guides/" in name or member == pathlib.Path(__file__).resolve() or any(part.startswith(".build") or part == "Corpus" for part in member.parts):
                    continue
                if member.is_file() and (member.suffix in (".swift", ".md", ".sh", ".py") or member.name in ("Makefile", "run")):
                    yield member, name


def main(arguments):
    if "--self-test" in arguments:
        return self_test()
    if "--list" in arguments:
        for rule in RULES:
            print(f"{rule.name}: {rule.reason}; write: {rule.instead}. Not: {rule.bad[0]}")
        return 0
    count = checked = 0
    for path, name in files(arguments or PLACES):
        checked += 1
        count += check(path, name)
    print(f"{checked} files, {count} phrases to reword", file=sys.stderr if count else sys.stdout)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
