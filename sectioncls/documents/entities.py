"""Names of characters in XML documents: HTML's and the ISO 8879 sets that HTML does not hold."""

from __future__ import annotations

from html.entities import html5

__all__ = ["NAMED"]

# ISOgrk1 (letters as text) spells the Greek alphabet its own way.
_GREEK = {
    "a": "α", "b": "β", "g": "γ", "d": "δ", "e": "ε", "z": "ζ", "ee": "η", "th": "θ", "i": "ι", "k": "κ", "l": "λ",
    "m": "μ", "n": "ν", "x": "ξ", "o": "ο", "p": "π", "r": "ρ", "sf": "ς", "s": "σ", "t": "τ", "u": "υ", "ph": "φ",
    "kh": "χ", "ps": "ψ", "oh": "ω",
}  # fmt: skip
# ISOgrk4 (bold symbols) is read as the plain letter.
_BOLD = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsi": "ε", "epsis": "ε", "epsiv": "ϵ", "zeta": "ζ",
    "eta": "η", "thetas": "θ", "thetav": "ϑ", "iota": "ι", "kappa": "κ", "kappav": "ϰ", "lambda": "λ", "mu": "μ",
    "nu": "ν", "xi": "ξ", "pi": "π", "piv": "ϖ", "rho": "ρ", "rhov": "ϱ", "sigma": "σ", "sigmav": "ς", "tau": "τ",
    "upsi": "υ", "phis": "φ", "phiv": "ϕ", "chi": "χ", "psi": "ψ", "omega": "ω", "gammad": "ϝ",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsi": "Υ",
    "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "Gammad": "Ϝ",
}  # fmt: skip
_OTHER = {
    "epsis": "ε", "thetas": "θ", "Thetas": "Θ", "phis": "φ", "Phis": "Φ", "sigmas": "ς", "jnodot": "ȷ", "idigr": "ϊ",
    "Idigr": "Ϊ", "udigr": "ϋ", "Udigr": "Ϋ", "idiagr": "ΐ", "udiagr": "ΰ", "aacgr": "ά", "Aacgr": "Ά", "eacgr": "έ",
    "Eacgr": "Έ", "eeacgr": "ή", "EEacgr": "Ή", "iacgr": "ί", "Iacgr": "Ί", "oacgr": "ό", "Oacgr": "Ό",
    "uacgr": "ύ", "Uacgr": "Ύ", "ohacgr": "ώ", "OHacgr": "Ώ", "frac78": "⅞", "apos": "'", "nldr": "‥", "vellip": "⋮",
    "hairsp": "\u200a", "lsquor": "‚", "ldquor": "„", "cir": "○", "utri": "▵", "dtri": "▿", "emacr": "ē",
}  # fmt: skip


def _named() -> dict[str, str]:
    names = {f"b.{name}": character for name, character in _BOLD.items()}
    for name, character in _GREEK.items():
        names[f"{name}gr"] = character
        if name != "sf":
            names[f"{name.upper()}gr"] = character.upper()
    names.update(_OTHER)
    names.update((name[:-1], characters) for name, characters in html5.items() if name.endswith(";"))
    return names


NAMED: dict[str, str] = _named()
"""Characters by entity name, without the ``&`` and ``;``."""
