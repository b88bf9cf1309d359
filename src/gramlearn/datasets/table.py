"""The data sets that `gramlearn.datasets` knows: file, SHA-256, origin, and where else they can be had.

Shapes and class sizes are those an answer of OpenML must have: the number alone could mean another set.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np

Draw = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@final
@dataclass(frozen=True)
class Entry:
    """One data set; its file is named as it is, with .npz, where no other name is given.

    `sizes` are those of the classes of the training part, () where they may vary, and None where y are
    numbers; `drawn` takes the set out of a larger one of OpenML. `shipped` names the function of
    sklearn.datasets that reads the very same numbers, so that OpenML need not be asked.
    """

    sha256: str
    origin: str
    file: str = ""
    shipped: str = ""
    openml: int | None = None
    shape: tuple[int, int] = (0, 0)
    sizes: tuple[int, ...] | None = None
    n_test: int = 0
    drawn: Draw | None = None
    drawn_words: str = ""
    otherwise: str = ""


def _digits_389(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows = np.flatnonzero(np.isin(y, ["3", "8", "9"]))
    rows = np.sort(np.random.default_rng(0).permutation(rows)[:317])
    return X[rows], y[rows]


_ADULT = {
    "a1a": "f61a6f79b0aae0d5a6a4440539f0eb8a0d5f3b563acd5cbc07c606d5fdd3ff69",
    "a2a": "dbdb6edce89c7967e4837a7be1cf06f40dea7a17d3f33d77ca641b821026e511",
    "a3a": "5aefeb8ddbbd175c9bc210a3cf7b7606a34fda39bb5559b93f63373d6f204c98",
    "a4a": "0116ac5f65b1e4420b9a069c740aae16334c3e4932fea5ed00680c51da20640e",
    "a5a": "a5dd0dae1b440c718f3cccb5b1954a977191be130f544ff4220cf22ac2aa804d",
}
_ENTRIES: Mapping[str, Entry] = {
    "iris": Entry(
        "111b79d2f2cd43efde4551ce48574926439a7bbe3f93244b6369b72ada30a032",
        "as scikit-learn has it, which differs from UCI in two rows; those of UCI are X_uci",
        shipped="load_iris",
    ),
    "wine": Entry(
        "4aa45331fb9ac1f350cc9e8d6f7610481fbbb59237a20e5b8e38a9a44c751269",
        "as scikit-learn has it",
        shipped="load_wine",
    ),
    "breast_cancer_wdbc": Entry(
        "8f004072a1d26090da2b9f2dbfade246205b135705bfa96079806ac0e8994da9",
        "as scikit-learn has it, 0 is malignant",
        shipped="load_breast_cancer",
    ),
    "ionosphere": Entry(
        "85edccf5b788fa5088251407d1269ea284f0f9b10f075d42fe3ebc520ae23871",
        "UCI, as Weka has it",
        openml=59,
        shape=(351, 34),
        sizes=(126, 225),
    ),
    "sonar": Entry(
        "97ba9f0d28b5a52777d38dba6545aa93783cf08e9ebbc92a189016ba62d25966",
        "UCI, as the R package mlbench has it",
        openml=40,
        shape=(208, 60),
        sizes=(111, 97),
    ),
    "glass": Entry(
        "b562a07839868a5ec68b0d030f63cec8877edd32fc14464dcfae6fd6badcf1f1",
        "UCI, as the R package mlbench has it",
        openml=41,
        shape=(214, 9),
        sizes=(70, 76, 17, 13, 9, 29),
    ),
    "heart_statlog": Entry(
        "2079027bc781db8db79c6c1e81dea56de1bd8faf368dbfc8815557b29c14e07d",
        "UCI Statlog (Heart), 1 is absent and 2 present",
        openml=53,
        shape=(270, 13),
        sizes=(150, 120),
    ),
    "soybean_small": Entry(
        "8ca0d878582afeae0db0d8d05c2e99495cf64402c996225bbc1e8cac4f49f834",
        "UCI Soybean (Small)",
    ),
    "protein": Entry(
        "63b75f6f665c5664dc27c982f6ee60f3492fb24d57878302833793a7c2047d68",
        "amino-acid percentages of Xing et al. (2002)",
    ),
    "balance_scale": Entry(
        "8171ab3a847858e70bae40a9e275aed07525748533ad82f10fd424100903f89b",
        "UCI, all 5^4 combinations with the side of the larger torque",
        openml=11,
        shape=(625, 4),
        sizes=(49, 288, 288),
    ),
    "pima_diabetes": Entry(
        "eb1903f733699f0b97685e7d385ef04c041fff09c1ba0369c02c4841165ed5ae",
        "UCI, as the R package mlbench has it, 1 is positive and zeros stand for missing values",
        openml=37,
        shape=(768, 8),
        sizes=(500, 268),
    ),
    "boston_housing": Entry(
        "9249a25d2ca13623b1a384e797496e3672e02eac3203764535f18505356230d8",
        "StatLib, as the R package mlbench has it, y is medv",
        openml=531,
        shape=(506, 13),
    ),
    "spambase": Entry(
        "c8f2f6f42c959d4692da7ad784e10bea39f9d084381e1583e58760b778640f38",
        "UCI, as the R package kernlab has it, 1 is spam",
        openml=44,
        shape=(4601, 57),
        sizes=(2788, 1813),
    ),
    "nursery": Entry(
        "7c2bc1ab42d34c69c38279badaab791a8b9056b6b5952d16a65076dc70d40bd6",
        "UCI, X are ordinal codes and X_onehot binary columns",
        openml=26,
        shape=(12960, 8),
        sizes=(4320, 4266, 2, 4044, 328),
    ),
    "pendigits_389_317": Entry(
        "efc32853a102cf3ef0314c9ef6b986f55606022885a40d675350532cdbdddc4a",
        "317 of the digits 3, 8 and 9 of UCI Pendigits, drawn at random",
        openml=32,
        shape=(317, 16),
        sizes=(),
        drawn=_digits_389,
        drawn_words="317 of the digits 3, 8 and 9 in another draw than that of the file",
    ),
    "usps": Entry(
        "1747abb1f412db0aa3291d33c4b11a4e8508aa05cefe9eec36b598592645449c",
        "the USPS digits, pixels between 0 and 1",
        openml=41082,
        shape=(7291, 256),
        sizes=(1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644),
        n_test=2007,
    ),
    "mnist": Entry(
        "bc76bc6d95bfadac4961122cdba511aeb17f4685941f9760d8b2e89361f991c2",
        "the MNIST digits, pixels between 0 and 255",
        openml=554,
        shape=(60000, 784),
        sizes=(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949),
        n_test=10000,
    ),
    **{
        f"adult_{part}": Entry(sha256, f"{part} of LIBSVM, made of UCI Adult")
        for part, sha256 in _ADULT.items()
    },
    "classic3": Entry(
        "0867e9d4bf6e6c4303c8cac41646aff329b3e49ebafa6fe79eee45200a6019ad",
        "term counts of the abstracts Medline, Cisi and Cranfield, as the package CoClust has them",
    ),
    "senate_106": Entry(
        "18fb12d5e896ab51258566a680b7435a545b6888e169d045279ca7da79598b7c",
        "roll calls of the 106th US Senate, 1 is yea, 0 nay and NaN missing",
    ),
    "chessboard": Entry(
        "9bc5d5ba3ce4b68e1dd864352571aabca2810a711b1a3f7320a5b88c16ae2507",
        "100 points drawn uniformly on [0, 4]^2",
        otherwise="; the like of it is made so: label = parity of floor(x1) + floor(x2)",
    ),
    "double_spiral": Entry(
        "df1b19efebd913e24c7779231b11e0043d7b5532a624858ac3bb3dcae8201558",
        "two noisy arms of 50 points each",
        otherwise="; the like of it is made so: t in [0, 3 pi], radius 0.5 + t / pi, height in [0, 1]",
    ),
    "newsgroups20": Entry(
        "ff4992be0ac3ace86cb7a4586b2add7444631a5d4001212225602d257fea5560",
        "20 newsgroups by date, raw messages with headers",
        file="newsgroups20.jsonl.gz",
        otherwise="; scikit-learn has it too, as sklearn.datasets.fetch_20newsgroups",
    ),
}
TABLE: Mapping[str, Entry] = {
    name: entry if entry.file else replace(entry, file=f"{name}.npz")
    for name, entry in _ENTRIES.items()
}
