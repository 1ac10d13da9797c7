//! What really broke for users of systems like this: each report of a file has a test.

macro_rules! reports {
    ($file:literal; $($id:literal => $name:ident $body:block)*) => {
        $(#[test] fn $name() $body)*

        #[test]
        fn every_report_has_a_test() {
            let reports: Vec<serde_json::Value> = serde_json::from_str(include_str!($file)).unwrap();
            let mut reported: Vec<&str> = reports.iter().map(|report| report["id"].as_str().unwrap()).collect();
            let mut tested = vec![$($id),*];
            reported.sort_unstable();
            tested.sort_unstable();
            assert_eq!(tested, reported);
        }
    };
}
