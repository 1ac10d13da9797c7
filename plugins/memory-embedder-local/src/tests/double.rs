use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// What the double does with one request.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    /// Everything, or from where the client asks.
    Serve,
    /// The same, but hangs up after so many bytes of the body.
    Cut(usize),
    /// The same, under a name that promises nothing about the bytes.
    CutWeak(usize),
    /// Everything, whatever the client asks.
    Whole,
    /// A part that begins elsewhere.
    OtherPart,
    /// A part of a longer file.
    OtherTotal,
    /// Another address of the double.
    Redirect,
    /// More than it says, without saying how much.
    TooMuch,
    Status(u16),
}

/// A test double of the model hub: one file at every path, one connection per request, one answer per request.
pub(super) struct HubDouble {
    pub(super) url: String,
    asked: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl HubDouble {
    /// Answers as many requests as there are answers; later ones find nobody.
    pub(super) fn start(content: &[u8], answers: &[Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (content, answers, log) = (content.to_vec(), answers.to_vec(), Arc::clone(&asked));
        let thread = thread::spawn(move || {
            for answer in answers {
                let (stream, _) = listener.accept().unwrap();
                // A client that was stopped hangs up while it is answered.
                let _ = one(stream, &content, answer, &log);
            }
        });
        Self {
            url,
            asked,
            thread: Some(thread),
        }
    }

    /// Waits until all answers are given; returns `path range if-range` of each request.
    pub(super) fn asked(mut self) -> Vec<String> {
        self.thread.take().unwrap().join().unwrap();
        self.asked.lock().unwrap().clone()
    }
}

fn one(
    stream: TcpStream,
    content: &[u8],
    answer: Answer,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut path, mut range, mut if_range) = (String::new(), None, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("GET ") {
            path = rest.trim_end_matches(" HTTP/1.1").to_owned();
        } else if let Some((name, value)) = line.split_once(": ") {
            match name.to_ascii_lowercase().as_str() {
                "range" => range = Some(value.to_owned()),
                "if-range" => value.clone_into(&mut if_range),
                _ => {}
            }
        }
        if line.is_empty() {
            break;
        }
    }
    let said = range.clone().unwrap_or_default();
    log.lock()
        .unwrap()
        .push(format!("{path} {said} {if_range}").trim().to_owned());
    let from = range
        .and_then(|range| range["bytes=".len()..range.len() - 1].parse::<usize>().ok())
        .unwrap_or(0);
    let (end, all) = (content.len() - 1, content.len());
    let part = |from: usize| {
        format!(
            "206 Partial Content\r\nContent-Range: bytes {from}-{end}/{all}\r\nContent-Length: {}",
            all - from
        )
    };
    let whole = format!("200 OK\r\nETag: \"one\"\r\nContent-Length: {all}");
    let serve = if from > 0 { part(from) } else { whole.clone() };
    let too_much = vec![7; content.len() + 100_000];
    let (head, body): (String, &[u8]) = match answer {
        Answer::Serve => (serve, &content[from..]),
        Answer::Cut(n) => (serve, &content[from..from + n]),
        Answer::CutWeak(n) => (
            serve.replace("ETag: ", "ETag: W/"),
            &content[from..from + n],
        ),
        Answer::Whole => (whole, content),
        Answer::OtherPart => (part(from - 1), &content[from - 1..]),
        Answer::OtherTotal => (
            part(from).replace(&format!("/{all}\r"), &format!("/{}\r", all + 1)),
            &content[from..],
        ),
        Answer::Redirect => (
            "302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0".into(),
            b"",
        ),
        Answer::TooMuch => ("200 OK".into(), &too_much),
        Answer::Status(code) => (format!("{code} No\r\nContent-Length: 2"), b"no"),
    };
    let mut stream = stream;
    stream.write_all(format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").as_bytes())?;
    stream.write_all(body)
}
