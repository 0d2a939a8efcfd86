"""``sectioncls run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sectioncls.cli.options import Output, Overwrite, Quiet, Resume

__all__ = ["run"]


def run(
    recipe: Annotated[str, typer.Argument(help="A TOML file, or the name of a recipe that comes along: demo.")],
    corpus: Annotated[Path | None, typer.Option(help="Use this corpus folder instead of the recipe's.")] = None,
    model: Annotated[str | None, typer.Option(help="Use this model (a folder, say) instead of the recipe's.")] = None,
    track: Annotated[
        Literal["tensorboard", "wandb", "trackio"] | None,
        typer.Option(help="Tell a tracker of every training step; tensorboard's files go to OUTPUT.logs."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A study: try it in a minute, on the made-up papers that come along.")
    ] = False,
    output: Output = None,
    overwrite: Overwrite = False,
    resume: Resume = False,
    quiet: Quiet = False,
) -> None:
    """Run a recipe: corpus, baseline, fine-tuning, scores, report, in one folder (default: reports/NAME).

    A recipe with a table [papers] trains and scores paper encoders; --corpus is a paper set then.

    Example: sectioncls run demo
    """
    from sectioncls.cli.observing import observer
    from sectioncls.cli.tables import paper_table, score_table
    from sectioncls.errors import UsageError
    from sectioncls.recipes import find_recipe, read_recipe, run_recipe, with_model
    from sectioncls.recipes.papers import is_paper_recipe, read_paper_recipe, run_papers, with_paper_model

    file = find_recipe(recipe)
    shared: dict[str, Any] = {"overwrite": overwrite, "resume": resume, "observer": observer(quiet=quiet)}
    if is_paper_recipe(file):
        if track is not None:
            raise UsageError("--track is for recipes of sentences", recipe, "leave it out")
        papers = with_paper_model(read_paper_recipe(file), model)
        folder = output or Path("reports") / ("papers/studies" if papers.study else "") / papers.name
        text = file.read_text(encoding="utf-8")
        done = run_papers(papers, text, folder, papers=corpus, quick=quick, **shared)
        if done.scores():
            print(paper_table(done.scores(), done.info.get("main", {})))
        for claim in (done.info.get("study") or {}).get("claims", ()):
            print(f"{claim['verdict']}: {claim['text']} {claim['reason']}")
    else:
        if quick:
            raise UsageError("--quick is for studies of paper encoders", recipe, "leave it out")
        plan = read_recipe(file)
        if model is not None:
            plan = with_model(plan, model)
        if track is not None:
            plan = plan.model_copy(update={"track": track})
        folder = output or Path("reports") / plan.name
        done = run_recipe(plan, file.read_text(encoding="utf-8"), folder, corpus=corpus, **shared)
        print(score_table(done.scores()))
    print(f"report: {done.path / 'report.html'}")
