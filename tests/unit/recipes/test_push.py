"""What goes to the hub: our files, nothing beside them, and one line for what goes wrong."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from sectioncls.cli import app
from sectioncls.errors import InputError, ModelError, UsageError
from sectioncls.recipes import push as pushing
from sectioncls.recipes.push import push_encoder


class FakeHub:
    """What HfApi is asked."""

    def __init__(self, error=None):
        self.asked, self.error = [], error

    def create_repo(self, repo, **options):
        self.asked.append(("create", repo, options))
        if self.error:
            raise self.error
        return type("Url", (str,), {"repo_id": f"me/{repo}"})(f"https://hub/me/{repo}")

    def upload_folder(self, **options):
        self.asked.append(("upload", options))


@pytest.fixture
def folder(tmp_path):
    files = {"README.md": "# e", "model.safetensors": "w" * 1000, "1_Pooling/config.json": "{}"}
    for name, text in files.items():
        path = tmp_path / "e" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    facts = {"format": 1, "name": "minilm-tuned", "files": [*files, "sectioncls.json"]}
    (tmp_path / "e" / "sectioncls.json").write_text(json.dumps(facts))
    return tmp_path / "e"


def test_only_our_files_are_sent(folder):
    (folder / "thesis.docx").write_text("private")
    hub = FakeHub()
    done = push_encoder(folder, "e", private=True, api=hub)
    (_, repo, made), (_, sent) = hub.asked
    assert repo == "e" and made == {"private": True, "exist_ok": True}
    assert sent["repo_id"] == "me/e" and sent["folder_path"] == folder
    names = ["1_Pooling/config.json", "README.md", "model.safetensors", "sectioncls.json"]
    assert sent["allow_patterns"] == names == list(done.files)
    assert done.left == ("thesis.docx",) and done.url == "https://hub/me/e"
    assert done.files["model.safetensors"] == 1000


def test_a_dry_run_asks_nobody(folder, monkeypatch):
    monkeypatch.setattr("huggingface_hub.HfApi", lambda **_: pytest.fail("the hub was asked"))
    done = CliRunner().invoke(app, ["push", str(folder), "me/e", "--dry-run"])
    assert done.exit_code == 0 and "1,000  model.safetensors" in done.stdout
    assert "in 4 files would go to me/e" in done.stdout
    done = CliRunner().invoke(app, ["push", str(folder), "me/e", "--dry-run", "--json"])
    assert json.loads(done.stdout)["sent"] is False


def test_what_is_no_encoder_of_ours(folder, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "model.safetensors").touch()
    for path in (tmp_path / "other", tmp_path / "nowhere"):
        with pytest.raises(InputError, match="is no encoder that sectioncls wrote"):
            push_encoder(path, "e", api=FakeHub())
    with pytest.raises(UsageError, match="no name of a repository"):
        push_encoder(folder, "a/b/c", api=FakeHub())
    (folder / "README.md").unlink()
    with pytest.raises(InputError, match=r"lacks README\.md"):
        push_encoder(folder, "e", api=FakeHub())


def test_links_and_runs_are_refused(folder, tmp_path):
    (folder / "model.safetensors").unlink()
    (tmp_path / "secret").write_text("s")
    (folder / "model.safetensors").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="is a link"):
        push_encoder(folder, "e", api=FakeHub())
    facts = json.loads((folder / "sectioncls.json").read_text())
    (folder / "sectioncls.json").write_text(json.dumps({**facts, "files": ["README.md"]}))
    with pytest.raises(InputError, match="holds no weights"):
        push_encoder(folder, "e", api=FakeHub())


def test_an_encoder_may_not_reach_outside_its_folder(folder):
    facts = json.loads((folder / "sectioncls.json").read_text())
    (folder / "sectioncls.json").write_text(json.dumps({**facts, "files": [*facts["files"], "../secret"]}))
    with pytest.raises(InputError, match="lacks"):
        push_encoder(folder, "e", api=FakeHub())


@pytest.mark.parametrize(
    ("error", "todo"),
    [("LocalTokenNotFoundError", "log in"), ("OfflineModeIsEnabled", "go online")],
)
def test_the_hub_refuses_in_one_line(folder, error, todo):
    import huggingface_hub.errors as hub

    with pytest.raises(ModelError, match=rf"me/e: can't be pushed: no way \(.*{todo}"):
        push_encoder(folder, "me/e", api=FakeHub(getattr(hub, error)("no way\nand more")))
    with pytest.raises(ModelError, match=r"can't be pushed: too large$"):
        push_encoder(folder, "me/e", api=FakeHub(ValueError("too large")))
    assert not pushing._is_access(ValueError())
