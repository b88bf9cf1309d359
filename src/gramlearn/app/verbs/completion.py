"""gramlearn completion: a script by which a shell completes verbs and options; files it completes itself.

The words come from the parsers, so that there is no second list of them.
"""

from argparse import ArgumentParser, Namespace, _SubParsersAction
from typing import final

from gramlearn.app.output import DONE
from gramlearn.app.verb import Verb

_BASH = """\
_gramlearn() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" words
    case "${{COMP_WORDS[1]}}" in
{cases}
        *) words="{verbs}" ;;
    esac
    [ "$COMP_CWORD" -eq 1 ] && words="{verbs}"
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _gramlearn gramlearn
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


@final
class Completion(Verb):
    """See the module."""

    name = "completion"
    help = "a script by which bash, zsh or fish completes verbs and options"
    description = (
        'Print a script for a shell. For bash put `eval "$(gramlearn completion bash)"` into ~/.bashrc, for\n'
        "zsh the same with zsh into ~/.zshrc; for fish write it to ~/.config/fish/completions/gramlearn.fish."
    )
    example = "gramlearn completion bash"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("shell", choices=("bash", "zsh", "fish"))

    def run(self, given: Namespace) -> int:
        from gramlearn.app.command import make_parser

        options = _options(make_parser())
        if given.shell == "fish":
            print("\n".join(_fish(options)))
        else:
            print(_bash(options) if given.shell == "bash" else _ZSH + _bash(options), end="")
        return DONE


def _options(parser: ArgumentParser) -> dict[str, list[str]]:
    """The long options of each verb."""
    verbs = next(a for a in parser._actions if isinstance(a, _SubParsersAction))
    return {
        name: sorted(
            option
            for action in own._actions
            for option in action.option_strings
            if option.startswith("--")
        )
        for name, own in verbs.choices.items()
    }


def _bash(options: dict[str, list[str]]) -> str:
    cases = [f'        {verb}) words="{" ".join(words)}" ;;' for verb, words in options.items()]
    return _BASH.format(cases="\n".join(cases), verbs=" ".join(options))


def _fish(options: dict[str, list[str]]) -> list[str]:
    verbs = " ".join(options)
    lines = [f"complete -c gramlearn -n __fish_use_subcommand -f -a '{verbs}'"]
    for verb, words in options.items():
        here = f"-n '__fish_seen_subcommand_from {verb}'"
        lines += [f"complete -c gramlearn {here} -l {word[2:]}" for word in words]
    return lines


VERB = Completion()
