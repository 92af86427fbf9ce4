"""Games made from what a transcript says, whatever its format.

A reader hands over what it found (`Raw` entries, in order); `game_record` plays it through and
gives the game as it stands, with a warning for everything that is not as it should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tdgammon.game.rules import GameRules
from tdgammon.notation.ids import Cells, flipped
from tdgammon.notation.plays import IllegalPlay, NotationError, read_play
from tdgammon.notation.reading import MAX_FAULTS, Troubles
from tdgammon.notation.record import (
    CubeAction,
    Event,
    GameRecord,
    MatchRecord,
    Outcome,
    Resignation,
    SetPosition,
    Turn,
    after_cube,
    applied,
    canonical_steps,
    is_crawford_game,
    outcome,
)
from tdgammon.notation.written import NO_MOVE_WORDS, quick_steps, without_remark, written_steps

UNKNOWN_PLAY = "????"
"""Text of a roll whose play is not known."""

_CHUNK = 32  # turns whose legality is checked in one call


@dataclass(frozen=True)
class Raw:
    """One entry of a transcript: a roll, a word about the cube, a resignation or a set position."""

    line: int
    player: int
    text: str
    """As it stands; of a roll, the play after the dice."""
    dice: tuple[int, int] | None = None
    action: str | None = None
    """One of `record.CUBE_ACTIONS`, or `resign`."""
    value: int | None = None
    """Cube value that is named, or size of the resignation."""
    position: SetPosition | None = None
    comment: str = ""


@dataclass(frozen=True, kw_only=True)
class RawGame:
    """A game as a transcript has it."""

    number: int
    line: int
    score: tuple[int, int]
    entries: Sequence[Raw]
    winner: int | None = None
    points: int | None = None
    is_crawford: bool | None = None
    """None: not said."""
    size: int | None = None
    """Of the resignation, where the points do not tell."""
    comment: str = ""


def match_record(
    players: tuple[str, str],
    length: int,
    games: Sequence[RawGame],
    rules: GameRules,
    tags: tuple[tuple[str, str], ...],
    troubles: Troubles,
) -> MatchRecord:
    """The match whose games a transcript has; every game is kept, also one that cannot be right."""
    records: list[GameRecord] = []
    for index, raw in enumerate(games):
        following = games[index + 1] if index + 1 < len(games) else None
        if records:
            _check_score(raw, records[-1], troubles)
        elif length and max(raw.score) >= length:
            troubles.add(raw.line, f"game {raw.number}: score {raw.score} is past {length} points")
        records.append(_Player(raw, length, rules, troubles).record(records, following))
    return MatchRecord(players=players, length=length, games=tuple(records), rules=rules, tags=tags)


def _check_score(raw: RawGame, before: GameRecord, troubles: Troubles) -> None:
    score = list(before.start_score)
    if before.winner is not None:
        score[before.winner] += before.points or 0
    if tuple(score) != raw.score:
        troubles.add(
            raw.line,
            f"game {raw.number} starts at {raw.score[0]}-{raw.score[1]}, "
            f"but the games before it give {score[0]}-{score[1]}",
        )


@dataclass
class _Played:
    """What became of a roll."""

    turn: Turn
    warning: str = ""
    is_over: bool = False
    """The last checker was borne off."""


@dataclass(frozen=True)
class _Trial:
    """A play whose legality is still to be checked."""

    index: int
    before: Cells
    after: Cells


def _has_checkers(cells: Cells) -> bool:
    return any(count > 0 for count in cells)


class _Player:
    """Plays one raw game through."""

    def __init__(self, raw: RawGame, length: int, rules: GameRules, troubles: Troubles) -> None:
        self.raw = raw
        self.length = length
        self.rules = rules
        self.troubles = troubles
        self.events: list[Event] = []
        self.lines: list[int] = []
        self.value = 1
        self.owner: int | None = None
        self.offer: str | None = None
        self.doubler = 0
        self.last_player: int | None = None
        self.is_over = False
        self.last_roll = -1

    def record(self, before: Sequence[GameRecord], following: RawGame | None) -> GameRecord:
        plays = self._plays()
        self.last_roll = max((i for i, entry in enumerate(self.raw.entries) if entry.dice), default=-1)
        for index, entry in enumerate(self.raw.entries):
            if self.is_over:
                self._warn(entry, "skipped: the game is over")
            elif entry.position is not None:
                self._note(entry, entry.position)
                self.value, self.owner = entry.position.cube_value, entry.position.cube_owner
                self.offer, self.last_player = None, None
            elif entry.action == "resign":
                self._note(entry, Resignation(entry.player, entry.value))
                self.is_over = True
            elif entry.action:
                self._cube(entry)
            elif index not in plays:
                self._warn(entry, "the rest of the game is left out: too much of the file is illegal")
                break
            else:
                self._turn(entry, plays[index], index == self.last_roll)
        game = GameRecord(
            number=self.raw.number,
            start_score=self.raw.score,
            events=tuple(self.events),
            comment=self.raw.comment,
        )
        game = self._ended(game, following)
        crawford = self.raw.is_crawford
        if crawford is None:
            crawford = is_crawford_game(game.start_score, self.length, before, game.events)
        if crawford:
            for line, event in zip(self.lines, game.events, strict=False):
                if isinstance(event, CubeAction):
                    self.troubles.add(line, self._in_game("the cube was used in the Crawford game"))
                    break
        return replace(game, is_crawford=crawford)

    def _in_game(self, message: str) -> str:
        return f"game {self.raw.number}: {message}"

    def _warn(self, entry: Raw, message: str) -> None:
        dice = f"{entry.dice[0]}{entry.dice[1]}: " if entry.dice else ""
        self.troubles.add(entry.line, self._in_game(message), dice + entry.text)

    def _note(self, entry: Raw, event: Event) -> None:
        self.events.append(event)
        self.lines.append(entry.line)

    # plays

    def _plays(self) -> dict[int, _Played]:
        """What became of each roll among the entries, up to the last checker borne off."""
        entries = self.raw.entries
        done: dict[int, _Played] = {}
        start = 0
        board, viewer = self.rules.start, entries[0].player if entries else 0
        while start < len(entries) and self.troubles.num_faults < MAX_FAULTS:
            trial, stop, stopped_at = self._trial(start, board, viewer)
            found = canonical_steps(
                [one.before for one in trial],
                [_sorted(entries[one.index].dice) for one in trial],
                [one.after for one in trial],
                self.rules,
            )
            for one, steps in zip(trial, found, strict=True):
                entry = entries[one.index]
                if steps is None:
                    stop, stopped_at = one.index, one.before
                    break
                turn = Turn(entry.player, _sorted(entry.dice), steps)
                done[one.index] = _Played(turn, is_over=not _has_checkers(one.after))
                board, viewer, start = one.after, entry.player, one.index + 1
            if any(done[one.index].is_over for one in trial if one.index in done):
                break
            if stopped_at is not None:
                done[stop], board = self._by_hand(entries[stop], stopped_at)
                viewer, start = entries[stop].player, stop + 1
                if done[stop].is_over:
                    break
            elif stop > start:  # entries without rolls at the end of the chunk
                positions = [entry.position for entry in entries[start:stop] if entry.position]
                if positions:
                    board, viewer = positions[-1].board, 0
                start = stop
        return done

    def _trial(self, start: int, board: Cells, viewer: int) -> tuple[list[_Trial], int, Cells | None]:
        """Plays that can be read the quick way, up to a chunk of them.

        The other two: the entry to go on from and, if that one has to be read by hand, its board.
        """
        entries = self.raw.entries
        trial: list[_Trial] = []
        index = start
        for index in range(start, min(start + _CHUNK, len(entries))):
            entry = entries[index]
            if entry.position is not None:
                board, viewer = entry.position.board, 0
            if entry.dice is None:
                continue
            if entry.player != viewer:
                board, viewer = flipped(board), entry.player
            steps = quick_steps(entry.text, board, entry.dice)
            after = None if steps is None else applied(board, steps)
            if after is None:
                return trial, index, board
            trial.append(_Trial(index, board, after))
            board = after
            if not _has_checkers(after):
                break
        return trial, index + 1, None

    def _by_hand(self, entry: Raw, cells: Cells) -> tuple[_Played, Cells]:
        """A roll whose text the quick way could not settle, and the board after it."""
        turn, warning = self._careful(entry, cells)
        self.troubles.num_faults += bool(warning)
        after = applied(cells, turn.steps or ()) or cells
        return _Played(turn, warning, bool(turn.steps) and not _has_checkers(after)), after

    def _careful(self, entry: Raw, cells: Cells) -> tuple[Turn, str]:
        """Read a play by the rules, or as it stands; the turn, and a warning or ""."""
        dice = _sorted(entry.dice)
        text = entry.text.strip()
        turn = Turn(entry.player, dice, None)
        if text.startswith("???"):
            return turn, ""
        if not text:
            return turn, "no play is written though one is legal"
        try:
            checked = read_play(text, cells, dice)
            if not self.rules.caucasian:
                return replace(turn, steps=checked.steps), ""
            after = flipped(tuple(checked.afterstate.tolist()))
            if canonical_steps([cells], [dice], [after], self.rules)[0] is not None:
                return replace(turn, steps=checked.steps), ""
            reason = "rule R26 forbids this play"
        except IllegalPlay as error:
            reason = str(error)
        except NotationError as error:
            play, remark = without_remark(text)
            if remark:
                turn, warning = self._careful(replace(entry, text=play), cells)
                return turn, f"passed over after the play: {remark}" + f"; {warning}" * bool(warning)
            return turn, f"the play cannot be read and is left out: {error}"
        except ValueError as error:
            return turn, f"the board cannot be played on: {error}"
        if text.lower().replace("’", "'") in NO_MOVE_WORDS:
            return replace(turn, steps=(), is_legal=False), f"kept as it stands: {reason}"
        steps = written_steps(text)
        for order in (steps, sorted(steps, reverse=True)):
            if steps and applied(cells, order) is not None:
                return (
                    replace(turn, steps=tuple(order), is_legal=False),
                    f"illegal, kept as played: {reason}",
                )
        return turn, f"the play cannot be made and is left out: {reason}"

    def _turn(self, entry: Raw, played: _Played, is_last: bool) -> None:
        turn = played.turn
        if self.offer:
            if self.offer != "beaver":  # transcripts leave out the take of a beaver
                self._warn(entry, f"a roll while a {self.offer} waits for an answer: taken as a take")
            self._apply_cube(entry, CubeAction(1 - self.doubler, "take"))
        if self.last_player == entry.player:
            self._warn(entry, "the same player rolls twice")
        self.last_player = entry.player
        text = entry.text.strip()
        if turn.steps is None and not is_last and (not text or text.startswith("???")):
            self._warn(entry, played.warning or "the play is not known")
        elif played.warning and text:
            self._warn(entry, played.warning)
        self._note(entry, replace(turn, comment=entry.comment))
        self.is_over = played.is_over

    # cube

    def _cube(self, entry: Raw) -> None:
        action = entry.action
        assert action is not None
        if action == "double" and self.offer in ("double", "beaver") and entry.player != self.doubler:
            action = "beaver" if self.offer == "double" else "raccoon"
        needs_offer = action != "double"
        if needs_offer and not self.offer:
            self._warn(entry, f"skipped: a {action} without a double")
            return
        if not needs_offer and self.offer:
            self._warn(entry, f"skipped: a double while a {self.offer} waits for an answer")
            return
        if needs_offer and entry.player == self.doubler:
            self._warn(entry, f"skipped: a {action} by the player who doubled")
            return
        if not needs_offer and self.owner == 1 - entry.player:
            self._warn(
                entry, "a double by the player who does not own the cube, kept as it stands (R14)"
            )
        self._apply_cube(entry, CubeAction(entry.player, action, entry.comment))
        if entry.value is not None and action != "take" and entry.value != 2 * self.value:
            self._warn(entry, f"the cube goes to {2 * self.value}, not to {entry.value}")
        self.is_over = action == "pass"

    def _apply_cube(self, entry: Raw, event: CubeAction) -> None:
        self._note(entry, event)
        self.value, self.owner, self.offer = after_cube(event, self.value, self.owner, self.offer)
        if self.offer:
            self.doubler = event.player

    # the end

    def _ended(self, game: GameRecord, following: RawGame | None) -> GameRecord:
        """The game with its winner and points, and the pass or resignation that nobody wrote down."""
        raw = self.raw
        winner, points = raw.winner, raw.points
        result = outcome(game, self.length, self.rules)
        if winner is None and result.winner is None and following is not None:
            gained = [after - before for after, before in zip(following.score, raw.score, strict=True)]
            if min(gained) == 0 < max(gained):
                winner, points = gained.index(max(gained)), max(gained)
                self.troubles.add(
                    raw.line, self._in_game("no result is written: taken from the next score")
                )
            else:
                self.troubles.add(raw.line, self._in_game("is not finished"))
        if result.end == "resignation" and result.size is None and result.winner is not None:
            size = raw.size or self._size(points, result.winner)
            events = (*game.events[:-1], Resignation(1 - result.winner, size))
            game, result = replace(game, events=events), replace(result, size=size)
        if result.winner is not None:
            return self._by_rule(game, result)
        if winner is None:
            return game
        if self.offer and winner == self.doubler:
            self.troubles.add(raw.line, self._in_game("a double without an answer: taken as passed"))
            events = (*game.events, CubeAction(1 - winner, "pass"))
            return self._by_rule(replace(game, events=events), None)
        size = raw.size or self._size(points, winner)
        game = replace(game, events=(*game.events, Resignation(1 - winner, size)))
        return replace(game, winner=winner, points=self.value if points is None else points)

    def _by_rule(self, game: GameRecord, result: Outcome | None) -> GameRecord:
        """The game with the winner that its events give and the points that are written."""
        result = result or outcome(game, self.length, self.rules)
        raw, points = self.raw, self.raw.points
        by_rule = result.points_by_rule
        assert result.winner is not None
        if raw.winner is not None and raw.winner != result.winner:
            self.troubles.add(raw.line, self._in_game("the other player won than is written"))
        if result.end == "resignation":
            values = [result.cube_value * value for value in self.rules.end_values]
            by_rule = values[result.size - 1] if result.size else None
        if points is None:
            self.troubles.add(raw.line, self._in_game("no points are written: taken from the rules"))
            points = result.cube_value if by_rule is None else by_rule
        elif (
            by_rule is not None
            and points != by_rule
            and not self._is_capped(points, by_rule, result.winner)
        ):
            self.troubles.add(
                raw.line, self._in_game(f"{points} points are written, {by_rule} by the rules")
            )
        return replace(game, winner=result.winner, points=points)

    def _is_capped(self, points: int, by_rule: int, winner: int) -> bool:
        """Whether the points are fewer because the winner needed no more."""
        needed = self.length - self.raw.score[winner]
        return self.length > 0 and points == needed < by_rule

    def _size(self, points: int | None, winner: int) -> int | None:
        """Size of the resignation that the points tell."""
        if points is None:
            self.troubles.add(self.raw.line, self._in_game("a resignation without points"))
            return None
        for size, value in enumerate(self.rules.end_values, 1):
            if self.value * value == points:
                return size
        if not self._is_capped(points, self.value * self.rules.end_values[2], winner):
            self.troubles.add(
                self.raw.line,
                self._in_game(f"{points} points cannot be won with the cube at {self.value}"),
            )
        return None


def derived_size(points: int, cube_value: int, rules: GameRules) -> int | None:
    """Size of a resignation as `match_record` takes it from the points."""
    for size, value in enumerate(rules.end_values, 1):
        if cube_value * value == points:
            return size
    return None


def _sorted(dice: tuple[int, int] | None) -> tuple[int, int]:
    assert dice is not None
    return (max(dice), min(dice))
