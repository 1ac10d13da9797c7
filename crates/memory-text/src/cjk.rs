//! Function words of Chinese and Japanese.

/// Characters and words that build questions and sentences in Chinese, simplified and traditional; longer ones first within a
/// first character does not matter, the longest match is taken.
const CHINESE: [&str; 96] = [
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

/// Marks the characters of a solid run that belong to a function word.
pub(crate) fn function_words(characters: &[&str]) -> Vec<bool> {
    let mut marked = vec![false; characters.len()];
    for start in 0..characters.len() {
        for len in 1..=3 {
            let Some(candidate) = characters.get(start..start + len) else {
                break;
            };
            if CHINESE.contains(&candidate.concat().as_str()) {
                marked
                    .iter_mut()
                    .skip(start)
                    .take(len)
                    .for_each(|mark| *mark = true);
            }
        }
    }
    marked
}
