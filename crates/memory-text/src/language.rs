//! Languages: their stop words, and how to recognise them by these.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use rust_stemmers::Algorithm;

use crate::normalise::push_folded;
use crate::segment::segment;

/// How many words of a text are looked at to recognise its language.
const SAMPLE: usize = 96;
/// Languages in Latin letters other than English; a bit for each of [`LATIN`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Languages(u32);

/// Bit of the English stop words.
const ENGLISH: u32 = 1 << 30;
/// Bit of the stop words of languages that the script alone tells.
const BY_SCRIPT: u32 = 1 << 31;

const LATIN: [(&str, Algorithm); 13] = [
    ("da", Algorithm::Danish),
    ("nl", Algorithm::Dutch),
    ("fi", Algorithm::Finnish),
    ("fr", Algorithm::French),
    ("de", Algorithm::German),
    ("hu", Algorithm::Hungarian),
    ("it", Algorithm::Italian),
    ("no", Algorithm::Norwegian),
    ("pt", Algorithm::Portuguese),
    ("ro", Algorithm::Romanian),
    ("es", Algorithm::Spanish),
    ("sv", Algorithm::Swedish),
    ("tr", Algorithm::Turkish),
];

const BY_SCRIPT_CODES: [&str; 7] = ["ru", "el", "ar", "ta", "he", "bn", "ne"];

/// English words of grammar that the list lacks.
const ENGLISH_TOO: [&str; 16] = [
    "also", "could", "either", "ever", "let", "might", "must", "neither", "per", "shall", "since",
    "upon", "whether", "whose", "within", "would",
];

/// Question words, which the lists of most languages lack; a question is what a query often is.
const QUESTIONS: [(&str, &str); 16] = [
    (
        "da",
        "hvem hvad hvornår hvor hvorfor hvordan hvilken hvilket hvilke",
    ),
    ("nl", "wie wat wanneer waar waarom hoe welke welk hoeveel"),
    (
        "fi",
        "kuka ketkä mikä mitkä mitä milloin missä mistä miksi miten kuinka",
    ),
    (
        "fr",
        "qui que quoi quand où comment pourquoi quel quelle quels quelles combien",
    ),
    (
        "de",
        "wer wen wem wessen was wann wo wohin woher warum wieso weshalb wie welche welcher welches welchem welchen",
    ),
    (
        "hu",
        "ki kik mi mik mikor hol hová miért hogyan melyik mennyi hány",
    ),
    (
        "it",
        "chi che cosa quando dove come perché quale quali quanto quanta quanti quante",
    ),
    (
        "no",
        "hvem hva når hvor hvorfor hvordan hvilken hvilket hvilke",
    ),
    (
        "pt",
        "quem que quando onde como porque qual quais quanto quanta quantos quantas",
    ),
    ("ro", "cine ce când unde cum care cât câtă câți câte"),
    (
        "es",
        "qué quién quiénes cuándo dónde cómo cuál cuáles cuánto cuánta cuántos cuántas",
    ),
    ("sv", "vem vad när var varför hur vilken vilket vilka"),
    ("tr", "kim ne nerede neden nasıl hangi kaç"),
    (
        "ru",
        "кто что когда где куда как почему зачем какой какая какое какие сколько",
    ),
    (
        "el",
        "ποιος ποια ποιο ποιοι ποιες τι πότε πού πώς γιατί πόσο πόσα πόσοι πόσες",
    ),
    ("ar", "من ما متى أين كيف لماذا كم ماذا هل"),
];

/// Hindi words of grammar.
const HINDI: [&str; 50] = [
    "का",
    "के",
    "की",
    "को",
    "में",
    "से",
    "पर",
    "है",
    "हैं",
    "था",
    "थे",
    "थी",
    "हो",
    "और",
    "या",
    "यह",
    "वह",
    "ये",
    "वे",
    "इस",
    "उस",
    "इन",
    "उन",
    "एक",
    "ने",
    "तक",
    "भी",
    "ही",
    "तो",
    "कि",
    "जो",
    "क्या",
    "क्यों",
    "कब",
    "कहाँ",
    "कैसे",
    "कौन",
    "किस",
    "किसने",
    "कितने",
    "कितना",
    "कितनी",
    "लिए",
    "द्वारा",
    "नहीं",
    "गया",
    "गई",
    "गए",
    "होता",
    "साथ",
];

impl Languages {
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The stemmers of these languages.
    pub(crate) fn algorithms(self) -> impl Iterator<Item = Algorithm> {
        let has = move |idx: usize| self.0 & (1 << idx) != 0;
        LATIN
            .iter()
            .enumerate()
            .filter(move |(idx, _)| has(*idx))
            .map(|(_, (_, algorithm))| *algorithm)
    }
}

/// For each stop word, as it is compared, the languages it belongs to.
static STOP_WORDS: LazyLock<HashMap<String, u32>> = LazyLock::new(|| {
    let mut all: HashMap<String, u32> = HashMap::new();
    let mut add = |words: &[&str], bit: u32| {
        for word in words {
            let mut folded = String::new();
            word.chars().for_each(|c| push_folded(c, &mut folded));
            *all.entry(folded).or_default() |= bit;
        }
    };
    let list = |code: &str| stop_words::lookup(code).unwrap_or_default();
    add(list("en"), ENGLISH);
    add(&ENGLISH_TOO, ENGLISH);
    add(&HINDI, BY_SCRIPT);
    for (idx, (code, _)) in LATIN.iter().enumerate() {
        add(list(code), 1 << idx);
    }
    for code in BY_SCRIPT_CODES {
        add(list(code), BY_SCRIPT);
    }
    for (code, words) in QUESTIONS {
        let bit = LATIN
            .iter()
            .position(|(latin, _)| *latin == code)
            .map_or(BY_SCRIPT, |idx| 1 << idx);
        add(&words.split(' ').collect::<Vec<_>>(), bit);
    }
    all
});

/// Whether a word, as it is compared, only serves grammar in English, in the languages given or in its script.
pub(crate) fn is_stop_word(word: &str, languages: Languages) -> bool {
    let bits = ENGLISH | BY_SCRIPT | languages.0;
    STOP_WORDS.get(word).is_some_and(|found| found & bits != 0)
}

/// The language of a text in Latin letters, if its stop words leave no doubt that it is not English. Two that share all the
/// words seen are both taken.
pub(crate) fn detect(text: &str) -> Languages {
    let mut english = 0_usize;
    let mut hits = [0_usize; LATIN.len()];
    let mut seen = 0;
    segment(text, |segment| {
        if let [part] = segment.parts()
            && part.is_word
        {
            seen += 1;
            if let Some(found) = STOP_WORDS.get(segment.text(part)) {
                english += usize::from(found & ENGLISH != 0);
                for (idx, count) in hits.iter_mut().enumerate() {
                    *count += usize::from(found & (1 << idx) != 0);
                }
            }
        }
        if seen < SAMPLE {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    let best = hits.iter().copied().max().unwrap_or_default();
    let leaders = hits.iter().enumerate().filter(|(_, count)| **count == best);
    let leaders = leaders.fold(0, |bits: u32, (idx, _)| bits | 1 << idx);
    let is_clear =
        best >= 2 && best >= 2 * english && best * 8 >= seen && leaders.count_ones() <= 2;
    if is_clear {
        Languages(leaders)
    } else {
        Languages::default()
    }
}
