"""Figures for a paper, as PDF, SVG or PNG, by matplotlib, which is optional.

`kinds` says which kinds of figure there are and what each needs. What they show comes from the report's
charts, and from `loads`, `pauses`, `fairness`, `jobs` and `swept`, as `panels`. None of these imports
matplotlib: `making` and `figure` do, and `lines` and `others`, which draw panels in one `style`.
"""
