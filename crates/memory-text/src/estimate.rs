//! How many tokens a model makes of a text, at most.

/// A run of letters longer than this is rarer than the words tokenizers know.
const LONG_WORD: usize = 12;

/// Returns a safe upper estimate of the tokens a model makes of the text.
///
/// Every character outside ASCII counts as one token and outside the basic plane (emoji) as three; digits and punctuation count
/// one each, so that rows of `=` and hexadecimal text are not taken for words; English words count a quarter of their letters.
/// A model with an unusual vocabulary may still need more: an embedder that refuses a text has to split it again.
pub fn estimate_tokens(text: &str) -> usize {
    let mut tokens = 0;
    let mut run = Run::default();
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' => run.letter(c),
            _ => {
                let has_digit = c.is_ascii_digit();
                tokens += run.end(has_digit);
                match c {
                    ' ' => run.spaces += 1,
                    '0'..='9' => {
                        tokens += 1;
                        run.after_digit = true;
                    }
                    '\0'..='\u{FFFF}' => tokens += 1,
                    _ => tokens += 3,
                }
            }
        }
    }
    tokens + run.end(false)
}

/// Letters or spaces in a row.
#[derive(Debug, Default)]
struct Run {
    letters: usize,
    capitals: usize,
    spaces: usize,
    after_digit: bool,
}

impl Run {
    fn letter(&mut self, c: char) {
        self.letters += 1;
        self.capitals += usize::from(c.is_ascii_uppercase());
    }

    /// The tokens of the run, which ends here.
    fn end(&mut self, before_digit: bool) -> usize {
        let spaces = if self.letters == 0 {
            0
        } else {
            std::mem::take(&mut self.spaces)
        };
        let letters = std::mem::take(&mut self.letters);
        let capitals = std::mem::take(&mut self.capitals);
        let beside_digit = std::mem::take(&mut self.after_digit) || before_digit;
        let words = if beside_digit {
            letters
        } else if capitals > 1 {
            letters.div_ceil(2)
        } else if letters > LONG_WORD {
            letters.div_ceil(3)
        } else {
            letters.div_ceil(4)
        };
        words + spaces.saturating_sub(1).div_ceil(4)
    }
}
