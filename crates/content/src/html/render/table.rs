//! Tables of data; tables that only lay out a page are read as blocks.

use html5ever::local_name;

use crate::Mode;
use crate::html::dom::{Data, Dom, Element, Id, Step};

/// Rows of cells.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    rows: Vec<Vec<String>>,
    pending: usize,
}

const MAX_COLUMNS: usize = 64;
/// A cell longer than this is prose, and its table a layout.
const MAX_CELL: usize = 700;

impl Grid {
    pub(crate) fn open_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(crate) fn open_cell(&mut self, element: &Element) {
        let span = element
            .attr(&local_name!("colspan"))
            .and_then(|text| text.trim().parse::<usize>().ok())
            .unwrap_or(1);
        self.pending = span.clamp(1, 16);
    }

    pub(crate) fn close_cell(&mut self, text: String) {
        if self.rows.is_empty() {
            self.rows.push(Vec::new());
        }
        if let Some(row) = self.rows.last_mut()
            && row.len() + self.pending <= MAX_COLUMNS
        {
            row.push(text);
            row.extend((1..self.pending).map(|_| String::new()));
        }
        self.pending = 1;
    }

    pub(crate) fn write(&self, mode: Mode) -> String {
        let rows: Vec<&Vec<String>> = self
            .rows
            .iter()
            .filter(|row| row.iter().any(|cell| !cell.is_empty()))
            .collect();
        if mode == Mode::Text {
            let line = |row: &Vec<String>| {
                let cells: Vec<String> = row
                    .iter()
                    .map(|cell| one_line(cell))
                    .filter(|cell| !cell.is_empty())
                    .collect();
                cells.join("\t")
            };
            return rows.into_iter().map(line).collect::<Vec<_>>().join("\n");
        }
        let width = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        let mut out = String::new();
        for (number, row) in rows.iter().enumerate() {
            out.push('|');
            for column in 0..width {
                let cell = row
                    .get(column)
                    .map(|cell| one_line(cell).replace('|', "\\|"))
                    .unwrap_or_default();
                out.push(' ');
                out.push_str(&cell);
                out.push_str(" |");
            }
            out.push('\n');
            if number == 0 {
                out.push('|');
                out.push_str(&" --- |".repeat(width));
                out.push('\n');
            }
        }
        out
    }
}

fn one_line(cell: &str) -> String {
    cell.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a table holds data: no table, list or heading in its cells, more than one column, short cells.
pub(crate) fn is_data_table(dom: &Dom, table: Id, skip: &dyn Fn(Id) -> bool) -> bool {
    let (mut rows, mut cells, mut columns, mut widest, mut length) = (0, 0, 0, 0, 0);
    let mut walk = dom.walk(table);
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(id) if skip(id) => walk.pass_over(id),
            Step::Enter(id) => match &dom.node(id).data {
                Data::Text(text) => {
                    length += text.trim().len();
                    widest = widest.max(length);
                }
                Data::Element(element) => match *element.tag() {
                    local_name!("table") if id != table => return false,
                    local_name!("article")
                    | local_name!("pre")
                    | local_name!("blockquote")
                    | local_name!("h1")
                    | local_name!("h2")
                    | local_name!("h3") => return false,
                    local_name!("tr") => {
                        rows += 1;
                        columns = columns.max(cells);
                        cells = 0;
                    }
                    local_name!("td") | local_name!("th") => {
                        cells += 1;
                        length = 0;
                    }
                    _ => {}
                },
                _ => {}
            },
            Step::Leave(_) => {}
        }
        if widest > MAX_CELL {
            return false;
        }
    }
    columns = columns.max(cells);
    rows >= 1 && columns >= 2 && (rows >= 2 || columns >= 3)
}
