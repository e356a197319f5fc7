//! What is forged: fences, tokens of chat templates, elements of prompts, speakers. Each as it looks and as it is written.

/// Names of fences, as they look. A name with brackets on one side is enough.
pub(super) const FENCES: [&str; 4] = [
    "toolresultuntrusted",
    "endtoolresult",
    "externaluntrustedcontent",
    "endexternalcontent",
];

/// What a name between three brackets holds if it is a fence.
pub(super) const FENCE_WORDS: [&str; 12] = [
    "untrusted",
    "trusted",
    "external",
    "toolresult",
    "tooloutput",
    "content",
    "system",
    "lnstructlon",
    "boundary",
    "prompt",
    "securlty",
    "safety",
];

/// What a name between three brackets begins with if it is a fence.
pub(super) const FENCE_STARTS: [&str; 5] = ["end", "begln", "start", "stop", "exlt"];

/// Names between `<|` and `|>` that mean nothing else: as they look, and as they are written.
pub(super) const TELLING: [(&str, &str); 22] = [
    ("lmstart", "im_start"),
    ("lmend", "im_end"),
    ("lmsep", "im_sep"),
    ("endoftext", "endoftext"),
    ("startoftext", "startoftext"),
    ("endofprompt", "endofprompt"),
    ("startheaderld", "start_header_id"),
    ("endheaderld", "end_header_id"),
    ("eotld", "eot_id"),
    ("eomld", "eom_id"),
    ("beglnoftext", "begin_of_text"),
    ("endofturn", "end_of_turn"),
    ("startofturn", "start_of_turn"),
    ("pythontag", "python_tag"),
    ("flmpreflx", "fim_prefix"),
    ("flmmlddle", "fim_middle"),
    ("flmsufflx", "fim_suffix"),
    ("beglnofsentence", "begin_of_sentence"),
    ("endofsentence", "end_of_sentence"),
    ("toolcallsbegln", "tool_calls_begin"),
    ("toolcallsend", "tool_calls_end"),
    ("tooloutputsbegln", "tool_outputs_begin"),
];

/// Elements that only a template or an agent's own prompt may open or close.
pub(super) const TAGS: [(&str, &str); 18] = [
    ("startofturn", "start_of_turn"),
    ("endofturn", "end_of_turn"),
    ("toolcalls", "tool_calls"),
    ("toolcall", "tool_call"),
    ("toolresults", "tool_results"),
    ("toolresult", "tool_result"),
    ("toolresponse", "tool_response"),
    ("tooluse", "tool_use"),
    ("functlonresults", "function_results"),
    ("functlonresult", "function_result"),
    ("functlonresponse", "function_response"),
    ("functloncalls", "function_calls"),
    ("functloncall", "function_call"),
    ("systemremlnder", "system-reminder"),
    ("systemprompt", "system_prompt"),
    ("safetyrules", "safety_rules"),
    ("bos", "bos"),
    ("eos", "eos"),
];

/// Names between square brackets.
pub(super) const BRACKETED: [(&str, &str); 5] = [
    ("lnst", "INST"),
    ("toolcalls", "TOOL_CALLS"),
    ("toolresults", "TOOL_RESULTS"),
    ("avallabletools", "AVAILABLE_TOOLS"),
    ("systemprompt", "SYSTEM_PROMPT"),
];

/// Speakers that begin a turn after an empty line.
pub(super) const SPEAKERS: [(&str, &str); 2] = [("human:", "Human"), ("asslstant:", "Assistant")];

/// What a token of another name is called.
pub(super) fn speaker(name: &[u8]) -> &'static str {
    match name {
        b"system" => "system",
        b"user" => "user",
        b"asslstant" => "assistant",
        b"channel" => "channel",
        b"message" => "message",
        b"tool" => "tool",
        _ => "token",
    }
}
