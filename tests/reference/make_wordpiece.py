#!/usr/bin/env python3
"""Writes wordpiece.txt: vocabularies and cut texts for tests/datasets/test_wordpiece_reference.c.

    python3 tests/reference/make_wordpiece.py > tests/reference/wordpiece.txt

Written with Python 3.11 (Unicode 14; only characters of Unicode 13 and before occur). A plain implementation that
shares nothing with the program: classes of characters from unicodedata's categories and names, whole texts normalised
at once, merges that count every pair anew each time. All texts are generated.

The file: "case NAME LOWERCASE MIN_COUNT MAX_VOCAB", then lines "row TEXT" (the training part), "token TEXT" (the
vocabulary in order, without [UNK]), and pairs of "text TEXT" and "pieces PIECE PIECE ..." (none: nothing visible). In
all of them \\u{HEX} is a code point.
"""
import random
import unicodedata
from collections import Counter

MAX_CHARACTERS = 100
MAX_BYTES = 256
CJK_NAMES = ("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA LETTER", "HIRAGANA ITERATION",
             "KATAKANA LETTER", "KATAKANA ITERATION", "KATAKANA-HIRAGANA PROLONGED", "HALFWIDTH KATAKANA LETTER",
             "IDEOGRAPHIC ITERATION MARK")


def is_variation_selector(c):
    return unicodedata.name(c, "").startswith("VARIATION SELECTOR")


def kind_of(c):
    category = unicodedata.category(c)
    if unicodedata.name(c, "").startswith(CJK_NAMES):
        return "cjk"
    if category in ("Zs", "Zl", "Zp", "Cc", "Cf") or is_variation_selector(c):
        return "invisible"
    if category[0] in "LM" or category == "Nd":
        return "word"
    return "symbol"


def normalised(text):
    text = unicodedata.normalize("NFD", "".join(c.lower() for c in text))
    text = "".join(c for c in text if unicodedata.category(c) != "Mn" or is_variation_selector(c))
    return unicodedata.normalize("NFD", text)  # what is gone kept some marks from their order


def words_of(text, lowercase):
    words = []
    grows = None  # what may follow in the last word
    for c in normalised(text) if lowercase else text:
        kind = kind_of(c)
        is_mark = unicodedata.category(c)[0] == "M"
        if kind == "invisible":
            grows = None
        elif kind == "word" and (grows == "word" or (grows == "marks" and is_mark)):
            words[-1] += c
        else:
            words.append(c)
            grows = {"word": "word", "cjk": "marks", "symbol": None}[kind]
    return words


def learn(rows, lowercase, min_count, max_vocab):
    counts = Counter(word for row in rows for word in words_of(row, lowercase) if len(word) <= MAX_CHARACTERS)
    split = {word: [word[0]] + ["##" + c for c in word[1:]] for word in counts}
    characters = Counter()
    for word, count in counts.items():
        for piece in split[word]:
            characters[piece] += count
    ranked = sorted((p for p in characters if characters[p] >= min_count), key=lambda p: (-characters[p], p))
    vocabulary = (["[UNK]"] + ranked)[:max_vocab]
    split = {word: pieces for word, pieces in split.items() if all(p in vocabulary for p in pieces)}
    while len(vocabulary) < max_vocab:
        pairs = Counter()
        for word, pieces in split.items():
            for left, right in zip(pieces, pieces[1:]):
                if len((left + right[2:]).encode()) <= MAX_BYTES:
                    pairs[left, right] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        if pairs[best] < max(2, min_count):
            break
        merged = best[0] + best[1][2:]
        if merged not in vocabulary:
            vocabulary.append(merged)
        for word, pieces in split.items():
            result = []
            while pieces:
                if tuple(pieces[:2]) == best:
                    result.append(merged)
                    pieces = pieces[2:]
                else:
                    result.append(pieces[0])
                    pieces = pieces[1:]
            split[word] = result
    return vocabulary


def pieces_of(text, lowercase, vocabulary):
    known = set(vocabulary[1:])
    pieces = []
    for word in words_of(text, lowercase):
        of_word = []
        rest = word if len(word) <= MAX_CHARACTERS else ""
        while rest:
            prefix = "##" if of_word else ""
            longest = next((n for n in range(len(rest), 0, -1) if prefix + rest[:n] in known), 0)
            if longest == 0:
                break
            of_word.append(prefix + rest[:longest])
            rest = rest[longest:]
        pieces += of_word if of_word and not rest else ["[UNK]"]
    return pieces


def escaped(text):
    def plain(c):
        return c == " " or (unicodedata.category(c)[0] not in "CZM" and c != "\\")
    text = "".join(c if plain(c) else f"\\u{{{ord(c):X}}}" for c in text)
    return text[:-1] + "\\u{20}" if text.endswith(" ") else text


# --- texts ---

LETTERS = {
    "latin": "aaeeiioouy" + "bcdfghklmnprstvwz" +
             "\u00e9\u00e8\u00fc\u00f6\u00f1\u00e7\u00e5\u00f8\u0142\u00df\u01dc\u014d"
             "\u1ec7\u1eef\u0131\u0130\u00c9\u212b",
    "cyrillic": "\u0430\u0435\u0438\u043e\u0443\u0431\u0432\u0433\u0434\u043a\u043b\u043c\u043d\u0439\u0451\u0457\u045e"
                "\u0416\u042f",
    "greek": "\u03b1\u03b5\u03b9\u03bf\u03c9\u03ac\u03ce\u0390\u1fa7\u1f88\u03b2\u03b3\u03ba\u03bb"
             "\u03c0\u03c3\u03c2\u03a3\u03a9\u2126",
    "hebrew": "\u05d0\u05d1\u05d2\u05d3\u05e9\u05dc\u05de\u05b0\u05b8\u05bc\ufb2c\ufb31",
    "arabic": "\u0627\u0628\u062a\u0633\u0644\u0645\u064e\u064f\u0651\u0622\u0623\u0626\u0663\u0664",
    "hindi": "\u0915\u0916\u0917\u0928\u092e\u0938\u093e\u093f\u0940\u0941\u094d\u0902\u0958\u0929\u0967\u0968",
    "thai": "\u0e01\u0e02\u0e04\u0e07\u0e19\u0e21\u0e31\u0e35\u0e48\u0e49\u0e33\u0e51",
    "tamil": "\u0b95\u0ba8\u0bae\u0bb2\u0bbe\u0bbf\u0bc0\u0bca\u0bcb\u0bcd",
    "hangul": "\uac00\uac01\uae00\ud55c\uad6d\uc5b4\u1112\u1161\u11ab",
    "han": "\u4e2d\u6587\u5b57\u8a9e\u3005\uf900\U00020000\U0002f800",
    "kana": "\u304b\u304c\u3051\u3052\u3070\u3071\u30ab\u30ac\u30d0\u30fc\u309d\uff76\u304b\u3099\u30cf\u3099",
    "gothic": "\U00010330\U00010331\U00010332\U00010333\U00010400\U00010428",
    "digits": "0123456789\uff11\uff21\uff41\u00b2\u00bd\u2167",
}
SIGNS = [".", ",", "!", "?", "'", "-", "_", "#", "##", "[", "]", "...", "\u00bf", "\u201c", "\u3002", "\u20ac",
         "\u2260", "=\u0338", "\U0001f600", "\u2764\ufe0f", "\U0001f44d\U0001f3fd",
         "\U0001f468\u200d\U0001f469", "\U0001d15e",
         "\uf059", "\ufffd", "\u0378", "[CLS]", "[UNK]", "[SEP]", "[MASK]", "##ing", "\u309b"]
BLANKS = [" "] * 12 + ["  ", "\t", "\u00a0", "\u3000", "\u2003", "\u2028", "\u200b", "\u00ad", "\ufeff",
                          "\u0000", "\u0001",
          "\u007f", "\r", "\u0085", "\U000e0001"]
MARKS = ["\u0301", "\u0308", "\u0323", "\u0345", "\u20dd", "\u302e", "\u302f\u302e", "\U00016ff0", "\u302e\U00016ff0",
         "\u0323\u0301", "\u0301\u0323", "\u302e\u0301\U00016ff0", "\u302e\u034f\U00016ff0", "\ufe0e", "\u3099",
         "\u1b44\U00016ff0"]
SYLLABLES = [a + b + c for a in "b d f g l m n p r s t st tr ch".split() for b in "aeiou" for c in ("", "n", "r", "s")]


def english_word(r):
    word = "".join(r.choice(SYLLABLES[:: 1 + r.randrange(4)]) for _ in range(r.choice((1, 1, 2, 2, 3))))
    return word.capitalize() if r.random() < 0.2 else word


def english(r, n):
    text = ""
    for _ in range(n):
        text += english_word(r)
        text += r.choice((" ", " ", " ", " ", " ", ", ", ". ", "'", "-", "! ", " 12 ", " # ", " [CLS] "))
    return text.strip()


def mixed(r, n):
    text = ""
    for _ in range(n):
        script = r.choice(sorted(LETTERS) + ["latin"] * 4)
        word = "".join(r.choice(LETTERS[script][:: 1 + r.randrange(2)]) for _ in range(1 + r.randrange(6)))
        shape = r.randrange(12)
        if shape < 3:
            word = unicodedata.normalize("NFD", word)
        elif shape == 3:
            word = unicodedata.normalize("NFC", word)
        elif shape == 4:
            word = word.upper()
        elif shape == 5:
            place = r.randrange(len(word) + 1)
            word = word[:place] + r.choice(MARKS) + word[place:]
        elif shape == 6:
            word += r.choice(SIGNS) + english_word(r)
        elif shape == 7:
            word = r.choice(SIGNS)
        text += word + (r.choice(BLANKS) if r.random() < 0.8 else "")
    return text


def case(name, lowercase, min_count, max_vocab, rows, texts):
    vocabulary = learn(rows, lowercase, min_count, max_vocab)
    print("case", name, int(lowercase), min_count, max_vocab)
    for row in rows:
        print("row", escaped(row))
    for token in vocabulary[1:]:
        print("token", escaped(token))
    for text in texts:
        print("text", escaped(text))
        print(" ".join(["pieces"] + [escaped(piece) for piece in pieces_of(text, lowercase, vocabulary)]))


def main():
    r = random.Random(20)
    rows = [english(r, 8) for _ in range(60)]
    case("english", True, 1, 50000, rows, [english(r, 5) for _ in range(120)])
    case("full", True, 1, 130, rows[:30], [english(r, 4) for _ in range(40)])
    case("too_small_for_the_characters", False, 1, 20, rows[:20], [english(r, 4) for _ in range(40)])
    case("rare_ones_left_out", False, 4, 50000, rows[:20], [english(r, 4) for _ in range(60)])
    rows = [mixed(r, 10) for _ in range(70)]
    texts = [mixed(r, 6) for _ in range(138)]
    case("scripts", True, 1, 50000, rows, texts)
    case("scripts_as_they_are", False, 1, 50000, rows[:45], texts[:74])
    case("frequent_scripts", True, 3, 400, rows[25:], texts[74:])
    rows = ["aaaa aaaaaaa aaa baaab abababa ababab", "aaaaaaaa bababa abab aa ab ba a b"]
    case("repeats", True, 1, 50000, rows, ["a" * n for n in range(1, 20)] + ["ab" * n for n in range(1, 12)])
    gothic = "".join(chr(0x10330 + i) for i in range(20))
    hindi = "".join(chr(0x0915 + i) for i in range(30))
    rows = [gothic * 5, gothic * 5, "x " + hindi * 3 + " " + hindi * 3 + "\u0915", "p" * 100, "p" * 101, "p" * 101,
            "q" * 101 + " q"]
    texts = [gothic * 5, gothic * 4, gothic * 5 + "x", hindi * 3, hindi * 3 + "\u0915", hindi[1:], "e\u0301" * 60]
    texts += ["p" * n for n in (1, 50, 99, 100, 101, 102, 200, 1000)] + ["p\u0301" * n for n in (100, 101)]
    texts += ["q", "qq"]
    case("long_words", True, 1, 50000, rows, texts)


main()
