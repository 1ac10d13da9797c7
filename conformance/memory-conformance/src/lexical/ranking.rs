//! What every sane ranking gives, whatever its exact numbers.

use std::collections::BTreeSet;

use memory_api::{EntryId, Hit, LexicalQuery};

use super::library::{Library, queries, stocked};
use super::probe::{check_ranked, close, put};
use crate::failure::ensure;
use crate::index::{Word, check_length, entry_id, text_of};
use crate::{Outcome, Subject};

fn ids(hits: &[Hit]) -> Vec<EntryId> {
    hits.iter().map(|hit| hit.id).collect()
}

pub(super) fn hits_are_ranked(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject).await?;
        for words in queries() {
            let text = text_of(&words);
            let n_all = library.search_all(&text).await?.len();
            for k in [0, 1, 2, 3, 10, 50, 1000] {
                let hits = library.search(&text, k).await?;
                check_ranked(&hits, k).map_err(|failure| failure.within(&text))?;
                ensure!(
                    hits.len() == n_all.min(k),
                    "`{text}` has {n_all} hits, but k = {k} gives {}",
                    hits.len()
                );
            }
        }
        Ok(())
    })
}

async fn check_found(library: &Library<'_>, words: &[Word]) -> Outcome {
    let text = text_of(words);
    let hits = library.search_all(&text).await?;
    let found: BTreeSet<_> = ids(&hits).into_iter().collect();
    let expected = library.holders(words);
    ensure!(
        found == expected,
        "`{text}` misses {:?} and finds {:?} without a word of it",
        expected.difference(&found).collect::<Vec<_>>(),
        found.difference(&expected).collect::<Vec<_>>()
    );
    Ok(())
}

pub(super) fn one_word_finds_exactly_its_entries(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject).await?;
        for word in Word::all() {
            check_found(&library, &[word]).await?;
        }
        Ok(())
    })
}

pub(super) fn many_words_find_the_entries_of_each(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject).await?;
        for words in queries() {
            check_found(&library, &words).await?;
        }
        Ok(())
    })
}

pub(super) fn smaller_k_is_a_prefix(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject).await?;
        for words in queries().into_iter().step_by(3) {
            let text = text_of(&words);
            let all = library.search_all(&text).await?;
            for k in 0..=all.len() {
                let hits = library.search(&text, k).await?;
                let expected: Vec<_> = all.iter().take(k).map(|hit| hit.id).collect();
                ensure!(
                    ids(&hits) == expected,
                    "`{text}` with k = {k} is no prefix of the search for all {}: {:?} instead of {expected:?}",
                    all.len(),
                    ids(&hits)
                );
            }
        }
        Ok(())
    })
}

pub(super) fn allowed_ids_are_honoured(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject).await?;
        for words in queries().into_iter().step_by(2) {
            let text = text_of(&words);
            let all = library.search_all(&text).await?;
            for allowed in allowed_sets(&library, &all) {
                for k in [0, 1, 3, 1000] {
                    let query = LexicalQuery::new(&text, k).with_allowed(&allowed);
                    let hits = library.index.search(&query).await?;
                    let expected: Vec<_> = all
                        .iter()
                        .map(|hit| hit.id)
                        .filter(|id| allowed.binary_search(id).is_ok())
                        .take(k)
                        .collect();
                    ensure!(
                        ids(&hits) == expected,
                        "`{text}` with {} allowed ids and k = {k} finds {:?} instead of {expected:?}",
                        allowed.len(),
                        ids(&hits)
                    );
                }
            }
        }
        // More ids than a statement of SQL has room for (RS-08).
        let mut allowed: Vec<_> = (0..40_000).map(entry_id).collect();
        allowed.sort_unstable();
        let text = Word(1).to_string();
        let query = LexicalQuery::new(&text, 1000).with_allowed(&allowed);
        let hits = library.index.search(&query).await?;
        ensure!(
            ids(&hits) == ids(&library.search_all(&text).await?),
            "{} allowed ids, all of the index among them, change what is found",
            allowed.len()
        );
        Ok(())
    })
}

/// Sets that a filter after the cut gets wrong: none, strangers, the worst hit, the worse half, one entry in three, all.
fn allowed_sets(library: &Library<'_>, hits: &[Hit]) -> Vec<Vec<EntryId>> {
    let stranger = EntryId(u128::MAX);
    let worst = hits.last().map(|hit| hit.id);
    let mut sets = vec![
        Vec::new(),
        vec![stranger],
        worst.into_iter().collect(),
        hits.iter().skip(hits.len() / 2).map(|hit| hit.id).collect(),
        library
            .ids()
            .into_iter()
            .step_by(3)
            .chain([stranger])
            .collect(),
        library.ids(),
    ];
    for set in &mut sets {
        set.sort_unstable();
    }
    sets
}

pub(super) fn score_equals_search(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject).await?;
        // Strangers, a deleted entry and repeats are among the ids, which come in no order.
        let mut asked = library.ids();
        asked.insert(3, EntryId(u128::MAX));
        asked.insert(5, entry_id(120));
        asked.extend(library.ids().into_iter().rev().take(5));
        let known: BTreeSet<_> = library.ids().into_iter().collect();
        for words in queries() {
            let text = text_of(&words);
            let hits = library.search_all(&text).await?;
            // Neither `k` nor `allowed` is looked at.
            let query = LexicalQuery::new(&text, 0).with_allowed(&[]);
            let scores = library.index.score(&query, &asked).await?;
            check_length(&scores, &asked)?;
            for (id, score) in asked.iter().zip(scores) {
                let found = hits.iter().find(|hit| hit.id == *id);
                let agrees = match (score, found) {
                    (None, None) => !known.contains(id),
                    (Some(score), Some(hit)) => close(score, hit.score),
                    (Some(score), None) => score == 0.0 && known.contains(id),
                    (None, Some(_)) => false,
                };
                ensure!(
                    agrees,
                    "`{text}` gives entry {id} the score {score:?}; search gives {:?}, and it is {}in the index",
                    found.map(|hit| hit.score),
                    if known.contains(id) { "" } else { "not " }
                );
            }
        }
        let none = library.index.score(&LexicalQuery::new("tokbbk", 1), &[]).await?;
        ensure!(none.is_empty(), "no ids have {} scores", none.len());
        Ok(())
    })
}

pub(super) fn scores_are_attainable(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject).await?;
        let repeated = vec![Word(5), Word(5), Word(5)];
        for words in queries().into_iter().chain([repeated]) {
            check_attainable(&library, &text_of(&words)).await?;
        }
        for stranger in ["zyzzyva", "zyzzyva tokbbk"] {
            check_attainable(&library, stranger).await?;
        }
        for wordless in ["", " \n", "?!"] {
            let bound = library
                .index
                .attainable(&LexicalQuery::new(wordless, 1))
                .await?;
            ensure!(
                bound == 0.0,
                "the query `{wordless}` has no word, but {bound} is attainable"
            );
        }
        Ok(())
    })
}

async fn check_attainable(library: &Library<'_>, text: &str) -> Outcome {
    const ROUNDING: f32 = 1.000_01;
    let query = LexicalQuery::new(text, 1000);
    let bound = library.index.attainable(&query).await?;
    ensure!(
        bound.is_finite() && bound >= 0.0,
        "the attainable score of `{text}` is {bound}"
    );
    let hits = library.index.search(&query).await?;
    check_ranked(&hits, 1000)?;
    if let Some(best) = hits.first() {
        ensure!(
            best.score <= bound * ROUNDING,
            "`{text}` scores {}, but only {bound} is attainable",
            best.score
        );
    }
    Ok(())
}

pub(super) fn rare_and_repeated_words_weigh_more(subject: &Subject) -> Outcome {
    let [rare, common, filler] = [1, 2, 3].map(Word);
    let with = |words: &[Word]| {
        let mut words = words.to_vec();
        words.resize(6, filler);
        text_of(&words)
    };
    let [of_rare, of_common, twice, long] = [0, 1, 2, 3].map(entry_id);
    let mut ops = vec![
        put(of_rare, with(&[rare])),
        put(of_common, with(&[common])),
        put(twice, with(&[common, common, common])),
        put(long, text_of(&[&[common][..], &[filler; 60]].concat())),
    ];
    ops.extend((4..30).map(|n| {
        put(
            entry_id(n),
            with(&[if n % 2 == 0 { common } else { filler }]),
        )
    }));
    subject.run(async {
        let (_home, index) = stocked(subject, ops).await?;
        let before = async |text: &str, better: EntryId, worse: EntryId| -> Outcome {
            let hits = index.search(&LexicalQuery::new(text, 1000)).await?;
            let place = |id| hits.iter().position(|hit| hit.id == id);
            ensure!(
                place(better).is_some() && place(better) < place(worse),
                "`{text}` puts {worse} before {better}"
            );
            Ok(())
        };
        let both = text_of(&[common, rare]);
        let one = common.to_string();
        before(&both, of_rare, of_common).await?;
        before(&one, twice, of_common).await?;
        before(&one, of_common, long).await
    })
}
