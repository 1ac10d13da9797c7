use crate::{Form, Query, analyze};

fn tokens(text: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    analyze(text, &mut |token| {
        let mark = if token.form == Form::Stem { "~" } else { "" };
        found.push((token.position, format!("{mark}{}", token.text)));
    });
    found
}

#[test]
fn show() {
    for t in [
        "pump_run_time HTTPServer2 C++ C# .NET don't Caroline's 使用Prettier格式化 어제 등대를점검했다 น้ำ Łódź Straße APIs 20.04.1 a3f9c2e1b2d4 ｶﾞ が",
    ] {
        println!("{:?}", tokens(t));
    }
    for q in [
        "水泵的维护计划",
        "点検した",
        "harbor-crane-07 -pump \"big dog\" cran* don't stop",
        "Wie lange dauert die Wartung der Pumpen",
    ] {
        println!("{:?}", Query::parse(q));
    }
}
