//! Compiles the C core into one object, the table of algorithms that `abi` reads, makes Rust of the contract's lists
//! and structures, and gathers the algorithms' documents.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script all it says through its environment"
)]
fn main() {
    println!("cargo::rerun-if-changed=include/ramp");
    println!("cargo::rerun-if-changed=src/shim.c");
    println!("cargo::rerun-if-changed=src/lists.c");
    println!("cargo::rerun-if-changed=docs");
    let mut build = core("src/shim.c");
    if env::var_os("CARGO_CFG_FUZZING").is_some() {
        // Undefined behaviour ends the program, and libFuzzer sees every branch: GCC has no such coverage.
        build.compiler("clang");
        build.flag("-fsanitize=undefined").flag("-fsanitize-trap=undefined");
        build.flag("-fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp");
    }
    let output = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let write = |name: &str, text: String| {
        fs::write(Path::new(&output).join(name), text).expect("OUT_DIR is writable");
    };
    let interface =
        fs::read_to_string("include/ramp/interface.h").expect("the contract is part of the source");
    let structures = STRUCTURES.map(|each| Structure { fields: fields(each.name, &interface), ..each });
    write("structures.rs", structures.iter().map(structure).collect());
    write("layout.rs", format!("[{}]", structures.iter().map(layout_of_rust).collect::<String>()));
    write("layout.c", layout_of_c(&structures));
    build.file(Path::new(&output).join("layout.c"));
    build.opt_level(2).compile("ramp_core");
    write("documents.rs", documents());
    write("sources.rs", sources());
    let preprocessed = String::from_utf8(core("src/lists.c").expand()).expect("the core is ASCII");
    let (contract, registered) = lists(&preprocessed);
    write("lists.rs", contract);
    write("registered.rs", registered);
}

fn core(source: &str) -> cc::Build {
    let mut build = cc::Build::new();
    build.file(source).include("include").std("c99").warnings(true);
    build
}

/// A list of the contract: `X(NAME, text, …)`.
struct List {
    name: String,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    /// What stands before the texts; of a trait its bit.
    value: String,
    texts: Vec<String>,
}

/// The lists of `lists.c`, first the contract's, then the registry's: after `ramp_list` its name, after `ramp_entry` a name and
/// literals, adjacent ones being one.
fn lists(preprocessed: &str) -> (String, String) {
    let (_, text) = preprocessed.split_once("ramp_version").expect("lists.c begins with it");
    let (text, _) = text.split_once("ramp_end").expect("lists.c ends with it");
    let mut parts = text.split("ramp_list");
    let version = without_markers(parts.next().expect("the version"));
    let mut rust = format!(
        "/// The version of the contract: `RAMP_CONTRACT`.\npub const CONTRACT: u32 = {};\n",
        version.trim()
    );
    let mut registered = String::new();
    for part in parts {
        let list = list(&without_markers(part));
        rust += &match list.name.as_str() {
            "Traits" => constants(&list),
            "Needs" | "Families" => traits(&list),
            "OwnExits" => {
                registered += &own_exits(&list);
                continue;
            }
            "Overrides" => {
                registered += &overrides(&list);
                continue;
            }
            _ => enumeration(&list),
        };
    }
    (rust, registered)
}

fn add(text: &mut String, part: std::fmt::Arguments<'_>) {
    text.write_fmt(part).expect("writing to a string");
}

/// Without the lines by which a preprocessor says where it is.
fn without_markers(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ")
}

fn list(text: &str) -> List {
    let mut entries = text.split("ramp_entry");
    let name = entries.next().expect("a name").trim().to_owned();
    let entry = |text: &str| {
        let (head, rest) = text.split_once('"').expect("every entry has a text");
        let (name, value) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
        let value = value.trim().trim_end_matches('u').to_owned();
        Entry { name: name.to_owned(), value, texts: texts(&format!("\"{rest}")) }
    };
    List { name, entries: entries.map(entry).collect() }
}

/// C literals without escapes: `"a" "b", "c"` is `ab` and `c`.
fn texts(literals: &str) -> Vec<String> {
    let mut texts = vec![String::new()];
    for (index, piece) in literals.split('"').enumerate() {
        if index % 2 == 1 {
            texts.last_mut().expect("never empty").push_str(piece);
        } else if piece.contains(',') {
            texts.push(String::new());
        }
    }
    texts
}

/// `ACK_TRAIN` as Rust names a variant.
fn camel(name: &str) -> String {
    name.split('_').map(|word| word[..1].to_owned() + &word[1..].to_lowercase()).collect()
}

fn enumeration(list: &List) -> String {
    let List { name, entries } = list;
    let (count, columns) = (entries.len(), entries[0].texts.len());
    let variants: Vec<_> = entries.iter().map(|entry| camel(&entry.name)).collect();
    let texts: Vec<_> = entries.iter().map(|entry| &entry.texts).collect();
    let mut declared = String::new();
    for (index, (variant, texts)) in variants.iter().zip(&texts).enumerate() {
        let default = if index == 0 { "#[default] " } else { "" };
        add(
            &mut declared,
            format_args!(
                "    /// `{}`: {}.\n    {default}{variant} = {index},\n",
                texts[0],
                texts[columns - 1]
            ),
        );
    }
    format!(
        "/// The list `{name}` of the contract, each with its word and its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum {name} {{
{declared}}}

impl {name} {{
    /// All of them, in the order of the list.
    pub const ALL: [Self; {count}] = [{all}];
    const TEXTS: [[&'static str; {columns}]; {count}] = {texts:?};

    /// As files, tables and metrics spell it.
    pub const fn word(self) -> &'static str {{
        Self::TEXTS[self as usize][0]
    }}

    /// What has this word.
    pub fn from_word(word: &str) -> Option<Self> {{
        Self::ALL.into_iter().find(|known| known.word() == word)
    }}

    /// What has this number in C.
    #[inline]
    pub fn from_number(number: u32) -> Option<Self> {{
        Self::ALL.get(number as usize).copied()
    }}
}}
",
        all = variants.iter().map(|variant| format!("Self::{variant}")).collect::<Vec<_>>().join(", "),
    )
}

/// The list as constants with the bits that C gives them.
fn constants(list: &List) -> String {
    let mut rust = format!("impl {} {{\n", list.name);
    for Entry { name, value, texts } in &list.entries {
        let bit = value.parse::<u32>().expect("a bit").trailing_zeros();
        add(
            &mut rust,
            format_args!(
                "    /// `{}`: {}.\n    pub const {name}: Self = Self(1 << {bit});\n",
                texts[0], texts[1]
            ),
        );
    }
    rust.push_str("}\n");
    rust + &traits(list)
}

/// The traits of a list, with word and meaning.
fn traits(list: &List) -> String {
    let name = if list.name == "Traits" { "ALL".to_owned() } else { list.name.to_uppercase() };
    let all: Vec<_> = list
        .entries
        .iter()
        .map(|Entry { name, texts, .. }| {
            format!("Trait {{ bit: Self::{name}, word: {:?}, meaning: {:?} }}", texts[0], texts[1])
        })
        .collect();
    format!(
        "impl Traits {{\n    /// The list `{}` of the contract.\n    pub const {name}: [Trait; {}] = [{}];\n}}\n",
        list.name,
        all.len(),
        all.join(", ")
    )
}

/// The list of reasons for which rows leave by their own rules.
fn own_exits(list: &List) -> String {
    let entry = |entry: &Entry| format!("({:?}, ExitReason::{})", entry.texts[0], camel(&entry.name));
    let entries: Vec<_> = list.entries.iter().map(entry).collect();
    format!("const OWN_EXITS: &[(&str, ExitReason)] = &[{}];\n", entries.join(", "))
}

/// The list of parameters that have another value somewhere.
fn overrides(list: &List) -> String {
    let mut rust = String::from("/// All of them.\npub const OVERRIDES: &[Override] = &[\n");
    for Entry { name, value, texts } in &list.entries {
        let [algorithm, parameter, reason] = &texts[..] else { panic!("{name}: {texts:?}") };
        let environment = camel(name);
        writeln!(
            rust,
            "    Override {{ environment: Environment::{environment}, algorithm: {algorithm:?}, parameter: {parameter:?}, \
             value: {value}, reason: {reason:?} }},"
        )
        .expect("writing to a string");
    }
    rust + "];\n"
}

/// A structure of the contract that Rust has with the fields and the comments of C.
struct Structure {
    name: &'static str,
    meaning: &'static str,
    /// Fields that have a type of their own here.
    typed: &'static [(&'static str, &'static str)],
    /// Fields that only methods read.
    private: &'static [&'static str],
    /// Makes it with nothing in it; without it there is no such value.
    has_zero: bool,
    fields: Vec<Field>,
}

/// A field of a structure, in C's words.
struct Field {
    name: String,
    c_type: String,
    comment: Option<String>,
}

const STRUCTURES: [Structure; 5] = [
    Structure {
        name: "Hint",
        meaning: "Knowledge of the path before the first packet.",
        typed: &[],
        private: &["source", "reserved"],
        has_zero: true,
        fields: Vec::new(),
    },
    Structure {
        name: "Config",
        meaning: "Facts that an algorithm gets once, when the connection is established. Bytes are payload bytes.",
        typed: &[("hint", "Hint"), ("parameter", "[u64; PARAMETERS_MAX]")],
        private: &[],
        has_zero: false,
        fields: Vec::new(),
    },
    Structure {
        name: "Ack",
        meaning: "One acknowledgement, as the sender saw it. Its newest packet is, of those that it newly acknowledges, the \
                  one sent last.",
        typed: &[],
        private: &[],
        has_zero: true,
        fields: Vec::new(),
    },
    Structure {
        name: "Event",
        meaning: "Something that happened besides ACKs.",
        typed: &[("kind", "EventKind")],
        private: &[],
        has_zero: false,
        fields: Vec::new(),
    },
    Structure {
        name: "Decision",
        meaning: "Instructions to the host; every call reads and updates them.",
        typed: &[],
        private: &["phase", "exit_reason"],
        has_zero: true,
        fields: Vec::new(),
    },
];

/// The fields of `struct ramp_…` in `interface.h`.
fn fields(name: &str, interface: &str) -> Vec<Field> {
    let head = format!("struct ramp_{} {{", name.to_lowercase());
    let (_, body) = interface.split_once(&head).unwrap_or_else(|| panic!("interface.h has no `{head}`"));
    let (mut body, _) = body.split_once("};").expect("every structure ends");
    let mut fields = Vec::new();
    comment(&mut body);
    while let Some((declaration, rest)) = body.split_once(';') {
        let (c_type, name) = declaration.trim().rsplit_once(' ').expect("a type and a name");
        let name = name.split('[').next().expect("a name").to_owned();
        body = rest;
        fields.push(Field { name, c_type: c_type.to_owned(), comment: comment(&mut body) });
    }
    fields
}

/// The structure in Rust, each field with C's comment.
fn structure(Structure { name, meaning, typed, private, has_zero, fields }: &Structure) -> String {
    let mut rust = format!(
        "/// {meaning}
#[repr(C)]
#[cfg_attr(feature = \"serde\", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = \"serde\", allow(clippy::unsafe_derive_deserialize, reason = \"any numbers are a value\"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct {name} {{
"
    );
    let (mut zeros, mut numbers) = (String::new(), String::new());
    for Field { name: field, c_type, comment } in fields {
        let own = typed.iter().find(|(each, _)| each == field).map(|(_, own)| *own);
        let rust_type = own.unwrap_or_else(|| match c_type.as_str() {
            "ramp_u64" => "u64",
            "ramp_u32" => "u32",
            other => panic!("{name}.{field}: `{other}` is neither ramp_u64 nor ramp_u32"),
        });
        let hidden = private.contains(&field.as_str());
        // Without a comment the field has no documentation, which the compiler reports.
        let document = comment.as_ref().map_or_else(String::new, |text| format!("    /// {text}\n"));
        let public = if hidden { "" } else { "pub " };
        add(&mut rust, format_args!("{document}    {public}{field}: {rust_type},\n"));
        add(&mut zeros, format_args!("{field}: 0, "));
        if own.is_none() && !hidden {
            let (max, get, set) = match rust_type {
                "u64" => ("u64::MAX", format!("of.{field}"), "value"),
                _ => ("0xffff_ffff", format!("u64::from(of.{field})"), "value as u32"),
            };
            add(
                &mut numbers,
                format_args!(
                    "Field {{ name: {field:?}, max: {max}, get: |of| {get}, set: |of, value| of.{field} = {set} }},\n"
                ),
            );
        }
    }
    let zero = if *has_zero { format!("const ZERO: Self = Self {{ {zeros}}};\n") } else { String::new() };
    rust + &format!(
        "}}
impl {name} {{
    /// All public fields that are numbers, in C's order.
    pub const FIELDS: &'static [Field<Self>] = &[{numbers}];
    {zero}}}
"
    )
}

/// Size of the structure, offset and size of each field, as the test's macro finds them.
fn layout_of_rust(Structure { name, fields, .. }: &Structure) -> String {
    let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
    format!("layout!({name}: {}), ", names.join(", "))
}

/// The same of all structures as C has them, for the test that the two agree.
fn layout_of_c(structures: &[Structure]) -> String {
    let mut places = String::new();
    for Structure { name, fields, .. } in structures {
        let of = format!("struct ramp_{}", name.to_lowercase());
        add(&mut places, format_args!("sizeof({of}),\n"));
        for Field { name, .. } in fields {
            add(&mut places, format_args!("offsetof({of}, {name}), sizeof((({of} *)0)->{name}),\n"));
        }
    }
    format!(
        "#include <stddef.h>\n#include <ramp/interface.h>\nconst size_t ramp_layout[] = {{\n{places}}};\n\
         const size_t ramp_layout_count = sizeof(ramp_layout) / sizeof(ramp_layout[0]);\n"
    )
}

/// Takes the comment off that a text begins with, as a sentence with C's names in code font.
fn comment(text: &mut &str) -> Option<String> {
    let (comment, rest) = text.trim_start().strip_prefix("/*")?.split_once("*/")?;
    *text = rest;
    let words: Vec<_> = comment.split_whitespace().map(code).collect();
    let sentence = words.join(" ");
    let first = sentence.chars().next()?;
    Some(format!("{}{}.", first.to_uppercase(), &sentence[first.len_utf8()..]))
}

/// A word, in code font where it is a name of C.
fn code(word: &str) -> String {
    let name = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
    if name.contains('_') { word.replace(name, &format!("`{name}`")) } else { word.to_owned() }
}

/// A file of the package, so written that the generated source is the same wherever it lies.
fn included(path: &Path) -> String {
    format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?}))", format!("/{}", path.display()))
}

/// The core's own sources by their paths.
fn sources() -> String {
    let headers = fs::read_dir("include/ramp").expect("include/ramp is part of the source");
    let mut paths: Vec<_> = headers.map(|entry| entry.expect("a readable directory").path()).collect();
    paths.push("src/shim.c".into());
    paths.sort();
    let mut table = String::from(
        "/// The sources of the core, each with its path: what compiles into the table that `foreign_algorithms` reads, for who\n\
         /// has only this crate.\npub const SOURCES: &[(&str, &str)] = &[\n",
    );
    for path in paths {
        writeln!(table, "    ({:?}, {}),", path.to_string_lossy(), included(&path))
            .expect("writing to a string");
    }
    table.push_str("];\n");
    table
}

/// `docs/<id>.md`, sorted by id: an algorithm's document is found by its name alone.
fn documents() -> String {
    let mut paths: Vec<_> = fs::read_dir("docs")
        .expect("docs links to docs/algorithms")
        .map(|entry| entry.expect("a readable directory").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md") && !path.ends_with("README.md"))
        .collect();
    paths.sort();
    let mut table = String::from(
        "/// Identifier and document of each algorithm.\npub(crate) const DOCUMENTS: &[(&str, &str)] = &[\n",
    );
    for path in paths {
        let id = path.file_stem().expect("a file name").to_string_lossy().into_owned();
        writeln!(table, "    ({id:?}, {}),", included(&path)).expect("writing to a string");
    }
    table.push_str("];\n");
    table
}
