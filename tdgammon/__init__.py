from tdgammon.game.moves import afterstates
