//! An answer that is checked while it is written: what can no longer become part of a finding goes out, the rest waits.

use crate::output::{
    Context, Issue, IssueKind, Judge, LOOK_BACK, Matcher, Severity, Validator, addresses, blocks,
    encoded_block, indicators, orders, scripts, terminal, unseen,
};
use blastshield_leak::{Scope, Stream as LeakStream};
use blastshield_text::Views;

/// What of the text already sent is kept to understand what follows.
const BEHIND: usize = 1024;
/// Text that is looked at as a whole for what only earns a warning, and for what is encoded in a roundabout way.
const WINDOW: usize = 2048;
/// A word of this many signs without a blank may be an encoded text and is held until it ends.
const LONG_WORD: usize = 24;
/// Longest word that is held.
const MAX_WORD: usize = 4096;
/// Issues that are reported in all.
const MAX_ISSUES: usize = crate::output::MAX_ISSUES;

/// What may go out now.
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// Safe to send.
    pub text: String,
    /// What was found; places count from the beginning of the answer.
    pub issues: Vec<Issue>,
    /// The answer ends here: send [`crate::output::BLOCKED`] and nothing else.
    pub blocked: bool,
}

/// Checks one answer as it arrives.
pub struct OutputStream {
    validator: Validator,
    context: Context,
    /// Keeps secrets back; absent if they only earn a warning.
    secrets: Option<LeakStream>,
    matcher: Matcher,
    /// The last of what was sent, then what is held.
    text: String,
    /// Bytes of `text` that were sent.
    sent: usize,
    /// Bytes of `text` that the matcher has seen.
    matched: usize,
    /// Bytes of `text` whose addresses were judged.
    judged: usize,
    /// Bytes of the answer before `text`.
    base: usize,
    /// Bytes sent since the last look at the window.
    unlooked: usize,
    issues: usize,
    blocked: bool,
}

/// Text without a break, too long to be held: it could hide anything.
fn unchecked(at: usize) -> Issue {
    Issue {
        kind: IssueKind::SuspiciousContent,
        description: "an unbroken run too long to be checked".to_owned(),
        location: (at..at).into(),
        severity: Severity::Block,
    }
}

impl OutputStream {
    /// A stream for one answer.
    #[must_use]
    pub fn new(validator: Validator, context: Context) -> Self {
        let secrets = validator
            .rules
            .block_credential_leaks
            .then(|| LeakStream::new(validator.scanner.clone(), Scope::SECRETS));
        Self {
            validator,
            context,
            secrets,
            matcher: Matcher::default(),
            text: String::new(),
            sent: 0,
            matched: 0,
            judged: 0,
            base: 0,
            unlooked: 0,
            issues: 0,
            blocked: false,
        }
    }

    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) -> Released {
        if self.blocked {
            return self.stopped(Vec::new());
        }
        let Some(secrets) = &mut self.secrets else {
            return self.take(piece, false);
        };
        let released = secrets.push(piece);
        self.pass(&released, false)
    }

    /// The end of the answer.
    pub fn finish(&mut self) -> Released {
        if self.blocked {
            return self.stopped(Vec::new());
        }
        let Some(secrets) = &mut self.secrets else {
            return self.take("", true);
        };
        let released = secrets.finish();
        self.pass(&released, true)
    }

    /// Whether the answer was stopped.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// What the first guard let through goes to the second.
    fn pass(&mut self, released: &blastshield_leak::Released, last: bool) -> Released {
        let leaks: Vec<Issue> = released
            .findings
            .iter()
            .map(|finding| self.validator.credential(finding))
            .collect();
        let over = !leaks.is_empty() || released.overflow;
        let mut out = self.take(&released.text, last || over);
        out.issues.extend(leaks);
        if released.overflow {
            let end = self.base + self.text.len();
            out.issues.push(unchecked(end));
        }
        if over {
            self.blocked = true;
            out.blocked = true;
        }
        out
    }

    fn take(&mut self, piece: &str, last: bool) -> Released {
        self.text.push_str(piece);
        let mut issues = Vec::new();
        let fresh = self.text.get(self.matched..).unwrap_or_default();
        self.matcher.feed(&self.validator.prompts, fresh);
        self.matched = self.text.len();
        self.copied(last, &mut issues);
        let upto = if last { self.text.len() } else { self.free() };
        if self.validator.rules.scan_for_exfiltration {
            self.judge(upto, last, &mut issues);
        }
        self.encoded(upto, &mut issues);
        if issues.iter().any(|issue| issue.severity == Severity::Block) {
            return self.stopped(issues);
        }
        let text = self
            .text
            .get(self.sent..upto)
            .unwrap_or_default()
            .to_owned();
        self.sent = self.sent.max(upto);
        self.unlooked += text.len();
        if self.unlooked >= WINDOW || last {
            self.look(&mut issues);
        }
        if issues.iter().any(|issue| issue.severity == Severity::Block) {
            return self.stopped(issues);
        }
        self.forget();
        Released {
            text,
            issues: self.counted(issues),
            blocked: false,
        }
    }

    fn stopped(&mut self, issues: Vec<Issue>) -> Released {
        self.blocked = true;
        self.text = String::new();
        Released {
            text: String::new(),
            issues: self.counted(issues),
            blocked: true,
        }
    }

    fn counted(&mut self, mut issues: Vec<Issue>) -> Vec<Issue> {
        issues.sort_by_key(|issue| std::cmp::Reverse(issue.severity));
        let room = MAX_ISSUES.saturating_sub(self.issues);
        let blocking = issues
            .iter()
            .filter(|issue| issue.severity == Severity::Block)
            .count();
        issues.truncate(room.max(blocking.min(1)));
        self.issues += issues.len();
        issues
    }

    /// Passages of the prompt in the open.
    fn copied(&mut self, last: bool, issues: &mut Vec<Issue>) {
        let prompts = &self.validator.prompts;
        let mut passages = self.matcher.take_done();
        if last || self.matcher.has_leaked(prompts) {
            passages.extend(self.matcher.finish(prompts));
        }
        for passage in passages {
            issues.push(
                self.validator
                    .leaked_prompt(passage.start, passage.end, passage.leaked),
            );
        }
    }

    /// Up to where nothing can become part of something worse.
    fn free(&self) -> usize {
        let mut free = self.text.len();
        if let Some(open) = self.matcher.open_at() {
            free = free.min(open.saturating_sub(self.base));
        }
        if self.validator.rules.scan_for_exfiltration {
            free = free.min(self.open_address());
        }
        free = free.min(self.open_word());
        if self.validator.rules.scan_for_exfiltration {
            free = self.beside_addresses(free);
        }
        self.text.floor_char_boundary(free.max(self.sent))
    }

    /// An address is judged whole, so it goes out whole: a place within one becomes its beginning.
    fn beside_addresses(&self, place: usize) -> usize {
        addresses(&self.text, self.judged)
            .iter()
            .find(|found| found.range.start < place && place < found.range.end)
            .map_or(place, |found| found.range.start)
    }

    /// Where an address begins that has not ended, or what may become one.
    fn open_address(&self) -> usize {
        if let Some(open) = addresses(&self.text, self.judged)
            .last()
            .filter(|found| found.open)
        {
            return open.range.start;
        }
        let tail_at = self
            .text
            .floor_char_boundary(self.text.len().saturating_sub(8));
        let tail = self
            .text
            .get(tail_at..)
            .unwrap_or_default()
            .replace('\\', "/")
            .to_ascii_lowercase();
        let begun = (0..tail.len()).find(|at| {
            tail.get(*at..).is_some_and(|end| {
                [
                    "https://", "http://", "ftps://", "ftp://", "wss://", "ws://", "//",
                ]
                .iter()
                .any(|scheme| scheme.starts_with(end))
            })
        });
        begun.map_or(self.text.len(), |at| tail_at + at)
    }

    /// Where a long word begins that has not ended; what was sent of it before it was long stays sent.
    fn open_word(&self) -> usize {
        let start = self
            .text
            .char_indices()
            .rev()
            .take(MAX_WORD + 1)
            .find(|(_, c)| c.is_whitespace())
            .map_or(0, |(at, c)| at + c.len_utf8());
        if (LONG_WORD..=MAX_WORD).contains(&(self.text.len() - start)) {
            start
        } else {
            self.text.len()
        }
    }

    /// Addresses that end before `upto`.
    fn judge(&mut self, upto: usize, last: bool, issues: &mut Vec<Issue>) {
        let judge = Judge {
            scanner: &self.validator.scanner,
            context: &self.context,
        };
        for found in addresses(&self.text, self.judged) {
            if found.open && !last || found.range.start >= upto {
                break;
            }
            issues.extend(
                judge
                    .address(&self.text, &found)
                    .map(|issue| self.moved(issue)),
            );
            self.judged = found.range.end;
        }
        self.judged = self.judged.max(upto.min(self.text.len()));
    }

    /// Passages of the prompt under an encoding, looked for where a long word is about to go out.
    fn encoded(&self, upto: usize, issues: &mut Vec<Issue>) {
        let fresh = self.text.get(self.sent..upto).unwrap_or_default();
        let long = fresh
            .split(char::is_whitespace)
            .any(|word| word.len() >= LONG_WORD / 2);
        if long && !self.validator.prompts.is_empty() {
            let views = Views::of(self.text.get(..upto).unwrap_or_default());
            for (start, end, leaked) in self.validator.decoded_passages(&views) {
                if end > self.sent {
                    issues.push(self.moved(self.validator.leaked_prompt(start, end, leaked)));
                }
            }
        }
    }

    /// Looks at what was sent since the last time, with a little before it.
    fn look(&mut self, issues: &mut Vec<Issue>) {
        let from = self.sent.saturating_sub(self.unlooked + LOOK_BACK);
        let from = self.text.ceil_char_boundary(from);
        let fresh = self.sent - self.unlooked.min(self.sent);
        let window = self.text.get(from..self.sent).unwrap_or_default();
        let views = Views::of(window);
        let mut found = Vec::new();
        if !self.validator.prompts.is_empty() {
            for (start, end, leaked) in self.validator.decoded_passages(&views) {
                found.push(self.validator.leaked_prompt(start, end, leaked));
            }
        }
        indicators(&views, &mut found);
        if self.validator.rules.scan_for_exfiltration {
            found.extend(blocks(window).into_iter().map(encoded_block));
        }
        if self.secrets.is_none() {
            let findings = self.validator.scanner.scan_with(window, Scope::SECRETS);
            found.extend(
                findings
                    .iter()
                    .map(|finding| self.validator.credential(finding)),
            );
        }
        terminal(window, &mut found);
        unseen(&views, &mut found);
        scripts(window, &views, &mut found);
        if let Some(detector) = &self.validator.detector {
            orders(window, detector, &mut found);
        }
        // What ended before this window was reported with the last one.
        found.retain(|issue| from + issue.location.end > fresh);
        issues.extend(found.into_iter().map(|mut issue| {
            issue.location.start += self.base + from;
            issue.location.end += self.base + from;
            issue
        }));
        self.unlooked = 0;
    }

    fn moved(&self, mut issue: Issue) -> Issue {
        issue.location.start += self.base;
        issue.location.end += self.base;
        issue
    }

    /// Drops what was sent and is no longer needed.
    fn forget(&mut self) {
        let keep = BEHIND + self.unlooked;
        // Moving the rest down is paid for by what is dropped.
        if self.sent < 2 * keep + BEHIND {
            return;
        }
        let cut = self.text.floor_char_boundary(self.sent - keep);
        self.text.drain(..cut);
        self.base += cut;
        self.sent -= cut;
        self.matched -= cut;
        self.judged = self.judged.saturating_sub(cut);
    }
}
