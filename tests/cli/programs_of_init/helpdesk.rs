// A small agent: one question on the command line, answered by a model over HTTP.
use std::env;
use std::io::{Read, Write};
use std::net::TcpStream;

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn main() {
    let base = env::var("ANTHROPIC_BASE_URL").unwrap_or("https://api.anthropic.com".into());
    let host = base.trim_start_matches("http://").trim_end_matches('/').to_string();
    let question = env::args().nth(1).unwrap_or_default();
    let body = format!(
        "{{\"model\":\"claude-sonnet-5\",\"max_tokens\":500,\"messages\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}",
        escape(&question)
    );
    let (address, path) = match host.find('/') {
        Some(at) => (host[..at].to_string(), host[at..].to_string()),
        None => (host.clone(), String::new()),
    };
    let mut stream = TcpStream::connect(&address).expect("connect");
    write!(stream, "POST {}/v1/messages HTTP/1.1\r\nhost: {}\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{}", path, address, body.len(), body).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let begin = answer.find("\"text\":\"").map(|at| at + 8);
    match begin {
        Some(at) => { let rest = &answer[at..]; let end = rest.find('"').unwrap(); println!("{}", &rest[..end]); }
        None => { eprintln!("no answer: {}", answer); std::process::exit(1); }
    }
}
