r"""A text as it is compared: its words and the signs that are content, without their writing.

JSON, YAML, Markdown, HTML and tables write one value with other signs and white space. Only this
file knows which signs are such writing. A sign is content where it joins two characters of a word
(`a.b`, `10:30`, `x>=5`). It is content where it begins a number or a name (`-40`, `--force`,
`/etc`), and where it ends one (`C++`, `100%`). So is an operator between words.
Currency signs, superscripts and accents are content, and so is the case of letters.

The rest is writing: quotes, braces, commas, semicolons, bars, emphasis, escapes, entities, and one
colon or `=` after a name. So are bullets, other signs at the edge of a word or line, colours and
control characters. Accented letters, ligatures and wide letters have several forms. An agent that
loses only such signs is not seen, as in `f(x`, `a b` and `name` for `f(x)`, `a, b` and `_name`.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cached_property

# A text may be encoded several times, and each time doubles the backslashes.
_ESCAPE = re.compile(
    r"(?<!\\)\\+(?:U00([0-9a-fA-F]{6})|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrtbfv]))?"
)
# JSON escapes a character beyond 16 bits as two halves, and a half alone is not a letter.
_LOW_HALF = re.compile(r"\\+u([dD][c-fC-F][0-9a-fA-F]{2})")
# A terminal's colours and titles. An agent may take out the escape alone.
_COLOURS = re.compile(
    r"\x1b?\[[0-9;]{1,20}m|\x1b\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b]{0,200}[\x07\x1b]"
)
_AMPERSANDS = re.compile(r"&(?:amp;)+", re.IGNORECASE)
_CONSTANT = re.compile(r"\b(?:True|False|None)\b")
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
# A name ends at a space, or `"<a", ">b"` would be a tag.
_MARKUP = re.compile(r"<(/?[A-Za-z][\w:.-]{0,60}(?:\s[^<>]{0,300})?/?)>")
_THOUSANDS = re.compile(r"(?<![\w.,])[0-9]{1,3}(?:,[0-9]{3})+(?![\w,])")
_LINE_NUMBER = re.compile(r"^[ \t]*(?:[0-9]+[ \t]*[:|\t→.)]|[>|#*]+(?=\s))[ \t]?", re.MULTILINE)
_TAG = re.compile(r"</?[A-Za-z][\w:.-]{0,60}(?:\s[^<>]{0,300})?/?>")
_STRETCH = 1024
"""Python sorts a run of combining marks by insertion, so that a long one costs its square."""

# No API takes these: control characters, halves of a pair, their replacement. Marks that are not
# seen (a byte order mark, a direction, a variation of a glyph) go with them.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    r"\ufeff\ufffd\ud800-\udfff]+"
)
# Typographic quotes, dashes and bullets, ideographic punctuation, and the lines of boxes.
_TYPED = str.maketrans({
    **dict.fromkeys("\u2018\u2019\u201b\u02bc", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\xab\xbb\u2039\u203a\xa1\xbf", " "),
    **dict.fromkeys("\xb7\u2022\u2023\u25e6\u25aa", " "),
    **dict.fromkeys("\u30fb\u3001\u3002\u300c\u300d\u300e\u300f\u3010\u3011", " "),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
    **dict.fromkeys("\u2014\u2015", " - "), "\u2026": "...", "\u2044": "/",
    **{chr(code): "\n" for code in range(0x2500, 0x2580)},
})  # fmt: skip
_PUT_APART = str.maketrans({**dict.fromkeys('"`{}],;', " "), "|": "\n", "\t": "\n", "\r": "\n"})
# Chinese and Japanese are written without spaces, and a line may end after any character.
_IDEOGRAPH = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])")
# A bracket is content in `a[i]`, and writing in a list, where no word stands before it.
_BRACKET = re.compile(r"(?<![\w)\]])\[|\[(?=[\s\"'\[{\]])")
_EMPHASIS = re.compile(r"(?<!\S)#+(?!\S)|\*\*+|__+|~~+|(?<=\w)--+(?=\w)")
# Forms whose compatible writing is the same letters. A superscript or a fraction is not one.
_SAME_LETTERS = ("<compat>", "<wide>", "<narrow>", "<noBreak>", "<initial>", "<medial>", "<final>",
                 "<isolated>", "<vertical>")  # fmt: skip

_SIGNS = re.compile(r"[!'()*+\-./:<=>?\[\\^_~]+")
_BEGINS = re.compile(r"(?:(?<!-)--?|(?<!\.)\.{1,2}/|(?<![./])\.|~/|[+/~\\]|[<>]=?)\Z")
_BINDS_NUMBERS = ("<", ">", "<=", ">=")
_AFTER_A_NAME = ("-", "+", ".", "~", "/", "./", "../", "~/", "--")
_ENDS = re.compile(r"\+{1,2}|==")
_OPERATOR = re.compile(r"[-+*/<>=]|--|[<>=!]=|[-=]>|\*\*|//|<<|>>")


class Spelt:
    """A text as it is compared: its words without their writing."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def lines(self) -> list[list[str]]:
        """The words of each line or cell that has any, without operators at its edges."""
        lines = (_inner(line.split()) for line in self._spelt.split("\n"))
        return [line for line in lines if line]

    @cached_property
    def words(self) -> list[str]:
        """Its words, with the signs that belong to them."""
        return [word for line in self.lines for word in line]

    @cached_property
    def plain(self) -> str:
        """Its words, without a space between them."""
        return "".join(self.words)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """Its words with a space around each: with the operators at the edges of lines, which may
        have been bullets, and without them."""
        return tuple(dict.fromkeys((_row(self._spelt.split()), _row(self.words))))

    @cached_property
    def all_rows(self) -> tuple[str, ...]:
        """Its rows as it stands; without its tags, and without what stands before its lines."""
        stripped = (a.sub(" ", self.text) for a in (_TAG, _LINE_NUMBER) if a.search(self.text))
        return (*self.rows, *(row for text in stripped for row in Spelt(text).rows))

    @cached_property
    def without_commas(self) -> Spelt:
        """The text without the thousands commas of its numbers; itself if there are none."""
        joined = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), self.text)
        return self if joined == self.text else Spelt(joined)

    @cached_property
    def _spelt(self) -> str:
        text = self.text
        if "\\" in text:
            units = _ESCAPE.sub(_unescaped, text).encode("utf-16", "surrogatepass")
            text = units.decode("utf-16", "surrogatepass")
        if "[" in text or "\x1b" in text:
            text = _COLOURS.sub("", text)
        if "&" in text:
            text = html.unescape(_AMPERSANDS.sub("&", text))
        text = _UNSEEN.sub("", text)
        if not text.isascii():
            text = _IDEOGRAPH.sub(r" \1 ", _composed(text).translate(_TYPED))
        text = _CONSTANT.sub(lambda found: _CONSTANTS[found[0]], text)
        text = _MARKUP.sub(_named, text) if "<" in text else text
        text = _BRACKET.sub(" ", text).translate(_PUT_APART)
        text = _EMPHASIS.sub(_parted, text)
        return _SIGNS.sub(_sign, text)


def _row(words: list[str]) -> str:
    return f" {' '.join(words)} "


def _inner(words: list[str]) -> list[str]:
    first, last = 0, len(words)
    while first < last and _OPERATOR.fullmatch(words[first]):
        first += 1
    while last > first and _OPERATOR.fullmatch(words[last - 1]):
        last -= 1
    return words[first:last]


def _unescaped(found: re.Match[str]) -> str:
    """The character of an escape. A backslash before a letter is content (`\\d`, `C:\\dir`)."""
    if code := found[1] or found[2] or found[3]:
        letter = chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else " "
        count = found[0].count("\\")  # 1, 2, 4 or 8 are of the escape; of others one is content
        is_content = count & (count - 1) and _begins_a_letter(letter, found)
        return "\\" + letter if is_content else letter
    if found[4]:
        return "\n" if found[4] in "nr" else " "
    return "\\" if found.string[found.end() : found.end() + 1].isalnum() else ""


def _begins_a_letter(letter: str, found: re.Match[str]) -> bool:
    if "\ud800" <= letter < "\udc00" and (low := _LOW_HALF.match(found.string, found.end())):
        pair = letter + chr(int(low[1], 16))
        letter = pair.encode("utf-16", "surrogatepass").decode("utf-16")
    return letter.isalnum()


def _composed(text: str) -> str:
    """A text in the one form of its characters: an accented letter as one, a ligature as two."""
    stretches = (text[at : at + _STRETCH] for at in range(0, len(text), _STRETCH))
    composed = "".join([unicodedata.normalize("NFC", stretch) for stretch in stretches])
    forms = {}
    for letter in set(composed):
        if unicodedata.decomposition(letter).startswith(_SAME_LETTERS):
            forms[ord(letter)] = unicodedata.normalize("NFKC", letter)
    return composed.translate(forms) if forms else composed


def _named(found: re.Match[str]) -> str:
    """A tag as the words in it."""
    return f" {found[1].strip('/')} "


def _parted(found: re.Match[str]) -> str:
    return " - " if found[0].startswith("-") else " "


def _sign(found: re.Match[str]) -> str:
    """What is left of a run of signs: all where it joins, what binds where it begins or ends."""
    run, text = found[0], found.string
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    begins, ends = not before or before.isspace(), not after or after.isspace()
    if begins and ends:
        return ("-" if run == "--" else run) if _OPERATOR.fullmatch(run) else " "
    if begins:
        return _begin(run, after)
    if ends:
        return bound[0] + " " if (bound := _ENDS.match(run)) else " "
    return _joint(run, before, after)


def _begin(run: str, after: str) -> str:
    bound = _BEGINS.search(run)
    if bound is None or (bound[0] in _BINDS_NUMBERS and not after.isdigit()):
        return " "
    return f" {bound[0]}"


def _joint(run: str, before: str, after: str) -> str:
    """A run between two words. A quote, and a colon or `=` after a name, stand between a name and
    its value; what follows them begins the value."""
    if run == "''":  # YAML and SQL double a quote inside quotes
        return "'"
    _, quote, value = run.rpartition("'")
    if quote and run != quote:
        return _begin(value, after) if value else " "
    if run == ":" and before.isdigit() and after.isdigit():
        return run
    if run[0] in ":=" and (len(run) == 1 or run[1:] in _AFTER_A_NAME):
        return _begin(run[1:], after) if run[1:] else " "
    return run
