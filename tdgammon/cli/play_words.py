"""What `tdgammon play` says: the board, the score, results, and what a bot thinks of a position."""

from __future__ import annotations

import numpy as np

from tdgammon.decide.bots import Bot, NetworkBot
from tdgammon.decide.cube import dead_cube
from tdgammon.decide.decision import decide
from tdgammon.game.board import flip
from tdgammon.game.match import SIZES, GameResult, Match, Phase
from tdgammon.game.rules import IllegalPlay
from tdgammon.game.stakes import stakes_of
from tdgammon.notation.diagram import diagram
from tdgammon.notation.plays import Play, plays
from tdgammon.notation.saved_game import BOT, PERSON, Roll, Session

NUM_CHOICES = 5
"""How many plays a hint lists."""


def roll_in_words(roll: Roll) -> str:
    """A roll as players say it, the higher die first."""
    return f"{max(roll)}-{min(roll)}"


def greeting(session: Session, name: str) -> str:
    """Who plays what, and with which dice."""
    match = session.match
    kind = f"a match to {match.length}" if match.length else "for money"
    if session.is_one_game:
        kind = "one game"
    cube = "with the cube" if match.rules.cube_limit > 1 else "without a cube"
    dice = "typed dice" if session.seed is None else f"dice of seed {session.seed}"
    lines = [f"You (●) play {name} (○): {kind}, {cube}, {dice}; `help` lists what can be typed."]
    if session.actions:
        lines.append(f"{sum(a.startswith('play') for a in session.actions)} turns have been played.")
    return "\n".join(lines)


def drawn(match: Match, name: str) -> str:
    """The board from the person's side against the bot of that name, with cube and score."""
    board = match.boards[0]
    if not board.any():
        return "All checkers are off."
    if match.on_roll == BOT:
        board = flip(board)
    is_turn = match.phase in (Phase.ROLL, Phase.PLAY)
    roll = (max(match.dice), min(match.dice)) if match.dice and is_turn else None
    return diagram(
        board,
        roll,
        ("you", name),
        match.on_roll if is_turn else None,
        notes(match),
        match.rules.num_checkers,
    )


def notes(match: Match) -> list[str]:
    """Cube and score as they stand beside the board; nothing for a single game without a cube."""
    lines = []
    if match.is_crawford:
        lines.append("Crawford game: no cube")
    elif match.rules.cube_limit > 1:
        owner = {None: "centred", PERSON: "yours", BOT: "the opponent's"}[match.cube_owner]
        value = "64 (counts 1)" if match.cube_value == 1 else str(match.cube_value)
        lines.append(f"cube: {value}, {owner}")
    if match.length:
        you, bot = match.scores
        lines.append(f"match to {match.length}: you {you}, opponent {bot}")
        if match.is_post_crawford:
            lines.append("post-Crawford")
    elif match.game_number > 1 or match.balance:
        lines.append(f"game {match.game_number}, {balance(match.balance)}")
    return lines


def balance(points: int) -> str:
    """A money balance of the person in words."""
    if not points:
        return "you are even"
    return f"you are {abs(points)} {'ahead' if points > 0 else 'behind'}"


def result(played: GameResult, name: str) -> str:
    """The end of a game in words."""
    if played.winner is None:
        return "The game is a draw: both sides have borne off all checkers."
    winner = "You win" if played.winner == PERSON else f"{name} wins"
    cube = f" with the cube at {played.cube_value}" if played.cube_value > 1 else ""
    needed = ""
    if played.points < played.points_by_rule:
        needed = f", of which the match needed {played.points}"
    plural = "s" * (played.points_by_rule > 1)
    return f"{winner} a {SIZES[played.size]}{cube}: {played.points_by_rule} point{plural}{needed}."


def standing(match: Match, name: str) -> str:
    """Score or balance after a game, in words."""
    you, bot = match.scores
    if match.winner is not None:
        return f"{'You win' if match.winner == PERSON else f'{name} wins'} the match {you}-{bot}."
    if match.length:
        return f"Match to {match.length}: you {you}, {name} {bot}."
    return f"Balance: {balance(match.balance)}."


def choice(player: Bot, match: Match) -> Play:
    """What a bot plays; raises ValueError if that is not legal."""
    assert match.dice
    legal = plays(match.boards[0], match.dice, match.rules)
    if match.is_last_roll:  # nothing but the checkers left counts
        return min(legal, key=lambda play: int(np.maximum(-play.afterstate, 0).sum()))
    chosen = player.choose(match.boards, [match.dice], stakes_of(match))[0]
    for play in legal:
        if (play.afterstate == chosen).all():
            return play
    raise ValueError(f"player {player.name!r}: no legal play leaves {chosen.tolist()}")


def why(player: Bot, session: Session) -> list[str]:
    """Lines on the last play or cube action of the bot, and what it chose from."""
    for match, action in reversed(list(zip(session.states, session.actions, strict=False))):
        word = action.partition(" ")[0]
        if match.decider == BOT and word in ("play", "double", "take", "pass"):
            done = f"rolled {roll_in_words(match.dice)} and played" if match.dice else "chose to"
            head = f"{player.name} {done} {action.removeprefix('play ')}"
            return [head, *hint(player, match)]
    return [f"{player.name} has not decided anything yet."]


def hint(player: Bot, match: Match) -> list[str]:
    """Lines on what a bot would do in the place of whoever has to decide."""
    if match.phase == Phase.PLAY:
        return choices(player, match)
    if match.phase in (Phase.ROLL, Phase.DOUBLE):
        return cube_actions(player, match)
    return ["There is nothing to decide that the bot has a view on."]


def choices(player: Bot, match: Match) -> list[str]:
    """Lines on a bot's best plays with equities and chances, as the side to play sees them."""
    rank = getattr(getattr(player, "evaluator", None), "rank", None)
    if rank is None or match.is_last_roll:
        why = "on the last roll only checkers off count" if rank else "it gives plays no equities"
        return [f"{player.name} would play {choice(player, match).notation}; {why}"]
    legal = plays(match.boards[0], match.dice or (), match.rules)
    names = {play.afterstate.tobytes(): play.notation for play in legal}
    if isinstance(player, NetworkBot):  # who knows about the cube
        ranked = player.rank(match.boards[0], match.dice or (), stakes_of(match))
    else:
        ranked = rank(match.boards[0], match.dice)
    shown = [names[row.tobytes()] for row in ranked.rows[:NUM_CHOICES]]
    width = max(map(len, shown))
    looked_ahead = (
        ranked.plies[0] > 0
    )  # then not all plays as far: equities of two plies do not compare
    head = "  ply" if looked_ahead else ""
    lines = [f"   {'':{width}}{head}  equity    loss   win  gammon won, lost"]
    for i, name in enumerate(shown):
        opponent = [float(chance) for chance in ranked.probabilities[i]]  # win backgammon first
        ply = f"{ranked.plies[i]:5}" if looked_ahead else ""
        lines.append(
            f"{i + 1}. {name:{width}}{ply}  {ranked.equities[i]:+.3f}  "
            f"{ranked.equities[i] - ranked.equities[0]:+.3f}  {sum(opponent[3:]):4.0%}  "
            f"{sum(opponent[4:]):6.0%}, {sum(opponent[:2]):3.0%}"
        )
    return lines


def cube_actions(player: Bot, match: Match) -> list[str]:
    """Lines on the cube decision of the side that has to make it."""
    stakes, answers = stakes_of(match), match.phase == Phase.DOUBLE
    if answers:
        action = "take" if player.takes(match.boards, stakes)[0] else "pass"
    else:
        try:
            match.double()
        except IllegalPlay as error:
            return [f"There is no cube decision: {error}."]
        action = "double" if player.doubles(match.boards, stakes)[0] else "roll"
    evaluator = getattr(player, "evaluator", None)
    if evaluator is None:
        return [f"{player.name} would {action}; it gives positions no equities"]
    unit = "match winning chances" if match.length else "points"
    if isinstance(player, NetworkBot) and not player.is_dead_cube:
        actions, last = _cubeful(player, match)
        lines = [f"Cubeful estimates, in {unit}:"]
        verdict = [f"verdict: {last}"]
    else:
        worth = dead_cube(evaluator.probabilities(match.boards), stakes)
        actions = {
            "no double": float(worth.no_double[0]),
            "double, take": float(worth.double_take[0]),
            "double, pass": float(worth.double_pass[0]),
        }
        lines = [f"Dead-cube estimates (as if this were the last turn of the cube), in {unit}:"]
        verdict = []
    for words_of, value in actions.items():
        if answers and words_of == "no double":
            continue
        if answers:  # the side that answers is not on roll
            value = 1 - value if match.length else -value
            words_of = words_of.removeprefix("double, ")
        lines.append(f"   {words_of:12}  {f'{value:.1%}' if match.length else f'{value:+.3f}'}")
    return [*lines, *verdict, f"{player.name} would {action}"]


def _cubeful(player: NetworkBot, match: Match) -> tuple[dict[str, float], str]:
    """Worths of the cube actions to the player on roll, in points or match chances, and the verdict."""
    found = decide(player.evaluator, match.boards, stakes_of(match), player.met)
    if found.match_chances is not None:
        return found.match_chances, f"{found.verdict} ({found.reason})"
    equities = {"no double": found.no_double}
    if found.double_take is not None:
        equities |= {"double, take": found.double_take, "double, pass": 1.0}
    points = {action: match.cube_value * equity for action, equity in equities.items()}
    return points, f"{found.verdict} ({found.reason})"
