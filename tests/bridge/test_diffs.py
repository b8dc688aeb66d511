"""Reading the diffs agents send."""

from __future__ import annotations

from bridge.diffs import BETWEEN_HUNKS, FileDiff, read_diff


def test_headers_go_and_common_indentation_goes() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@ class A:\n     def f():\n-        old\n+        new\n"
    assert read_diff(diff) == [FileDiff("x.py", 1, 1, ("  def f():", "-     old", "+     new"))]


def test_a_removed_line_that_looks_like_a_header_is_a_line() -> None:
    (file,) = read_diff("--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,1 @@\n--- a comment\n keep\n")
    assert (file.added, file.removed) == (0, 1)
    assert file.lines[0] == "- -- a comment"


def test_several_files_are_apart_and_hunks_are_marked() -> None:
    first = "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n@@ -9 +9 @@\n-p\n+q\n"
    files = read_diff(first + "diff --git a/b b/b\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n")
    assert [(file.path, file.added, file.removed) for file in files] == [("a", 2, 2), ("b", 0, 1)]
    assert BETWEEN_HUNKS in files[0].lines


def test_a_diff_without_headers_belongs_to_the_path_given() -> None:
    assert read_diff("-a\n+b\n c\n", "src/x.c") == [FileDiff("src/x.c", 1, 1, ("- a", "+ b", "  c"))]


def test_no_newline_marks_are_left_out() -> None:
    (file,) = read_diff("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", "x")
    assert file.lines == ("- a", "+ b")


def test_no_diff_is_no_file() -> None:
    assert read_diff("", "x") == []
