"""Public incidents: tool loops without progress."""

from __future__ import annotations

from types import MappingProxyType

from harness.catalogue.incident import Incident

INCIDENTS = MappingProxyType(
    {
        62: Incident(
            "Significant-Gravitas/AutoGPT#1994 (#3644, #5405, #920, #3211)",
            "same google query for ever",
            "no memory of past calls; no stop",
            "identical call+args",
            ("no_progress_stop",),
        ),
        63: Incident(
            "Significant-Gravitas/AutoGPT#2023",
            "only do_nothing {}",
            "empty action accepted as progress",
            "do_nothing, args {}",
            ("no_progress_stop", "cancel_honoured"),
        ),
        64: Incident(
            "HKUDS/nanobot#2298",
            "172 identical exec calls",
            "404 with empty body looked like success (exit 0)",
            "identical call, identical empty result",
            ("no_progress_stop", "error_visible"),
        ),
        65: Incident(
            "HKUDS/nanobot#3077 (#3073)",
            "15+ identical read_file",
            "no repeat detection",
            "same args",
            ("no_progress_stop",),
        ),
        66: Incident(
            "earendil-works/pi#9637",
            "220+ `echo noop` in 25 min",
            "while(true), exits only on error/abort; background extension woke it again",
            "byte-identical args, only display name differs",
            ("no_progress_stop", "cancel_honoured"),
        ),
        67: Incident(
            "NousResearch/hermes-agent#67829",
            "25 invalid memory() calls in 6 min",
            'warning only, no block; text channel "knows", call channel repeats',
            "missing required arg, identical failure",
            ("no_progress_stop",),
        ),
        68: Incident(
            "NousResearch/hermes-agent#46709",
            "9-hour tool loop",
            "context full of own failures",
            "repeated failures",
            ("no_progress_stop", "budget_ceiling"),
        ),
        69: Incident(
            "superplanehq/superplane#4123",
            "list calls on [] results",
            'empty list read as "try again"',
            "identical or near-identical",
            ("no_progress_stop",),
        ),
        70: Incident(
            "quintonmiller/tailored-ai#528",
            "asks empty memory 3x",
            '"empty" read as failure',
            "same call",
            ("no_progress_stop",),
        ),
        71: Incident(
            "BigPizzaV3/CodexPlusPlus#1748",
            "shell_command() every 6-8 s",
            "proxy strips tool_calls and results from history",
            "request N+1 == request N",
            ("history_faithful", "no_blind_resend"),
        ),
        72: Incident(
            "google-gemini/gemini-cli#5283",
            '17 "loop detected" warnings, goes on',
            "detector warns but does not stop",
            "repeated calls",
            ("no_progress_stop",),
        ),
        73: Incident(
            "google-gemini/gemini-cli#25671",
            "sequentialthinking to thought 1 039",
            "each call varies slightly; detection was disabled mid-run",
            "near-identical args",
            ("no_progress_stop",),
        ),
        74: Incident(
            "google-gemini/gemini-cli#2773 (PR 3898)",
            "$900+ in 3 days",
            (
                'next-speaker "continue" loop, retry counter reset by fallback, edit-corrector '
                "cascade"
            ),
            "self-prompting",
            ("bounded_turn", "retry_budget"),
        ),
        75: Incident(
            "google-gemini/gemini-cli#8234, #7950",
            "detector stops legitimate work",
            "looks at calls, not results",
            "repeated calls with progress",
            ("no_false_stop",),
        ),
        76: Incident(
            "macanderson/stella#359; StartupHakk/OpenMonoAgent.ai#47",
            "polling aborted, period-3 cycles missed",
            "compares inputs only, cycle length 2 only",
            "poll with changing output; A-B-C cycle",
            ("no_progress_stop", "no_false_stop"),
        ),
        77: Incident(
            "openclaw/openclaw#64500",
            "ping-pong survives the breaker",
            "breaker blocks one tool of the pair; counter resets",
            "memory_search <-> memory_get",
            ("no_progress_stop",),
        ),
        78: Incident(
            "yologdev/yoagent#145",
            "50 rounds of a,b,a,b undetected",
            "one-slot signature",
            "alternation",
            ("no_progress_stop",),
        ),
        79: Incident(
            "cline/cline#1511",
            '"Diff Edit Failed" again and again',
            "same failing edit",
            "failing search block",
            ("no_progress_stop",),
        ),
        80: Incident(
            "crewAIInc/crewAI#737, #518",
            'same input for ever / "must stop using this input"',
            "repeat guard returns text the model ignores; tool never runs",
            "same action input",
            ("no_progress_stop",),
        ),
        81: Incident(
            "microsoft/autogen#108, #254, #391",
            "blank messages between agents until limit",
            "empty replies count as turns; TERMINATE not recognised",
            'content "" <-> auto reply',
            ("no_progress_stop", "nonblank_content"),
        ),
        82: Incident(
            "openai/openai-agents-python#191; openai/openai-agents-js#512",
            "tool called until max turns",
            "varied arguments each time",
            "similar args",
            ("bounded_turn",),
        ),
        83: Incident(
            "langchain-ai/langgraph#4231; langmanus/langmanus#61; bytedance/deer-flow#55",
            "GraphRecursionError at 25",
            "no stop condition; limit is the only brake",
            "save_memory repeated",
            ("bounded_turn", "truthful_outcome"),
        ),
        84: Incident(
            "langchain-ai/langgraph#5548",
            "recursion error *not* raised by the prebuilt agent",
            "not visible in the excerpt",
            "limit reached",
            ("truthful_outcome",),
        ),
        85: Incident(
            "huggingface/smolagents#1226, #201",
            "answer found, repeats to max_steps / parse error each step",
            "small num_ctx truncates the prompt silently",
            "same invalid code",
            ("no_progress_stop", "request_fits"),
        ),
        86: Incident(
            "pydantic/pydantic-ai#267",
            "loops to the 50-request limit",
            "missing field keeps failing validation",
            "same validation error",
            ("no_progress_stop",),
        ),
        87: Incident(
            "anthropics/claude-code#66950",
            "model emits one word 14 645 times",
            "degenerate generation, no output guard",
            "long repetitive text",
            ("budget_ceiling",),
        ),
        88: Incident(
            "tetsuo-ai/agenc-core#1714",
            "byte-identical 36 879-char retries",
            "degenerate output treated as transient drop",
            "identical partials",
            ("no_blind_resend",),
        ),
        89: Incident(
            "anthropics/claude-code#68110, #69332, #72566, #72732",
            "sub-agents spawn sub-agents",
            "children keep the spawn tool; no depth/total cap",
            "spawn tool in child requests",
            ("bounded_spawn", "budget_ceiling"),
        ),
        90: Incident(
            "nicobailon/pi-subagents#239; NeoLabs-Systems/NeoAgent#79",
            "unlimited siblings",
            "only depth was capped",
            "repeated spawns",
            ("bounded_spawn",),
        ),
        91: Incident(
            "anthropics/claude-code#56072",
            "`claude` runs `claude`",
            "recursion through the shell tool",
            "tool command starts the agent",
            ("bounded_spawn",),
        ),
    }
)
