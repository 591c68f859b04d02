//! Splits Rust source into words and punctuation. Comments and lifetimes are dropped; a literal becomes one token without its text.

/// A word, `::`, one other character of punctuation, or a literal, which has the text [`LITERAL`].
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

const LITERAL: &str = "\"";

impl Token {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(starts_word)
    }
}

pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut lexer = Lexer { chars: source.chars().collect(), at: 0, line: 1, tokens: Vec::new() };
    while lexer.at < lexer.chars.len() {
        lexer.step();
    }
    lexer.tokens
}

fn starts_word(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    line: usize,
    tokens: Vec<Token>,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn skip(&mut self, count: usize) {
        let end = (self.at + count).min(self.chars.len());
        self.line += self.chars[self.at..end].iter().filter(|c| **c == '\n').count();
        self.at = end;
    }

    fn push(&mut self, text: &str) {
        self.tokens.push(Token { text: text.to_owned(), line: self.line });
    }

    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (c, _) if c.is_whitespace() => self.skip(1),
            ('/', '/') => self.skip_until(|c| c == '\n'),
            ('/', '*') => self.block_comment(),
            ('"', _) => self.string(),
            ('\'', _) => self.char_or_lifetime(),
            (':', ':') => {
                self.push("::");
                self.skip(2);
            }
            (c, _) if c.is_ascii_digit() => self.number(),
            (c, _) if starts_word(c) => self.word(),
            (c, _) => {
                self.push(c.encode_utf8(&mut [0; 4]));
                self.skip(1);
            }
        }
    }

    fn skip_until(&mut self, is_end: impl Fn(char) -> bool) {
        while self.at < self.chars.len() && !is_end(self.peek(0)) {
            self.skip(1);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.chars.len() {
            match (self.peek(0), self.peek(1)) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                _ => {
                    self.skip(1);
                    continue;
                }
            }
            self.skip(2);
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.push(LITERAL);
        self.skip(1);
        while self.at < self.chars.len() && self.peek(0) != '"' {
            self.skip(if self.peek(0) == '\\' { 2 } else { 1 });
        }
        self.skip(1);
    }

    fn raw_string(&mut self, hashes: usize) {
        self.push(LITERAL);
        self.skip(hashes + 1);
        while self.at < self.chars.len() && !(self.peek(0) == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == '#'))
        {
            self.skip(1);
        }
        self.skip(hashes + 1);
    }

    fn char_or_lifetime(&mut self) {
        if self.peek(1) == '\\' {
            self.push(LITERAL);
            self.skip(3);
            self.skip_until(|c| c == '\'');
            self.skip(1);
        } else if self.peek(2) == '\'' {
            self.push(LITERAL);
            self.skip(3);
        } else {
            self.skip(1);
            self.skip_until(|c| !continues_word(c));
        }
    }

    fn number(&mut self) {
        self.push(LITERAL);
        while continues_word(self.peek(0)) || (self.peek(0) == '.' && self.peek(1).is_ascii_digit()) {
            self.skip(1);
        }
    }

    fn word(&mut self) {
        let start = self.at;
        let line = self.line;
        self.skip_until(|c| !continues_word(c));
        let mut text: String = self.chars[start..self.at].iter().collect();
        if matches!(text.as_str(), "b" | "c" | "r" | "br" | "cr") {
            let hashes = (0..).take_while(|ahead| self.peek(*ahead) == '#').count();
            match self.peek(hashes) {
                '"' if text.ends_with('r') => return self.raw_string(hashes),
                '"' if hashes == 0 => return self.string(),
                '\'' if text == "b" => return self.char_or_lifetime(),
                // `r#type`: a word that is no keyword.
                _ if text == "r" && hashes == 1 => text.push('#'),
                _ => {}
            }
        }
        self.tokens.push(Token { text, line });
    }
}
