//! The kinds of attack that a match is filed under.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What an attack tries to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Drops, replaces or outranks the model's instructions.
    InstructionOverride,
    /// Gives the model a persona or mode without rules.
    RoleManipulation,
    /// Pretends surroundings in which the rules do not hold.
    ContextManipulation,
    /// Forges the end of a fence, or a turn of another speaker.
    DelimiterEscape,
    /// Claims an agreement from earlier in the conversation.
    MultiTurnManipulation,
    /// Hides instructions in an encoding.
    EncodingAttacks,
    /// Makes an agent call tools for someone else.
    ToolManipulation,
    /// Gets private data out.
    DataExfiltration,
    /// Asks for the hidden prompt.
    PromptExtraction,
    /// Asks for a secret.
    SecretRequest,
    /// Makes an agent run commands.
    CommandExecution,
    /// Makes an agent install something.
    SkillInstall,
    /// Claims authority or presses for haste.
    UrgencyAuthority,
    /// Writes so that people do not see what the model reads.
    InvisibleText,
    /// Uses the control tokens of chat templates.
    ChatTemplate,
    /// Forges a tool call or a tool's answer.
    FakeToolResult,
    /// Leaks data through the address of a link or an image.
    BeaconExfiltration,
    /// Speaks to the AI that reads the text.
    ReaderAddress,
    /// Plants lasting instructions in the agent's memory.
    MemoryPlanting,
    /// Claims an approval that nobody gave.
    ApprovalForging,
    /// Reads like an attack to the statistical model.
    Statistical,
}

impl Category {
    /// Every category, in the order of declaration.
    pub const ALL: [Self; 21] = [
        Self::InstructionOverride,
        Self::RoleManipulation,
        Self::ContextManipulation,
        Self::DelimiterEscape,
        Self::MultiTurnManipulation,
        Self::EncodingAttacks,
        Self::ToolManipulation,
        Self::DataExfiltration,
        Self::PromptExtraction,
        Self::SecretRequest,
        Self::CommandExecution,
        Self::SkillInstall,
        Self::UrgencyAuthority,
        Self::InvisibleText,
        Self::ChatTemplate,
        Self::FakeToolResult,
        Self::BeaconExfiltration,
        Self::ReaderAddress,
        Self::MemoryPlanting,
        Self::ApprovalForging,
        Self::Statistical,
    ];

    /// The name used in rules, reports and on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InstructionOverride => "instruction_override",
            Self::RoleManipulation => "role_manipulation",
            Self::ContextManipulation => "context_manipulation",
            Self::DelimiterEscape => "delimiter_escape",
            Self::MultiTurnManipulation => "multi_turn_manipulation",
            Self::EncodingAttacks => "encoding_attacks",
            Self::ToolManipulation => "tool_manipulation",
            Self::DataExfiltration => "data_exfiltration",
            Self::PromptExtraction => "prompt_extraction",
            Self::SecretRequest => "secret_request",
            Self::CommandExecution => "command_execution",
            Self::SkillInstall => "skill_install",
            Self::UrgencyAuthority => "urgency_authority",
            Self::InvisibleText => "invisible_text",
            Self::ChatTemplate => "chat_template",
            Self::FakeToolResult => "fake_tool_result",
            Self::BeaconExfiltration => "beacon_exfiltration",
            Self::ReaderAddress => "reader_address",
            Self::MemoryPlanting => "memory_planting",
            Self::ApprovalForging => "approval_forging",
            Self::Statistical => "statistical",
        }
    }
}

impl Category {
    /// What ordinary programs do all the time, under names that the rules know.
    pub(crate) fn common_in_code(self) -> bool {
        matches!(
            self,
            Self::SecretRequest
                | Self::PromptExtraction
                | Self::DataExfiltration
                | Self::ToolManipulation
                | Self::SkillInstall
                | Self::ApprovalForging
                | Self::ContextManipulation
        )
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
