"""Figures, their goals, and the results table."""

import sys


class Figure:
    """`goal`: the minimum, or with `at_most` the maximum; None: only shown."""

    def __init__(self, name, value, unit, goal=None, at_most=False):
        self.name, self.value, self.unit, self.goal, self.at_most = name, value, unit, goal, at_most

    @property
    def reached(self):
        if self.goal is None:
            return True
        return self.value <= self.goal if self.at_most else self.value >= self.goal

    def row(self):
        mark, goal, ratio = "", "", ""
        if self.goal is not None:
            mark = "yes" if self.reached else "NO"
            goal = ("<= " if self.at_most else ">= ") + number(self.goal)
            better = self.goal / self.value if self.at_most and self.value else self.value / self.goal
            ratio = f"{better:.2f}"
        return [self.name, number(self.value), self.unit, goal, mark, ratio]


def number(value):
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Table:
    """Prints each figure when it is measured, and all figures at the end."""

    def __init__(self):
        self.sections = []

    def begin(self, section):
        self.sections.append((section, []))

    def add(self, *words, **goal):
        figure = Figure(*words, **goal)
        self.sections[-1][1].append(figure)
        print("   " + "  ".join(word for word in figure.row()[:5] if word), file=sys.stderr, flush=True)
        return figure.value

    def missed(self):
        return [figure.name for _, figures in self.sections for figure in figures if not figure.reached]

    def show(self):
        head = ["", "measured", "", "goal", "reached", "ratio"]
        rows = [figure.row() for _, figures in self.sections for figure in figures]
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        line = "  ".join("-" * width for width in widths)
        print(layout(head, widths))
        for section, figures in self.sections:
            print(line + "\n" + section)
            for figure in figures:
                print(layout(figure.row(), widths))


def layout(row, widths):
    left = (0, 2, 4)
    return "  ".join(word.ljust(width) if i in left else word.rjust(width)
                     for i, (word, width) in enumerate(zip(row, widths))).rstrip()
