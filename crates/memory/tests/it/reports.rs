//! What really broke for users of systems like this: each report of a file has a test, or a reason why it has none here.

macro_rules! reports {
    (
        $file:literal;
        $($id:literal => $name:ident $body:block)*
        $(elsewhere { $($other:literal: $why:literal,)* })?
    ) => {
        $(#[test] fn $name() $body)*

        #[test]
        fn every_report_has_a_test() {
            let reports: Vec<serde_json::Value> = serde_json::from_str(include_str!($file)).unwrap();
            let elsewhere: Vec<(&str, &str)> = vec![$($(($other, $why)),*)?];
            assert!(elsewhere.iter().all(|(_, why)| !why.is_empty()));
            let mut reported: Vec<&str> = reports.iter().map(|report| report["id"].as_str().unwrap()).collect();
            let mut known = vec![$($id),*];
            known.extend(elsewhere.iter().map(|(id, _)| *id));
            reported.sort_unstable();
            known.sort_unstable();
            assert_eq!(known, reported);
        }
    };
}
