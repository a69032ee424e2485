"""Single files out of archives."""

import hashlib
import io
import tarfile
import zipfile

import pytest

from robustpu.datasets.archive import take_out
from robustpu.datasets.sources import File

CONTENTS = {"inner/a.bin": b"a" * 5000, "inner/b.bin": b"b" * 10}


def files(contents=CONTENTS):
    return [
        File(name, len(content), "md5:" + hashlib.md5(content).hexdigest())
        for name, content in contents.items()
    ]


def tar(contents, mode="w:gz", prefix=""):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as bundle:
        for name, content in contents.items():
            member = tarfile.TarInfo(prefix + name)
            member.size = len(content)
            bundle.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def zipped(contents):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in contents.items():
            bundle.writestr(name, content)
    return packed.getvalue()


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def archive(tmp_path):
    return tmp_path / "archive.part"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "out"


@pytest.mark.parametrize("pack", [tar, zipped, lambda c: tar(c, prefix="./")])
def test_takes_only_what_is_wanted(pack, archive, folder):
    others = {"../evil.bin": b"evil", "/evil.bin": b"evil", "inner/other.bin": b"other"}
    archive.write_bytes(pack(others | CONTENTS))
    take_out(archive, files(), folder)
    assert tree(folder) == CONTENTS
    assert set(folder.parent.iterdir()) == {archive, folder}


@pytest.mark.parametrize("pack", [tar, zipped])
def test_a_member_that_is_not_official_gets_no_name(pack, archive, folder):
    archive.write_bytes(pack(CONTENTS | {"inner/b.bin": b"c" * 10}))
    with pytest.raises(ValueError, match=r"inner/b.bin in the archive is not the official file"):
        take_out(archive, files(), folder)
    assert tree(folder) == {"inner/a.bin": CONTENTS["inner/a.bin"]}


@pytest.mark.parametrize("pack", [tar, zipped])
def test_a_member_that_is_missing_is_named(pack, archive, folder):
    archive.write_bytes(pack({"inner/a.bin": CONTENTS["inner/a.bin"]}))
    with pytest.raises(ValueError, match=r"archive.part lacks inner/b.bin"):
        take_out(archive, files(), folder)


@pytest.mark.parametrize("pack", [tar, zipped, lambda c: tar(c, "w:")])
@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b"x" * 99])
def test_a_damaged_archive_leaves_nothing(pack, damage, archive, folder):
    archive.write_bytes(damage(pack(CONTENTS)))
    with pytest.raises(ValueError, match=r"archive.part (is damaged|lacks)"):
        take_out(archive, files(), folder)
    assert not folder.exists() or tree(folder) == {}


def test_a_link_is_not_followed(archive, folder, tmp_path):
    (tmp_path / "secret").write_bytes(CONTENTS["inner/b.bin"])
    with tarfile.open(archive, "w:gz") as bundle:
        member = tarfile.TarInfo("inner/b.bin")
        member.type, member.linkname = tarfile.SYMTYPE, str(tmp_path / "secret")
        bundle.addfile(member)
    with pytest.raises(ValueError, match="lacks"):
        take_out(archive, files()[1:], folder)
