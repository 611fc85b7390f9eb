"""The file of principals, and the commands that change it."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path

import pytest

from kiprdf import principals
from kiprdf.principals import Principal, PrincipalsError, PrincipalsFile

from .conftest import Invoke

ONE, TWO = hashlib.sha256(b"one").hexdigest(), hashlib.sha256(b"two").hexdigest()
ADA = f'[[principal]]\nname = "ada"\nkind = "human"\naccess = "write"\ntoken_sha256 = "{ONE}"\n'
BOB = ADA.replace('"ada"', '"bob"').replace(ONE, TWO).replace("human", "model")


def changed(key: str, value: str) -> str:
    """The entry of ada with another value, in TOML; without one it lacks the key."""
    lines = [line for line in ADA.splitlines() if not line.startswith(key)]
    return "\n".join([*lines, f"{key} = {value}" if value else ""]) + "\n"


BROKEN = {
    "[[principal": "is not TOML: Expected ']]' at the end of an array declaration (at end",
    ADA.replace(
        "kind =", "kind"
    ): "is not TOML: Expected '=' after a key in a key/value pair (at line 3,",
    ADA + "name = 5\n": "is not TOML: Cannot overwrite a value (at line 6, column 9).",
    "x = " + "[" * 5000: "is not TOML",
    'version = 1\n[[principal]]\nname = "ada"': "has a field 'version'",
    "principal = 5": "has a principal that is no table: write [[principal]].",
    'principal = ["ada"]': "has a principal that is no table: write [[principal]].",
    '[principal]\nname = "ada"': "has a principal that is no table: write [[principal]].",
    ADA + ADA.replace(ONE, TWO): "principal 2 ('ada'): the name is taken by 'ada'.",
    ADA + BOB.replace("bob", "ADA"): "principal 2 ('ADA'): the name is taken by 'ada'.",
    ADA + BOB.replace("bob", "ａｄａ"): "principal 2 ('ａｄａ'): the name is taken by 'ada'.",
    ADA + BOB.replace("bob", "аdа"): "principal 2 ('аdа'): the name is taken by 'ada'.",
    ADA + BOB.replace(TWO, ONE): "principal 2 ('bob'): another principal has the same token.",
    ADA + BOB.replace(TWO, ONE.upper()): "another principal has the same token.",
    changed("token_sha256", ""): "principal 1 ('ada'): token_sha256 is missing.",
    changed("token_sha256", '""'): "token_sha256 is a SHA-256 in 64 hexadecimal digits.",
    changed("token_sha256", '"one"'): "token_sha256 is a SHA-256 in 64 hexadecimal digits.",
    changed("token_sha256", f'"{ONE}\\n"'): "token_sha256 is a SHA-256 in 64 hexadecimal",
    changed("token_sha256", f'"{"é" * 64}"'): "token_sha256 is a SHA-256 in 64 hexadecimal",
    changed("token_sha256", "5"): "token_sha256 is no text.",
    changed("token_sha256", f'"{hashlib.sha256().hexdigest()}"'): "that of an empty token.",
    changed("kind", '"person"'): "kind is human, model or job, not 'person'.",
    changed("kind", '"Human"'): "kind is human, model or job, not 'Human'.",
    changed("kind", ""): "principal 1 ('ada'): kind is missing.",
    changed("kind", '["human"]'): "kind is no text.",
    changed("access", '"all"'): "access is read, propose, write or admin, not 'all'.",
    changed("acess", '"write"'): "'acess' is no field; the fields are name, kind, access,",
    changed("token", '"one"'): "'token' is no field",
    changed("name", ""): "principal 1: name is missing.",
    changed("name", "5"): "principal 1: name is no text.",
    changed("name", '""'): "principal 1 (''): the name is empty.",
    changed("name", '" ada"'): "the name has blanks around it",
    changed("name", '"a\\nda"'): "the name has blanks around it, or characters that nobody sees.",
    changed("name", '"a\u202eda"'): "the name has blanks around it, or characters that nobody",
    changed("name", f'"{"a" * 101}"'): "the name has more than 100 characters.",
    changed("name", '"Owner"'): "the name belongs to kiprdf itself, as owner, local,",
    changed("name", '"0wner"'): "the name belongs to kiprdf itself",
    changed("name", '"token"'): "the name belongs to kiprdf itself",
    changed("scopes", '"team"'): "scopes is { read = ",
    changed("scopes", '{ raed = ["team"] }'): "scopes is { read = ",
    changed("scopes", '{ read = "team" }'): "scopes is { read = ",
    changed("scopes", '{ read = ["team"], write = ["ada"] }'): "scopes is { read = ",
    changed("scopes", '{ read = [""] }'): "scopes is { read = ",
    changed("scopes", "{ read = [5] }"): "scopes is { read = ",
    changed("scopes", "{ read = [] }"): "with at least one to read.",
    changed("scopes", "{ }"): "with at least one to read.",
    changed("scopes", '{ write = "ada" }'): "with at least one to read.",
    changed("scopes", '{ read = ["team"], admin = true }'): "scopes is { read = ",
    changed("scopes", '{ read = ["../team"] }'): "the scope '../team' cannot be there: a name has",
    changed("scopes", '{ read = ["team."] }'): "and does not end with a dot or a blank.",
    changed("scopes", '{ read = ["con"] }'): "it is the name of a device.",
    changed("scopes", f'{{ read = ["{"é" * 128}"] }}'): "a name has at most 255 bytes.",
    changed("scopes", '{ read = ["team", "team"] }'): "'team' and 'team' are one name.",
    changed("scopes", '{ read = ["team", "ada", "Team"] }'): "'team' and 'Team' are one name.",
    changed("scopes", '{ read = ["ada", "аdа"] }'): "'ada' and 'аdа' are one name.",
    changed("scopes", '{ read = ["team"], write = "ada" }'): "it writes the scope 'ada' and does",
    changed("scopes", '{ read = ["team"], write = "Team" }'): "it writes the scope 'Team' and",
    changed("access", '"read"\nscopes = { read = ["ada"], write = "ada" }'): "it writes a scope,",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_file_is_one_sentence_with_the_place(text: str, tmp_path: Path) -> None:
    file = tmp_path / "principals.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(PrincipalsError) as raised:
        principals.read(file)
    sentence = str(raised.value)
    assert sentence.startswith(str(file))
    assert BROKEN[text] in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 300 + len(str(file))


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "principals.toml"
    with pytest.raises(PrincipalsError, match=r"principals.toml cannot be read: No such file"):
        principals.read(file)
    with pytest.raises(PrincipalsError, match="cannot be read: Is a directory"):
        principals.read(tmp_path)
    file.write_bytes(b"# one\n# \xff\n")
    with pytest.raises(PrincipalsError, match=r"is not UTF-8 \(at line 2\)"):
        principals.read(file)


def test_the_principals_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "principals.toml"
    scopes = 'scopes = { read = ["team", "ada"], write = "ada" }\n'
    file.write_text(f"# people\n{ADA}{scopes}{BOB.replace(TWO, TWO.upper())}", "utf-8")
    ada, bob = principals.read(file)
    assert ada == Principal("ada", "human", "write", ONE, {"read": ["team", "ada"], "write": "ada"})
    assert (ada.reads, ada.writes) == (("team", "ada"), "ada")
    assert bob == Principal("bob", "model", "write", TWO)
    assert (bob.reads, bob.writes) == ((), None)
    assert principals.with_token("one", [ada, bob]) == ada
    assert principals.with_token("two", [ada, bob]) == bob
    assert principals.with_token("", [ada, bob]) is None
    assert principals.with_token(ONE, [ada, bob]) is None
    file.write_text("")
    assert principals.read(file) == ()


def test_add_prints_the_token_once_and_keeps_what_is_there(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "principals.toml"
    added = invoke("principals", "add", 'a"d\\a', "--kind", "human", "--file", str(file))
    assert added.exit_code == 0, added.output
    token = added.stdout.strip()
    assert file.stat().st_mode & 0o777 == 0o600
    assert token not in file.read_text()
    (ada,) = principals.read(file)
    assert (ada.name, ada.kind, ada.access) == ('a"d\\a', "human", "write")
    assert principals.with_token(token, [ada]) == ada
    file.write_text(f"# who\n{file.read_text()}# the end", "utf-8")
    file.chmod(0o640)
    before = file.read_text()
    invoke("principals", "add", "claude", "--access", "propose", "--file", str(file))
    assert file.read_text().startswith(f"{before}\n\n[[principal]]\n")
    assert file.stat().st_mode & 0o777 == 0o640
    listed = invoke("principals", "list", "--file", str(file)).stdout
    assert listed == 'a"d\\a  human  write\nclaude  model  propose\n'
    as_json = json.loads(invoke("principals", "list", "--json", "--file", str(file)).stdout)
    assert as_json[1] == {"name": "claude", "kind": "model", "access": "propose"}
    assert [path.name for path in tmp_path.iterdir()] == ["principals.toml"]


def test_add_writes_the_scopes_and_list_shows_them(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "principals.toml"
    options = ("--file", str(file), "--read", "team, Zoë_1", "--read", "ada")
    added = invoke("principals", "add", "ada", *options, "--write", "ada")
    assert added.exit_code == 0, added.output
    assert 'scopes = { read = ["team", "Zoë_1", "ada"], write = "ada" }\n' in file.read_text()
    assert invoke("principals", "add", "bob", "--access", "read", *options).exit_code == 0
    ada, bob = principals.read(file)
    assert (ada.reads, ada.writes) == (("team", "Zoë_1", "ada"), "ada")
    assert (bob.reads, bob.writes) == (("team", "Zoë_1", "ada"), None)
    listed = invoke("principals", "list", "--file", str(file)).stdout
    assert listed == (
        "ada  model  write  reads team, Zoë_1, ada  writes ada\n"
        "bob  model  read  reads team, Zoë_1, ada\n"
    )
    as_json = json.loads(invoke("principals", "list", "--json", "--file", str(file)).stdout)
    assert as_json[0]["scopes"] == {"read": ["team", "Zoë_1", "ada"], "write": "ada"}
    invoke("principals", "remove", "ada", "--file", str(file))
    assert [one.name for one in principals.read(file)] == ["bob"]


@pytest.mark.parametrize(
    ("name", "options", "status", "sentence"),
    [
        ("ADA", (), 1, "the name is taken by 'ada'."),
        ("", (), 1, "the name is empty."),
        ("mcp", (), 1, "the name belongs to kiprdf itself"),
        ("bob", ("--kind", "person"), 2, "'person'"),
        ("bob", ("--access", "all"), 2, "'all'"),
        ("bob", ("--read", "team,"), 1, "principal 2 ('bob'): scopes is { read = "),
        ("bob", ("--read", ""), 1, "scopes is { read = "),
        ("bob", ("--read", 'a"b'), 1, "a name has letters, digits, blanks and _-.@+ only."),
        ("bob", ("--read", "a\nb"), 1, "a name has letters, digits, blanks and _-.@+ only."),
        ("bob", ("--write", "ada"), 1, "with at least one to read."),
        ("bob", ("--read", "team", "--write", "ada"), 1, "add it to read, too."),
        ("bob", ("--access", "read", "--read", "ada", "--write", "ada"), 1, "'read' only."),
    ],
)
def test_a_refused_entry_leaves_the_file(
    name: str, options: tuple[str, ...], status: int, sentence: str, invoke: Invoke, tmp_path: Path
) -> None:
    file = tmp_path / "principals.toml"
    file.write_text(ADA)
    result = invoke("principals", "add", name, *options, "--file", str(file))
    assert result.exit_code == status
    assert sentence in result.stderr
    assert file.read_text() == ADA


def test_nothing_is_added_to_a_broken_file(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "principals.toml"
    file.write_text(f"{ADA}[[principal]]\n")
    result = invoke("principals", "add", "bob", "--file", str(file))
    assert result.exit_code == 1
    assert "principal 2: name is missing." in result.stderr
    assert file.read_text() == f"{ADA}[[principal]]\n"
    result = invoke("principals", "add", "bob", "--file", str(tmp_path / "no" / "file"))
    assert "cannot be written: No such file or directory." in result.stderr


def test_remove_leaves_the_others_and_their_comments(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "principals.toml"
    carol = BOB.replace("bob", "carol").replace(TWO, "0" * 64)
    scopes = '[principal.scopes]\nread = ["team"] # a team\n'
    bob = f"{BOB}{scopes}"
    file.write_text(f"# first\n{ADA}\n# a model\n{bob}\n# carol came last\n{carol}# the end\n")
    invoke("principals", "remove", "bob", "--file", str(file))
    assert file.read_text() == f"# first\n{ADA}\n# a model\n\n# carol came last\n{carol}# the end\n"
    invoke("principals", "remove", "carol", "--file", str(file))
    assert file.read_text() == f"# first\n{ADA}\n# a model\n\n# carol came last\n# the end\n"
    result = invoke("principals", "remove", "carol", "--file", str(file))
    assert (result.exit_code, "has no principal 'carol'; it has ada." in result.stderr) == (1, True)


@pytest.mark.parametrize(
    "text",
    [
        f'principal = [{{name = "ada", kind = "human", access = "read", token_sha256 = "{ONE}"}}]',
        ADA.replace("[[principal]]", '[[ "princip\\u0061l" ]]'),
    ],
)
def test_remove_changes_no_form_that_it_cannot_read(
    text: str, invoke: Invoke, tmp_path: Path
) -> None:
    file = tmp_path / "principals.toml"
    file.write_text(text)
    assert principals.read(file)[0].name == "ada"
    result = invoke("principals", "remove", "ada", "--file", str(file))
    assert result.exit_code == 1
    assert "remove it by hand." in result.stderr
    assert file.read_text() == text


def test_several_who_add_at_once_lose_nothing(tmp_path: Path) -> None:
    link = tmp_path / "link.toml"
    link.symlink_to(tmp_path / "principals.toml")
    names = [f"agent-{number}" for number in range(10, 18)]
    threads = [
        threading.Thread(target=principals.add, args=(link, name, "model", "read"))
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert link.is_symlink()
    assert sorted(one.name for one in principals.read(link)) == names


def test_a_changed_file_is_read_again_and_a_broken_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "principals.toml"
    file.write_text(ADA)
    now = [100.0]
    monkeypatch.setattr(principals.time, "monotonic", lambda: now[0])
    watched = PrincipalsFile(file)

    def names_later() -> list[str]:
        now[0] += 1
        return [principal.name for principal in watched.principals()]

    assert names_later() == ["ada"]
    file.write_text(BOB)
    assert [principal.name for principal in watched.principals()] == ["ada"]
    assert names_later() == ["bob"]
    file.write_text(BOB + "[[")
    for _ in range(3):
        os.utime(file, ns=(int(now[0]) * 10**9, int(now[0]) * 10**9))
        assert names_later() == ["bob"]
    file.unlink()
    assert names_later() == names_later() == ["bob"]
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [message.rpartition(": ")[0][-13:] for message in warnings] == [
        ".toml is not TOML"[-13:],
        "cannot be read"[-13:],
    ]
    assert all(message.endswith("The principals stay as they were.") for message in warnings)
    file.write_text(ADA)
    assert names_later() == ["ada"]
