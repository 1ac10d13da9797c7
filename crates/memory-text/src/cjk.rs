//! What the characters of a run without spaces weigh in a query.

use crate::script::{is_han, is_hiragana};

/// A pair that touches a function word says little: `的维` of `水泵的维护`.
const FUNCTION_PAIR: f32 = 0.2;
/// Pairs of hiragana are endings and particles more often than words.
const HIRAGANA_PAIR: f32 = 0.5;
/// A single ideograph beside its pairs, for words that are shortened or written around (`国連`, `国際連合`).
const SINGLE: f32 = 0.3;
/// A shorter run is a word, of which a single character would find other words; a longer one is a sentence.
const SENTENCE: usize = 4;
/// Characters of a run beyond these are not looked at.
const MAX_RUN: usize = 512;

/// Words that build questions and sentences in Chinese, simplified and traditional.
const FUNCTION_WORDS: [&str; 97] = [
    "的",
    "了",
    "是",
    "在",
    "和",
    "与",
    "與",
    "及",
    "或",
    "也",
    "都",
    "就",
    "而",
    "但",
    "吗",
    "嗎",
    "呢",
    "吧",
    "啊",
    "之",
    "其",
    "这",
    "這",
    "那",
    "哪",
    "谁",
    "誰",
    "我",
    "你",
    "您",
    "他",
    "她",
    "它",
    "们",
    "們",
    "被",
    "把",
    "给",
    "給",
    "对",
    "對",
    "从",
    "從",
    "到",
    "于",
    "於",
    "由",
    "以",
    "为",
    "為",
    "有",
    "很",
    "还",
    "還",
    "又",
    "几",
    "幾",
    "什么",
    "什麼",
    "甚麼",
    "怎么",
    "怎麼",
    "怎样",
    "怎樣",
    "如何",
    "为什么",
    "為什麼",
    "为何",
    "為何",
    "哪里",
    "哪裡",
    "哪儿",
    "哪个",
    "哪個",
    "哪些",
    "哪一",
    "何时",
    "何時",
    "何",
    "多少",
    "是否",
    "我们",
    "我們",
    "你们",
    "你們",
    "他们",
    "他們",
    "她们",
    "她們",
    "这个",
    "這個",
    "那个",
    "那個",
    "这些",
    "這些",
    "一个",
    "一個",
];
const LONGEST_FUNCTION_WORD: usize = 3;

/// A character or pair of a run that a query looks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RunTerm {
    /// The index of its first character.
    pub(crate) start: usize,
    pub(crate) is_pair: bool,
    pub(crate) weight: f32,
    /// Whether it is part of function words alone.
    pub(crate) is_stop: bool,
}

/// What to look for, given the characters of a run.
pub(crate) fn run_terms(characters: &[&str]) -> Vec<RunTerm> {
    let characters = characters.get(..MAX_RUN).unwrap_or(characters);
    let functions = mark_function_words(characters);
    let mut terms = Vec::new();
    let is_alone = characters.len() == 1;
    for (start, (character, is_function)) in characters.iter().zip(&functions).enumerate() {
        let single = RunTerm {
            start,
            is_pair: false,
            weight: 1.0,
            is_stop: *is_function,
        };
        if is_alone {
            terms.push(single);
        } else if characters.len() >= SENTENCE && !is_function && character.chars().all(is_han) {
            terms.push(RunTerm {
                weight: SINGLE,
                ..single
            });
        }
        if let (Some(next), Some(is_next_function)) =
            (characters.get(start + 1), functions.get(start + 1))
        {
            let weight = if *is_function || *is_next_function {
                FUNCTION_PAIR
            } else if character.chars().chain(next.chars()).all(is_hiragana) {
                HIRAGANA_PAIR
            } else {
                1.0
            };
            terms.push(RunTerm {
                start,
                is_pair: true,
                weight,
                is_stop: *is_function && *is_next_function,
            });
        }
    }
    terms
}

fn mark_function_words(characters: &[&str]) -> Vec<bool> {
    let mut marks = vec![false; characters.len()];
    for start in 0..characters.len() {
        for len in 1..=LONGEST_FUNCTION_WORD {
            if let Some(candidate) = characters.get(start..start + len)
                && FUNCTION_WORDS.contains(&candidate.concat().as_str())
            {
                marks
                    .iter_mut()
                    .skip(start)
                    .take(len)
                    .for_each(|mark| *mark = true);
            }
        }
    }
    marks
}
