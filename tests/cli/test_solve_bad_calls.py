"""A table of wrong calls of tether solve: the exit code, and one sentence that says what to do."""

import numpy as np
import pytest

CSV = ("--data", "t.csv", "--columns", "age_*,income")
NPZ = ("--data", "t.npz")
SVM = ("--data", "t.svm")

CALLS = [
    # (data, words, code, what is said)
    ((), (), 2, "required: --data"),
    (("--data", "none.svm"), (), 2, "none.svm is no file"),
    (("--data", "."), (), 2, ". is a folder"),
    (("--data", "empty.csv"), ("--target", "y"), 2, "empty.csv is empty"),
    (("--data", "broken.svm"), (), 2, "broken.svm, line 2: '3:' is no pair index:value"),
    (("--data", "broken.npz"), (), 2, "broken.npz cannot be read; it is damaged or not complete"),
    (("--data", "named.npz"), (), 2, "is named like NumPy's .npz but begins like CSV"),
    (("--data", "holes.csv"), ("--target", "y"), 2, "holes.csv, line 3: column 'a' has no value"),
    (
        ("--data", "ragged.csv"),
        ("--target", "y"),
        2,
        "ragged.csv, line 3: there are 2 fields, but the header",
    ),
    (("--data", "nan.npz"), (), 2, "nan.npz: row 2, column 1 is not finite"),
    (("--data", "sizes.npz"), (), 2, "y must have 3 entries, one for each row of X, got shape (2,)"),
    (("--data", "X.mtx"), (), 2, "--target is missing: X.mtx does not say what y is"),
    (("--data", "X.mtx"), ("--target", "b.txt"), 2, "--target b.txt has 2 entries, the data has 120 rows"),
    (("--data", "X.mtx"), ("--target", "why"), 2, "--target why is neither a column of X.mtx nor a file."),
    (CSV, (), 2, "--target is missing: which column of t.csv is y"),
    (CSV, ("--target", "yy"), 2, "--target yy is neither a column of t.csv nor a file; perhaps 'y' is meant"),
    (CSV, ("--target", "incme"), 2, "perhaps 'income' is meant"),
    (
        ("--data", "t.csv"),
        ("--target", "y"),
        2,
        "column 'kind' holds 'good', which is no number; encode or leave out",
    ),
    (CSV, ("--target", "kind"), 2, "the target has 3 classes (bad, fair, good), --loss logistic takes two"),
    (
        CSV,
        ("--target", "kind", "--loss", "squared"),
        2,
        "the target holds texts such as 'good', --loss squared needs",
    ),
    (CSV, ("--target", "number", "--loss", "poisson"), 2, "y must be >= 0 for the poisson loss"),
    (CSV, ("--target", "number"), 2, "--loss logistic takes two"),
    (CSV, ("--target", "y", "--drop", "agee_*"), 2, "t.csv has no column 'agee_*'"),
    (
        CSV,
        ("--target", "y", "--weights", "kind"),
        2,
        "--weights kind holds texts such as 'good'; numbers are needed",
    ),
    (CSV, ("--target", "y", "--weights", "number"), 2, "--weights must be finite numbers >= 0"),
    (SVM, ("--weights", "b.txt"), 2, "--weights b.txt has 2 entries, the data has 120 rows"),
    (SVM, ("--weights", "years"), 2, "--weights years is neither a column of t.svm nor a file."),
    (SVM, ("--offset", "off"), 2, "--offset off is neither a column of t.svm nor a file."),
    (
        CSV,
        ("--target", "kind", "--loss", "multinomial", "--offset", "number"),
        2,
        "offset must be left out for a model",
    ),
    (CSV, ("--target", "number", "--loss", "gamma"), 2, "gamma"),
    (SVM, ("--columns", "x1"), 2, "t.svm is svmlight, whose columns have no names; 'x1' cannot be chosen"),
    (SVM, ("--names", "a,b,a,c"), 2, "--names gives 'a' to more than one column; rename one of them."),
    (SVM, ("--names", "a,b"), 2, "--names gives 2 names, the data has 4 columns"),
    (SVM, ("--loss", "cubic"), 2, "argument --loss: invalid choice: 'cubic'"),
    (SVM, ("--l2", "-1"), 2, "l2 must be a finite number >= 0, got -1"),
    (SVM, ("--l2", "much"), 2, "argument --l2: 'much' is not a finite number"),
    (SVM, ("--l2", "nan"), 2, "argument --l2: 'nan' is not a finite number"),
    (SVM, ("--penalty", "l1=-1"), 2, "--penalty l1 must be a finite number >= 0, got -1"),
    (SVM, ("--penalty", "l1"), 2, "--penalty 'l1' cannot be read; write KIND=NUMBER with l1, fused, trend"),
    (SVM, ("--penalty", "l3=1"), 2, "--penalty l3 is none of l1, fused, trend"),
    (SVM, ("--penalty", "fused(z*)=1"), 2, "--penalty fused has no column 'z*'"),
    (SVM, ("--penalty", "trend(x1)=1"), 2, "--penalty trend needs 3 columns at least, got 1"),
    (SVM, ("--expr", "x1 + == 1"), 2, "--expr[0]: '==' stands where a number or a name must"),
    (
        SVM,
        ("--expr", "x1 == 1", "--expr", "x9 == 1"),
        2,
        "--expr[1]: 'x9' is no variable; there are 'x1', 'x2', 'x3', 'x4'",
    ),
    (NPZ, ("--expr", "age30 <= age_40"), 2, "perhaps 'age_30' is meant"),
    (SVM, ("--expr", "x1 * x2 == 1"), 2, "a product of two variables is not linear"),
    (SVM, ("--expr", "x1 < 1"), 2, "write '<='"),
    (SVM, ("--expr-file", "none.txt"), 2, "--expr-file none.txt cannot be read as text"),
    (SVM, ("--rhs", "b.txt"), 2, "--rhs needs --constraints"),
    (SVM, ("--constraints", "A.mtx", "--rhs", "y.txt"), 2, "--rhs y.txt has 120 entries, A.mtx has 2 rows"),
    (SVM, ("--constraints", "X.mtx", "--rhs", "b.txt"), 2, "--rhs b.txt has 2 entries, X.mtx has 120 rows"),
    (SVM, ("--constraints", "wide.txt"), 2, "--constraints has 5 columns, the model has 4 coefficients"),
    (
        NPZ,
        ("--constraints", "G.csv"),
        2,
        "--constraints has a column 'agee_30', which is no coefficient; perhaps",
    ),
    (SVM, ("--constraints", "y.html"), 2, "y.html is no file"),
    (SVM, ("--inequalities", "A.mtx"), 2, "--inequalities needs --at-least, --at-most or both"),
    (SVM, ("--at-most", "1"), 2, "--at-most needs --inequalities"),
    (SVM, ("--lower", "low"), 2, "--lower must be a number or a file, got 'low'"),
    (SVM, ("--lower", "b.txt"), 2, "--lower b.txt has 2 entries, 4 are needed"),
    (SVM, ("--lower", "nan"), 2, "lb of constraint[0] must hold numbers"),
    (SVM, ("--method", "magic"), 2, "argument --method: invalid choice: 'magic'"),
    (SVM, ("--method", "lbfgs", "--lower", "0"), 2, "bounds"),
    (SVM, ("--tol", "-1"), 2, "tol must be"),
    (SVM, ("--seed", "-1"), 2, "seed must be a whole number >= 0, got -1"),
    (SVM, ("--seed", "1.5"), 2, "1.5 is not a whole number"),
    (SVM, ("--max-seconds", "0"), 2, "max_seconds must be"),
    (SVM, ("--out", "coef.txt"), 2, "--out must end in .npz or .csv, got 'coef.txt'"),
    (SVM, ("--out", "none/coef.npz"), 2, "--out none/coef.npz cannot be written: there is no folder 'none'"),
    (SVM, ("--out", "sub.csv"), 2, "--out sub.csv cannot be written: it is a folder; name a file."),
    (NPZ, ("--weights", "unknown.txt"), 2, "--weights must be finite numbers >= 0 and not all 0, got NaN."),
    (SVM, ("--report", "page.pdf"), 2, "--report must end in .html or .htm"),
    (SVM, ("--checkpoint", "t.npz"), 2, "checkpoint"),
    (SVM, ("--nonsense",), 2, "unrecognized arguments: --nonsense"),
    (
        SVM,
        ("--expr", "x1 == 1", "--expr", "x1 == 2"),
        3,
        "'x1 == 1' and 'x1 == 2'; relax or drop one of them",
    ),
    (
        SVM,
        ("--expr", "x1 + x2 >= 3", "--upper", "1"),
        3,
        "'x1 + x2 >= 3' and the upper bounds of x1 and x2 (1, 1)",
    ),
    (SVM, ("--expr", "1 <= x1 <= 0"), 3, "this is never true: 1 is more than 0"),
    (SVM, ("--expr", "0 == 1"), 3, "is never true"),
    (NPZ, ("--out", "t.npz"), 2, "--out t.npz would overwrite --data; name another file"),
    (SVM, ("--rhs", "b.txt", "--checkpoint", "./b.txt"), 2, "would overwrite --rhs"),
    (SVM, ("--out", "run.npz", "--checkpoint", "run.npz"), 2, "would overwrite --out"),
    (SVM, ("--lower", "1", "--upper", "0"), 3, "lb must be at most ub"),
    (SVM, ("--constraints", "A.mtx", "--rhs", "b.txt", "--expr", "x1 - x2 == 1"), 3, "'x1 - x2 == 1'"),
]


@pytest.fixture
def bad_files(folder):
    (folder / "empty.csv").write_text("")
    (folder / "broken.svm").write_text("1 1:2\n0 3:\n")
    (folder / "broken.npz").write_bytes((folder / "t.npz").read_bytes()[:700])
    (folder / "named.npz").write_text("a,b\n1,2\n")
    (folder / "holes.csv").write_text("a,b,y\n1,2,0\n,2,1\n")
    (folder / "ragged.csv").write_text("a,b,y\n1,2,0\n1,2\n")
    (folder / "wide.txt").write_text("1 2 3 4 5\n")
    (folder / "unknown.txt").write_text("1\n" * 119 + "nan\n")
    (folder / "sub.csv").mkdir()
    (folder / "G.csv").write_text("agee_30\n1\n")
    np.savez(folder / "nan.npz", X=[[1.0, 2.0], [np.nan, 3.0]], y=[0, 1])
    np.savez(folder / "sizes.npz", X=np.ones((3, 2)), y=[0, 1])


def test_there_are_enough_rows_and_none_stands_twice():
    assert len({call[:2] for call in CALLS}) == len(CALLS) >= 70


@pytest.mark.parametrize(
    ("data", "words", "code", "said"),
    CALLS,
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else None,
)
def test_a_wrong_call_ends_in_its_code_and_one_sentence(data, words, code, said, tether_solve, bad_files):
    told = tether_solve(*words, data=data, json=False)
    assert told.code == code and told.out == "" and "Traceback" not in told.err
    lines = [line for line in told.err.splitlines() if line.startswith(("tether solve: ", "tether: error: "))]
    assert len(lines) == 1 and said in lines[0]
    assert lines[0].endswith(".") or "error:" in lines[0]  # of argparse


@pytest.mark.parametrize(
    ("words", "code", "status"), [(("--l2", "-1"), 2, "bad_input"), (("--expr", "0 == 1"), 3, "infeasible")]
)
def test_a_refusal_is_told_to_machines_too(words, code, status, tether_solve):
    told = tether_solve(*words, data=SVM)
    answer = told.answer
    assert told.code == answer["exit_code"] == code and answer["status"] == status and not answer["success"]
    assert told.err == f"tether solve: {answer['message']}\n"
