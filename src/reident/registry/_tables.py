"""Methods for tables of numbers and categories."""

from __future__ import annotations

from reident.registry._entry import Entry, Parameter

_MISSING = (Parameter("missing", "choice", choices=("value", "drop", "raise")), Parameter("suppressed_label", "text"))
_K = Parameter("k", "int", "[1, inf)", "records", start=5, grid=(2, 5, 10, 25))
_CRITERIA = (
    Parameter("loss", "choice", choices=("precision", "discernibility", "entropy", "ncp")),
    Parameter("ell", "float", "[1, inf)", "values"),
    Parameter("diversity", "choice", choices=("distinct", "entropy", "recursive")),
    Parameter("c", "float", "(0, inf)"),
    Parameter("t", "float", "[0, 1]"),
    Parameter("distance", "choice", choices=("equal", "ordered")),
)
_GENERALISED = "table quasi hierarchies sensitive"
_VANHOEF = "Vanhoef (2012), section 3.3.2"

TABLES: tuple[Entry, ...] = (
    Entry(
        "k_anonymity_lattice", "anonymiser", "table", "anonymisers.k_anonymity:k_anonymise", "classes",
        (
            _K,
            Parameter("suppression_limit", "float", "[0, 1]", "share of the records", start=0.05),
            Parameter("charge_suppressed", "bool"),
            *_CRITERIA,
        ),
        "El Emam et al. (2009)", "k-anonymity, one level a column", {"method": "ola"}, takes=_GENERALISED,
    ),
    Entry(
        "mondrian", "anonymiser", "table", "anonymisers.k_anonymity:k_anonymise", "classes", (_K, *_CRITERIA),
        "LeFevre et al. (2006)", "k-anonymity, Mondrian", {"method": "mondrian"},
        takes=f"{_GENERALISED} suppression_limit charge_suppressed",
    ),
    Entry(
        "k_epsilon", "anonymiser", "table", "anonymisers.k_epsilon:k_epsilon_anonymise", "classes and noise",
        (
            _K,
            Parameter("epsilon", "float", "(0, inf)", start=1.0, grid=(2.0, 0.5)),
            Parameter("method", "choice", choices=("mondrian", "ola", "optimal")),
            Parameter("suppression_limit", "float", "[0, 1]", "share of the records"),
            Parameter("loss", "choice", choices=("precision", "discernibility", "entropy", "ncp")),
            Parameter("strict", "bool"),
        ),
        "Holohan et al. (2017), Algorithm 1", "(k, epsilon)-anonymity",
        takes="table k_quasi epsilon_quasi identifiers hierarchies bounds granularity criteria",
    ),
    Entry(
        "microaggregation", "anonymiser", "table", "anonymisers.microaggregation:microaggregate", "columns",
        (
            Parameter("k", "int", "[1, inf)", "records", start=5, grid=(3, 10, 25, 50)),
            Parameter("method", "choice", choices=("mdav",)),
            Parameter("scale", "choice", choices=("std", None), start="std"),
        ),
        "Domingo-Ferrer and Torra (2005)", "microaggregation", takes="table groups",
    ),
    Entry(
        "additive_noise", "anonymiser", "table", "anonymisers.perturbation:add_noise", "columns",
        (
            Parameter("amount", "float", "[0, inf)", "standard deviations", start=0.2, grid=(0.05, 0.2, 0.5, 1.0)),
            Parameter("correlated", "bool"),
        ),
        "Kim (1986)", "additive noise", takes="table columns",
    ),
    Entry(
        "rank_swapping", "anonymiser", "table", "anonymisers.perturbation:swap_ranks", "columns",
        (Parameter("percent", "float", "[0, 100]", "% of the records", start=5.0, grid=(1.0, 5.0, 15.0)),),
        "Moore (1996)", "rank swapping", takes="table columns",
    ),
    Entry(
        "rounding", "anonymiser", "table", "anonymisers.perturbation:round_values", "columns",
        (
            Parameter("base", "float", "(0, inf)", "the column's unit", start=5.0, grid=(2.0, 10.0)),
            Parameter("method", "choice", choices=("nearest", "random")),
        ),
        "official statistics' rounding", "rounding", takes="table columns",
    ),
    Entry(
        "record_linkage", "attack", "table", "attacks.record_linkage:link_records", "record linkage",
        (
            Parameter("distance", "choice", choices=("dbrl2", "dbrl1", "mahalanobis", "probabilistic"), start="dbrl2"),
            Parameter("ties", "choice", choices=("share", "strict"), start="share"),
        ),
        "Abril et al. (2012), section 2.1", "linkage to the nearest record",
        takes="release known columns weights measure truth",
    ),
    Entry(
        "class_risk", "attack", "table", "metrics.disclosure:reidentification_risk", "class risk",
        (Parameter("threshold", "float", "[0, 1]"), *_MISSING),
        "El Emam and Dankar (2008)", "re-identification inside classes", takes="table quasi population",
    ),
    Entry(
        "homogeneity", "attack", "table", "attacks.class_disclosure:homogeneity_attack", "class disclosure", (),
        _VANHOEF, "sensitive value of a whole class", takes="release quasi sensitive",
    ),
    Entry(
        "skewness", "attack", "table", "attacks.class_disclosure:skewness_attack", "class disclosure",
        (Parameter("min_gain", "float", "(0, 1)"),),
        _VANHOEF, "sensitive value made much more probable", takes="release quasi sensitive",
    ),
    Entry(
        "similarity", "attack", "table", "attacks.class_disclosure:similarity_attack", "other",
        (Parameter("width", "float", "(0, inf)", "the column's unit"),),
        _VANHOEF, "sensitive values alike in a class", takes="release quasi sensitive groups",
    ),
    Entry(
        "background_knowledge", "attack", "table", "attacks.class_disclosure:background_knowledge_attack", "other",
        (Parameter("min_posterior", "float", "(0, 1]"),),
        _VANHOEF, "background knowledge", takes="release quasi sensitive knowledge",
    ),
    Entry(
        "intersection", "attack", "table", "attacks.intersection:intersection_attack", "other",
        (), "Vanhoef (2012), Algorithm 3.1", "intersection of releases", takes="*",
    ),
    Entry(
        "query_sets", "attack", "table", "attacks.query_failures:query_set_attack", "other",
        (), "Vanhoef (2012), section 3.2", "differences of query sets", takes="*",
    ),
    Entry(
        "auditing", "attack", "table", "attacks.query_failures:auditing_attack", "other",
        (Parameter("group_size", "int", "[2, inf)", "records"),), "Vanhoef (2012), section 3.2",
        "denials of an auditor",
        takes="auditor",
    ),
    Entry(
        "averaging", "attack", "table", "attacks.query_failures:averaging_attack", "other",
        (Parameter("n_repeats", "int", "[1, inf)", "queries", start=100),), "Vanhoef (2012), section 3.2",
        "averages of noisy answers", takes="query",
    ),
    Entry(
        "sampling_exposure", "attack", "table", "attacks.query_failures:sampling_exposure", "other",
        (Parameter("rate", "float", "(0, 1]", start=0.1),), "Vanhoef (2012), section 3.2", "unique records in a sample",
        takes="table quasi",
    ),
    Entry(
        "information_kept", "metric", "table", "metrics.utility:information_kept", "value utility", (),
        "Domingo-Ferrer and Mateo-Sanz (2002)", "information kept (share)", takes="original release columns",
    ),
    Entry(
        "correlations_kept", "metric", "table", "metrics.utility:correlations_kept", "value utility", (),
        "mean absolute change of correlations", "correlations kept (share)", takes="original release columns",
    ),
    Entry(
        "k_anonymity", "metric", "table", "metrics.disclosure:k_anonymity", "other", _MISSING,
        "Sweeney (2002)", "k", takes="table quasi",
    ),
    Entry(
        "l_diversity", "metric", "table", "metrics.disclosure:l_diversity", "other",
        (
            Parameter("kind", "choice", choices=("distinct", "entropy", "recursive")),
            Parameter("c", "float", "(0, inf)"),
            *_MISSING,
        ),
        "Machanavajjhala et al. (2007)", "l", takes="table quasi sensitive",
    ),
    Entry(
        "recursive_c", "metric", "table", "metrics.disclosure:recursive_c", "other",
        (Parameter("ell", "int", "[1, inf)", "values", start=2), *_MISSING),
        "Machanavajjhala et al. (2007)", "c of recursive diversity", takes="table quasi sensitive",
    ),
    Entry(
        "t_closeness", "metric", "table", "metrics.disclosure:t_closeness", "other",
        (Parameter("distance", "choice", choices=("equal", "ordered")), *_MISSING),
        "Li et al. (2007)", "t", takes="table quasi sensitive",
    ),
    Entry(
        "equivalence_classes", "metric", "table", "metrics.disclosure:equivalence_classes", "other", _MISSING,
        "Sweeney (2002)", "classes", takes="table quasi",
    ),
    Entry(
        "learned_linkage", "attack", "table", "attacks.choquet_linkage:learn_linkage", "other",
        (
            Parameter("model", "choice", choices=('weighted_mean', 'choquet')),
            Parameter("method", "choice", choices=('benders', 'milp')),
            Parameter("time_limit_s", "float", "(0, inf)", "s"),
            Parameter("eps", "float", "(0, inf)"),
        ),
        "Abril et al. (2012), section 3", "linkage with a learned distance", takes="release original columns",
    ),
    Entry(
        "attribute_leakage", "attack", "table", "attacks.attribute_leakage:attribute_leakage", "other",
        (
            Parameter("model", "choice", choices=('choquet', 'weighted_mean')),
            Parameter("resamples", "int", "[1, inf)", "resamples", start=2),
            Parameter("level", "float", "(0, 1)"),
            Parameter("time_limit_s", "float", "(0, inf)", "s"),
            Parameter("eps", "float", "(0, inf)"),
        ),
        "Abril et al. (2012), section 4.2", "columns that help linkage", takes="release original columns",
    ),
    Entry(
        "nearest_record", "attack", "table", "attacks.nearest_record:nearest_record_attack", "other",
        (
            Parameter("ties", "choice", choices=('all', 'random', 'none')),
            Parameter("level", "float", "(0, 1)"),
        ),
        "Holohan et al. (2017), section V-B", "nearest record inside the class", takes="original release classes",
    ),
    Entry(
        "minimality", "attack", "table", "attacks.minimality:minimality_attack", "other",
        (
            Parameter("k", "int", "[1, inf)", "records", start=2),
            Parameter("ell", "int", "[1, inf)", "values", start=2),
            Parameter("n_draws", "int", "[1, inf)", "draws"),
            Parameter("least_fitting", "int", "[1, inf)", "draws", start=1),
        ),
        "Wong et al. (2007)", "what an optimal generalisation gives away", takes="known classes quasi sensitive",
    ),
    Entry(
        "intersection_course", "attack", "table", "attacks.intersection:intersection_course", "other",
        (
            Parameter("locate", "choice", choices=('covering', 'nearest')),
            Parameter("partial_limit", "int", "[1, inf)", "values"),
        ),
        "Vanhoef (2012), Algorithm 3.1", "intersection, release after release",
        takes="releases population quasi sensitive hierarchies",
    ),
    Entry(
        "relative_error", "metric", "table", "metrics.class_noise:relative_error", "other",
        (),
        "Holohan et al. (2017), section V-A", "relative error", takes="original release",
    ),
    Entry(
        "expected_relative_error", "metric", "table", "metrics.class_noise:expected_relative_error", "other",
        (
            Parameter("epsilon", "float", "(0, inf)", start=1.0),
            Parameter("n_columns", "int", "[1, inf)", "columns"),
            Parameter("width", "float", "(0, inf)", "the column's unit"),
        ),
        "Holohan et al. (2017), section V-A, (8)", "expected relative error", takes="values classes",
    ),
    Entry(
        "noise_entropy_loss", "metric", "table", "metrics.class_noise:noise_entropy_loss", "other",
        (),
        "non-uniform entropy (Gionis and Tassa 2009), for noise", "entropy lost by noise",
        takes="original release scales",
    ),
    Entry(
        "confidence_suppression", "metric", "table", "metrics.class_noise:confidence_suppression", "other",
        (
            Parameter("k", "int", "[1, inf)", "records", start=2),
            Parameter("confidence", "float", "(0, 1)"),
            Parameter("centre", "choice", choices=('release', 'original')),
        ),
        "Holohan et al. (2017), section V-C", "records that their noisy value singles out",
        takes="original release classes scales",
    ),
    Entry(
        "privacy_loss", "metric", "table", "metrics.privacy_loss:privacy_loss_bound", "other",
        (
            Parameter("level", "float", "(0, 1)"),
        ),
        "differential privacy, measured", "lower bound of epsilon", takes="left right",
    ),
)  # fmt: skip
