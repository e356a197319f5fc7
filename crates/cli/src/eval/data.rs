//! Labelled rows and background text, read from folders.

use anyhow::{Context, bail};
use blastshield_train::Row;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A row is a message or a page, never more than this.
const MAX_LINE: u64 = 4 << 20;
/// Background documents are read up to here.
const MAX_DOCUMENT: u64 = 200 << 10;

/// All rows of all `*.jsonl` and `*.jsonl.gz` files directly in a folder.
pub(crate) fn read_folder(folder: &Path) -> anyhow::Result<Vec<Row>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
        })
        .collect();
    files.sort();
    let mut rows = Vec::new();
    for file in &files {
        read_rows(file, &mut rows)?;
    }
    Ok(rows)
}

fn read_rows(file: &Path, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let name = file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let source = name.split('.').next().unwrap_or_default().to_owned();
    let mut reader = BufReader::new(open(file)?);
    for number in 1_u32.. {
        let mut line = String::new();
        let read = reader
            .by_ref()
            .take(MAX_LINE)
            .read_line(&mut line)
            .with_context(|| format!("cannot read {name}, line {number}"))?;
        if read == 0 {
            return Ok(());
        }
        if line.trim().is_empty() {
            continue;
        }
        let mut row: Row = serde_json::from_str(&line)
            .with_context(|| format!("{name}, line {number} is not a row"))?;
        if row.label > 1 {
            bail!("{name}, line {number}: label must be 0 or 1");
        }
        if row.source.is_empty() {
            row.source.clone_from(&source);
        }
        rows.push(row);
    }
    Ok(())
}

fn open(file: &Path) -> anyhow::Result<Box<dyn Read>> {
    let opened = File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    let gzipped = file.extension().is_some_and(|e| e == "gz");
    Ok(if gzipped {
        Box::new(MultiGzDecoder::new(opened))
    } else {
        Box::new(opened)
    })
}

/// Ordinary text below some folders, as benign rows; files that are not text are passed over.
pub(crate) fn read_background(folders: &[PathBuf]) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for folder in folders {
        let mut files = Vec::new();
        walk(folder, &mut files)
            .with_context(|| format!("cannot read the folder {}", folder.display()))?;
        files.sort();
        for file in files {
            let mut bytes = Vec::new();
            let Ok(reader) = open(&file) else { continue };
            if reader.take(MAX_DOCUMENT).read_to_end(&mut bytes).is_err() {
                continue;
            }
            let Ok(text) = String::from_utf8(bytes) else {
                continue;
            };
            if text.len() < 200 || text.contains('\0') {
                continue;
            }
            rows.push(Row {
                id: format!("background-{}", rows.len()),
                text,
                label: 0,
                category: "background".into(),
                source: "background".into(),
                lang: String::new(),
            });
        }
    }
    Ok(rows)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}
