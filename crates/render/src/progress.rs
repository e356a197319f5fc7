//! Follows what becomes of a page's main document: where it was asked for, what answered, how far it has loaded.

use std::collections::VecDeque;

use serde::Deserialize;
use url::Url;

use crate::cdp::Event;

/// Documents that are remembered; only the current one counts, but answers may come before it becomes current.
const MAX_DOCUMENTS: usize = 8;

/// Where a document came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    loader: String,
    pub(crate) url: Url,
    pub(crate) status: u16,
    pub(crate) media_type: String,
}

/// What is known so far.
#[derive(Default)]
pub(crate) struct Progress {
    frame: String,
    loader: Option<String>,
    reached: Vec<String>,
    documents: VecDeque<Document>,
    asked: Option<Url>,
    asked_count: usize,
    misled: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lifecycle {
    frame_id: String,
    loader_id: String,
    name: String,
}

#[derive(Deserialize)]
struct Navigated {
    frame: Frame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    id: String,
    loader_id: String,
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    frame_id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answered {
    frame_id: Option<String>,
    loader_id: String,
    #[serde(rename = "type")]
    kind: String,
    response: Response,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    url: String,
    status: u16,
    mime_type: String,
}

impl Progress {
    pub(crate) fn of_frame(frame: &str) -> Self {
        Self {
            frame: frame.to_owned(),
            ..Self::default()
        }
    }

    /// Takes note of an event; those it does not know are ignored.
    pub(crate) fn note(&mut self, event: &Event) {
        match event.method.as_str() {
            "Page.lifecycleEvent" => event.read().map(|event| self.lifecycle(event)),
            "Page.frameNavigated" => event.read().map(|event| self.navigated(event)),
            "Network.requestWillBeSent" => event.read().map(|event| self.asked(&event)),
            "Network.responseReceived" => event.read().map(|event| self.answered(event)),
            _ => None,
        };
    }

    fn lifecycle(&mut self, event: Lifecycle) {
        if event.frame_id != self.frame {
            return;
        }
        if matches!(event.name.as_str(), "init" | "commit") {
            self.replaced_by(event.loader_id);
        } else if self.loader.as_ref() == Some(&event.loader_id) && self.reached.len() < 64 {
            self.reached.push(event.name);
        }
    }

    fn navigated(&mut self, event: Navigated) {
        if event.frame.id == self.frame {
            self.replaced_by(event.frame.loader_id);
            let is_web = ["http:", "https:"]
                .iter()
                .any(|scheme| event.frame.url.starts_with(scheme));
            self.misled = !is_web;
        }
    }

    fn replaced_by(&mut self, loader: String) {
        if self.loader.as_ref() != Some(&loader) {
            self.loader = Some(loader);
            self.reached.clear();
            self.misled = false;
        }
    }

    fn asked(&mut self, event: &Asked) {
        let is_document = event.kind.as_deref() == Some("Document");
        if is_document && event.frame_id.as_ref() == Some(&self.frame) {
            self.asked = Url::parse(&event.request.url).ok();
            self.asked_count += 1;
        }
    }

    fn answered(&mut self, event: Answered) {
        if event.kind != "Document" || event.frame_id.as_ref() != Some(&self.frame) {
            return;
        }
        let Ok(mut url) = Url::parse(&event.response.url) else {
            return;
        };
        url.set_fragment(None);
        if self.documents.len() == MAX_DOCUMENTS {
            self.documents.pop_front();
        }
        self.documents.push_back(Document {
            loader: event.loader_id,
            url,
            status: event.response.status,
            media_type: event.response.mime_type,
        });
    }

    /// Whether the current document came from an origin and has got this far.
    pub(crate) fn has_reached(&self, name: &str) -> bool {
        self.document().is_some() && self.reached.iter().any(|reached| reached == name)
    }

    /// The current document, if it came from an origin.
    pub(crate) fn document(&self) -> Option<&Document> {
        let loader = self.loader.as_ref()?;
        self.documents
            .iter()
            .rev()
            .find(|document| document.loader == *loader)
    }

    /// Names the current document, for telling whether it is still the same.
    pub(crate) fn loader(&self) -> Option<&str> {
        self.loader.as_deref()
    }

    /// Whether the page now shows an error of the browser, or something that no origin sent.
    pub(crate) fn is_misled(&self) -> bool {
        self.misled
    }

    /// Where the main document was asked for last, and after how many others.
    pub(crate) fn asked_last(&self) -> Option<(&Url, usize)> {
        self.asked
            .as_ref()
            .map(|url| (url, self.asked_count.saturating_sub(1)))
    }
}
