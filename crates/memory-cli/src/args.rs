use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, Args as ClapArgs, CommandFactory as _, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use memory::{AskedMode, parse_time};
use memory_api::Timestamp;

/// A memory for AI agents: finds what matters now in a folder of notes, and says where it stands.
#[derive(Debug, Parser)]
#[command(
    name = "memory",
    version,
    propagate_version = true,
    max_term_width = 100
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The folder of the notes [default: upward from here, the nearest with `memory.toml`, else with `MEMORY.md` or `memory/`]
    #[arg(
        long,
        short = 'w',
        global = true,
        value_name = "DIR",
        env = "MEMORY_WORKSPACE",
        hide_env_values = true
    )]
    pub(crate) workspace: Option<PathBuf>,
    /// Take the files that match, instead of `MEMORY.md`, `USER.md` and `memory/**/*.md`; may be repeated. In memory.toml
    /// (`documents.include`) it lasts
    #[arg(long, global = true, value_name = "GLOB")]
    pub(crate) include: Vec<String>,
    /// A config file instead of the workspace's `memory.toml`
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "MEMORY_CONFIG",
        hide_env_values = true
    )]
    pub(crate) config: Option<PathBuf>,
    /// The folder of the index [default: `.memory` in the workspace; also MEMORY_STATE]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Take this as the time of day, as 2026-05-18 or 2026-05-18T09:30:00Z
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_time, hide = true)]
    pub(crate) now: Option<Timestamp>,
    /// Print JSON on stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print no progress and no warnings
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a folder a workspace: `memory.toml`, `MEMORY.md` and `memory/`, whatever is missing
    Init(InitArgs),
    /// Bring the index to the state of the files
    Index(IndexArgs),
    /// Keep the index at the state of the files until interrupted, with a line per change
    Watch,
    /// Find what answers a question
    Search(SearchArgs),
    /// Show lines of a memory file
    Get(GetArgs),
    /// Append a text to today's note, or to another one
    Add(AddArgs),
    /// Tell when an agent should write down what it is about to forget
    #[command(subcommand)]
    Flush(FlushCommand),
    /// Tell what is in the memory and what is missing
    Status,
    /// Serve the memory to an agent, over the Model Context Protocol on stdin and stdout
    Mcp,
    /// Look at each part closely, page by page: green, yellow or red
    Doctor(DoctorArgs),
    /// Measure how well questions are answered
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Show and check the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Show the plugins that are linked
    #[command(subcommand)]
    Plugins(PluginsCommand),
    /// Show and get the model files of embedders
    #[command(subcommand)]
    Model(ModelCommand),
    /// Print a script that completes commands in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InitArgs {
    /// The folder [default: the one given by --workspace, else the current one]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct IndexArgs {
    /// Build a new index from the files, whatever is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not wait while another process writes: exit with 4
    #[arg(long)]
    pub(crate) no_wait: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended without loss: what is built anew is built from your files
    #[arg(long)]
    pub(crate) fix: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SearchArgs {
    /// The question: words are ranked; "a phrase", prefix*, -without
    #[arg(required = true, num_args = 1.., value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Go by words and meaning, or by one of them [default: by what is there]
    #[arg(long, value_enum, value_name = "M")]
    pub(crate) mode: Option<ModeArg>,
    /// How many results at most, 0 to 1000 [default: 6, or as configured]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub(crate) max_results: Option<u16>,
    /// Only results of at least this relevance, 0 to 1, even if that leaves none
    #[arg(long, value_name = "X", value_parser = parse_score)]
    pub(crate) min_score: Option<f64>,
    /// Only from this source, such as `memory`; may be repeated
    #[arg(long, value_name = "S")]
    pub(crate) source: Vec<String>,
    /// Only of this kind, such as `episodic`; may be repeated
    #[arg(long, value_name = "K")]
    pub(crate) kind: Vec<String>,
    /// Only with this tag; repeated: with all of them
    #[arg(long, value_name = "T")]
    pub(crate) tag: Vec<String>,
    /// Only this file, or below this folder; may be repeated
    #[arg(long, value_name = "P")]
    pub(crate) path: Vec<String>,
    /// Not before this day or time (UTC), as 2026-05-18 or 2026-05-18T09:30:00Z
    #[arg(long, value_name = "T", value_parser = parse_time)]
    pub(crate) since: Option<Timestamp>,
    /// Before this day or time (UTC)
    #[arg(long, value_name = "T", value_parser = parse_time)]
    pub(crate) until: Option<Timestamp>,
    /// Show this many lines of the file before and after each result, 0 to 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=100))]
    pub(crate) context: Option<u16>,
}

/// What a search goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Words and meaning
    Hybrid,
    /// Words alone
    Lexical,
    /// Meaning alone
    Vector,
}

impl From<ModeArg> for AskedMode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Hybrid => Self::Hybrid,
            ModeArg::Lexical => Self::Lexical,
            ModeArg::Vector => Self::Vector,
        }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct GetArgs {
    /// The file as results name it; a citation (`memory/a.md#L3-L7`) works, too
    pub(crate) path: String,
    /// The first line
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) from: Option<i64>,
    /// How many lines [default: 120]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) lines: Option<i64>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct AddArgs {
    /// What to write; `-`, or nothing where something is piped in: from stdin
    #[arg(allow_hyphen_values = true, value_parser = parse_text)]
    pub(crate) text: Option<String>,
    /// The note: `daily`, or the path of a memory file, which need not exist
    #[arg(long, value_name = "daily|PATH", default_value = "daily")]
    pub(crate) to: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlushCommand {
    /// Say whether a flush is due before the conversation is compacted: exits with 5 if so, once per cycle
    Check(FlushCheckArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct FlushCheckArgs {
    /// The tokens of the next prompt
    #[arg(long, value_name = "N")]
    pub(crate) tokens: u64,
    /// The window of the model, in tokens
    #[arg(long, value_name = "M")]
    pub(crate) window: u64,
    /// Names the time between two compactions, as `SESSION:NUMBER`
    #[arg(long, value_name = "ID")]
    pub(crate) cycle: String,
    /// The size of the transcript
    #[arg(long, value_name = "B")]
    pub(crate) transcript_bytes: Option<u64>,
    /// The last flush of this cycle failed: it is due again, three times at most
    #[arg(long)]
    pub(crate) failed: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Answer the questions of a file and measure the answers
    Run(EvalRunArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalRunArgs {
    /// One JSON object a line: {"id", "text", "relevant": [{"path", "line_start", "line_end"}]}
    pub(crate) queries: PathBuf,
    /// Write the results here, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Go by words and meaning, or by one of them [default: by what is there]
    #[arg(long, value_enum, value_name = "M")]
    pub(crate) mode: Option<ModeArg>,
    /// Results per question
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) top: u16,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the configuration in force
    Show {
        /// Say of each value where it comes from
        #[arg(long)]
        origin: bool,
    },
    /// Check every source of the configuration
    Check,
    /// Print the JSON Schema of the whole configuration
    Schema,
    /// Print a `memory.toml` that says what an `openclaw.json` says, and on stderr what has no counterpart; writes nothing
    Import {
        /// The file, as `~/.openclaw/openclaw.json`
        file: PathBuf,
        /// Whose memory, where the file lists several [default: that of the default agent]
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum PluginsCommand {
    /// Print what is linked, what it can do and needs, and what is in use
    List,
    /// Print the JSON Schema of a plugin's table in the configuration
    Schema {
        /// The plugin; where two share a name, its kind before it: `lexical qdrant`
        #[arg(required = true, num_args = 1..=2, value_names = ["[KIND] NAME"])]
        plugin: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Print the models that are known, and which of them are here
    List {
        /// Only those of this embedder
        #[arg(long, value_name = "NAME")]
        plugin: Option<String>,
    },
    /// Get a model and print where it lies
    Pull(ModelPullArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ModelPullArgs {
    /// The model [default: the embedder's own]
    pub(crate) name: Option<String>,
    /// Take this file instead of downloading one
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// The embedder the model is for [default: the one that knows it]
    #[arg(long, value_name = "NAME")]
    pub(crate) plugin: Option<String>,
}

/// Lets an excluded word stand anywhere in a question: `memory search force -habit --json`.
///
/// To the parser of the command line `-habit` is a row of short options. Behind `--` it is a word, so that is where such words
/// are moved; the order of words does not matter to a search. What may be an option stays: `-n`, `-n5`, and the value of one.
pub(crate) fn words_last(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let args: Vec<OsString> = args.collect();
    let Some(search) = args.iter().position(|arg| arg == "search") else {
        return args;
    };
    let command = Args::command();
    let options: Vec<&Arg> = command
        .get_arguments()
        .chain(
            command
                .get_subcommands()
                .flat_map(clap::Command::get_arguments),
        )
        .collect();
    let takes_value = |arg: &str| {
        options.iter().any(|option| {
            let is_named = option
                .get_long()
                .is_some_and(|long| arg.strip_prefix("--") == Some(long))
                || option.get_short().is_some_and(|short| {
                    arg.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4]))
                });
            is_named && option.get_action().takes_values()
        })
    };
    let is_option = |arg: &str| {
        let name = arg.strip_prefix('-').and_then(|rest| rest.chars().next());
        let is_short = name.is_some_and(|name| {
            matches!(name, 'h' | 'V')
                || options
                    .iter()
                    .any(|option| option.get_short() == Some(name))
        });
        let value = arg.get(2..).unwrap_or_default();
        arg.starts_with("--") || (is_short && value.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let (mut kept, mut words) = (Vec::new(), Vec::new());
    let mut rest = args.into_iter();
    kept.extend(rest.by_ref().take(search + 1));
    let mut is_value = false;
    while let Some(arg) = rest.next() {
        let text = arg.to_string_lossy().into_owned();
        if text == "--" {
            words.extend(rest);
            break;
        }
        let is_word = !is_value && text.len() > 1 && text.starts_with('-') && !is_option(&text);
        is_value = !is_value && takes_value(&text);
        (if is_word { &mut words } else { &mut kept }).push(arg);
    }
    if !words.is_empty() {
        kept.push("--".into());
        kept.extend(words);
    }
    kept
}

/// Takes any text, also one that begins with a hyphen, but none that looks like an option with a mistake in it.
fn parse_text(text: &str) -> Result<String, String> {
    let is_option = text.strip_prefix("--").is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains(char::is_whitespace)
    });
    if is_option {
        Err("that is no option of this command; pipe it in if it is the text".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

fn parse_score(text: &str) -> Result<f64, String> {
    let score: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=1.0).contains(&score) {
        Ok(score)
    } else {
        Err("not within 0 and 1".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::words_last;

    #[test]
    fn excluded_words_are_moved_and_options_stay() {
        let check = |typed: &str, expected: &str| {
            let moved = words_last(typed.split(' ').map(Into::into));
            let moved: Vec<String> = moved
                .into_iter()
                .map(|arg| arg.into_string().unwrap())
                .collect();
            assert_eq!(moved.join(" "), expected, "{typed}");
        };
        check("memory search port --json", "memory search port --json");
        check(
            "memory search force -habit --json",
            "memory search force --json -- -habit",
        );
        check(
            "memory search a -n 5 -q -n5 -h -V -w dir",
            "memory search a -n 5 -q -n5 -h -V -w dir",
        );
        check("memory search a -notes -x", "memory search a -- -notes -x");
        check(
            "memory search a --max-results -1 -b",
            "memory search a --max-results -1 -- -b",
        );
        check("memory search a -n -1", "memory search a -n -1");
        check(
            "memory search - -a -- --force -b",
            "memory search - -- -a --force -b",
        );
        check("memory -w notes get -x", "memory -w notes get -x");
    }
}
